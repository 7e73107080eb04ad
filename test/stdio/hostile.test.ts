/** What no client should send, over all tools as `tools/list` has them: refused or done, and the server goes on. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { isObject, type Json } from '../../src/mcp/protocol/messages.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { problemsOfResult } from '../protocol/spec-schemas.ts'
import { failed, good, serve, type Called, type Served } from './serve.ts'
import { openSite, type Site } from './site.ts'

// Many programs, one after another: a machine with other work needs longer.
vi.setConfig({ testTimeout: 120_000 })

let folder: string
let site: Site
let server: Served
let id: string
/** Of highlights: one that stays, and one to be deleted. */
let highlight: number
let doomed: number
let importId: number

const asked = { confirm: true, user_intent: 'as asked' }
const book = { title: 'The Waves', author: 'Virginia Woolf' }

/** A highlight of its own, with its id. */
async function markPassage(content: string): Promise<number> {
  const source = { type: 'Book', ...book }
  const { highlights } = good(
    await server.call('add_highlights', { source, highlights: [{ content }], ...asked }),
  )
  return (highlights as { id: number }[])[0]!.id
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-hostile-'))
  site = await openSite()
  server = await serve(join(folder, 'library'), { env: site.env })
  const saved = good(await server.call('save_url', { url: `${site.origin}/page` }))
  ;({ id } = saved['item'] as { id: string })
  highlight = await markPassage('I am rooted, but I flow.')
  doomed = await markPassage('To be deleted.')
  ;({ import_id: importId } = good(await server.call('add_source', { book, ...asked })) as {
    import_id: number
  })
})
afterAll(async () => {
  expect(await server.close()).toBe(0)
  expect(server.strays).toEqual([])
  // A fault of ours would be logged; none of these calls is one.
  expect(server.stderr()).toBe('')
  await site.close()
  rmSync(folder, { recursive: true, force: true })
})

/** JSON as it is sent: what `JSON.stringify` would drop or mend stands here as it is. */
class Raw {
  readonly json: string
  constructor(json: string) {
    this.json = json
  }
}

const LONG = 'a'.repeat(1_000_000)

const VALUES: readonly [string, unknown][] = [
  ['null', null],
  ['true', true],
  ['an empty string', ''],
  ['blanks', ' \t\n '],
  ['a megabyte', LONG],
  ['a megabyte of characters that fold', 'ﬃ'.repeat(330_000)],
  ['a lone surrogate', new Raw('"\\ud800"')],
  ['surrogates the wrong way round', new Raw('"words \\udfff\\ud83d words"')],
  ['a NUL', 'before\0after'],
  ['a quote of SQL', `'); drop table source; --`],
  ['a path', '../../../../etc/passwd'],
  ['digits past what a number holds', '9'.repeat(40)],
  ['a negative number', -1],
  ['a fraction', 1.5],
  ['a number past what is safe', new Raw('9007199254740993')],
  ['a number past what is finite', new Raw('1e999')],
  ['minus nothing', new Raw('-0')],
  ['an empty list', []],
  ['a list', ['a', { b: 1 }]],
  ['an empty object', {}],
  ['an object with a prototype', new Raw('{"__proto__":{"limit":1},"constructor":1}')],
  ['a deep object', new Raw('{"a":'.repeat(2_000) + '1' + '}'.repeat(2_000))],
]

function jsonOf(args: Record<string, unknown>): string {
  const entries = Object.entries(args).map(([name, value]) => {
    const json = value instanceof Raw ? value.json : JSON.stringify(value)
    return `${JSON.stringify(name)}:${json}`
  })
  return `{${entries.join(',')}}`
}

/** Calls with arguments that no object of JavaScript would be sent as. */
async function callRaw(name: string, args: string): Promise<Called> {
  const { answer } = server.beginRaw('tools/call', `{"name":${JSON.stringify(name)},"arguments":${args}}`)
  const message = await answer
  if (!message) throw new Error('the server ended')
  return message['error']
    ? { rpcError: message['error'] as { code: number; message: string } }
    : (message['result'] as Called)
}

/** What may be said to anybody who sends anything: a result as its schema has it, or a failure of ours without a cause. */
function look(called: Called): void {
  if (called.rpcError) {
    expect(called.rpcError.code).toBe(-32602)
    return
  }
  expect(problemsOfResult('tools/call', false, called)).toEqual([])
  if (!called.isError) return
  expect(failed(called)).not.toBe('internal-error')
  const told = called.content![0]!.text
  expect(told.length).toBeLessThan(20_000)
  expect(told).not.toMatch(
    /SQLITE|sqlite|select .* from|insert into|ZodError|\.ts:\d|\.js:\d|node_modules|\n\s+at /i,
  )
}

/** Arguments with which the tool would do its work. */
const FITTING: Record<string, () => Json> = {
  search_library: () => ({ query: 'heron' }),
  list_items: () => ({}),
  read_item: () => ({ id }),
  save_url: () => ({ url: `${site.origin}/page` }),
  queue_save: () => ({ url: 'https://example.test/' }),
  add_highlight: () => ({ id, quote: 'said once only' }),
  add_comment: () => ({ id, body: 'fine' }),
  sync: () => ({}),
  search_highlights: () => ({ query: 'rooted' }),
  list_sources: () => ({}),
  get_source: () => ({ id }),
  get_highlight: () => ({ id: highlight }),
  export_highlights: () => ({}),
  get_source_markdown: () => ({ id }),
  get_import: () => ({ id: importId }),
  get_academy_status: () => ({}),
  add_highlights: () => ({ source_id: id, highlights: [{ content: 'one more' }], ...asked }),
  add_source: () => ({ book, ...asked }),
  update_highlight: () => ({ id: highlight, color: 'blue' }),
  delete_highlight: () => ({ id: doomed }),
  tag: () => ({ ids: [highlight], add: ['seen'] }),
  list_tags: () => ({}),
  get_daily_review: () => ({}),
  review_highlight: () => ({ id: highlight, rating: 'good' }),
  find_related: () => ({ highlight_id: highlight }),
}

describe.each(TOOLS.map(({ name }) => name))('%s', (name) => {
  async function properties(): Promise<string[]> {
    const listed = (await server.request('tools/list')) as { result: { tools: (Json & { name: string })[] } }
    const schema = listed.result.tools.find((tool) => tool.name === name)?.['inputSchema'] as Json
    return Object.keys(schema['properties'] as Json)
  }

  it('takes or refuses any value of any argument', async () => {
    for (const property of await properties()) {
      for (const [what, value] of VALUES) {
        const args = { ...FITTING[name]!(), [property]: value }
        const called = await callRaw(name, jsonOf(args))
        try {
          look(called)
        } catch (error) {
          throw new Error(`${property} is ${what}`, { cause: error })
        }
      }
    }
    expect(await server.request('ping')).toMatchObject({ result: {} })
  })

  it('refuses arguments that are no object, and names that are no arguments of it', async () => {
    for (const args of ['[]', '"text"', '5', '[{}]', 'true']) {
      const called = await callRaw(name, args)
      expect(called.rpcError).toMatchObject({ code: -32602 })
    }
    for (const key of [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      '',
      'library',
      'ID',
      'id ',
    ]) {
      const args = jsonOf({ ...FITTING[name]!(), [`x${key}`]: 1 }).replace(`"x${key}"`, JSON.stringify(key))
      const called = await callRaw(name, args)
      expect([key, called.isError && failed(called)]).toEqual([key, 'invalid-input'])
      look(called)
    }
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`n${n}`, n]))
    const called = await callRaw(name, jsonOf({ ...FITTING[name]!(), ...many }))
    expect(failed(called)).toBe('invalid-input')
    look(called)
  })

  it('does its work all the same', async () => {
    // Some of the values were good requestIds.
    if (name === 'delete_highlight') doomed = await markPassage('To be deleted in the end.')
    const called = await server.call(name, FITTING[name]!())
    if (name === 'sync' || name === 'queue_save') expect(failed(called)).toBe('not-logged-in')
    else good(called)
  })
})

describe('the line itself', () => {
  it.each([
    ['a line that is no JSON', 'not json at all', -32700],
    ['half a line', '{"jsonrpc":"2.0","id":1,', -32700],
    ['no message', '{"hello":"world"}', -32600],
    ['parameters that are a list', '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":[]}', -32600],
    ['an id that is none', '{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{}}', -32600],
    ['no name', '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{}}}', -32602],
    ['a name that is none', '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":{}}}', -32602],
    [
      'a name of old',
      '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"__proto__"}}',
      -32602,
    ],
    ['a method of old', '{"jsonrpc":"2.0","id":"x","method":"__proto__"}', -32601],
    [
      'more than ten megabytes',
      `{"jsonrpc":"2.0","id":"x","method":"ping","params":{"a":"${LONG.repeat(11)}"}}`,
      -32600,
    ],
  ])('%s is answered with an error', async (_what, line, code) => {
    const before = server.lines.length
    server.child.stdin!.write(`${line}\n`)
    await expect.poll(() => server.lines.length, { timeout: 30_000 }).toBe(before + 1)
    const answer: unknown = JSON.parse(server.lines.at(-1)!)
    expect(isObject(answer) && answer['error']).toMatchObject({ code })
    expect(await server.request('ping')).toMatchObject({ result: {} })
  })
})
