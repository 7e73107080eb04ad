/**
 * Two readers of one server. Whatever tool one of them calls, with whatever of the other's ids in whatever argument: nothing of
 * the other's answers, and nothing of it changes. The calls are made from the tools' own declarations.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { SERVER_TOOLS } from '../../src/http/run-tool.ts'
import { PROMPTS } from '../../src/tools/prompts.ts'
import { RESOURCES } from '../../src/tools/resources.ts'
import { era, post, rpc } from '../protocol/wire.ts'
import { startServer, type TestServer } from './serve.ts'

let at: TestServer
let ownToken: string
let otherToken: string
/** Every id of every kind in the other's library. */
let foreign: string[]
let before: string

/** Stands in every text of the other's and nowhere else. */
const MARK = 'spoonbill'

beforeAll(async () => {
  at = await startServer()
  const own = at.server.first.reader.id
  const other = await at.newReader()
  // Libraries may give out the same ids, each to its own rows: here they are told apart.
  await at.server.libraries.use(own, ({ library }) =>
    library.change(({ db }) => db.updateTable('replica').set({ counter: 1_000_000 }).execute()),
  )
  otherToken = await at.tokenFor(other)
  ownToken = await at.tokenFor(own)
  const saved = await at.api(otherToken, 'save_url', {
    url: `https://birds.example/${MARK}`,
    note: `A ${MARK}.`,
  })
  const { id } = saved.body['item'] as { id: string }
  const marked = await at.api(otherToken, 'add_highlight', {
    id,
    quote: `in the essay on the ${MARK}`,
    comment: `Which ${MARK}?`,
  })
  expect([saved.status, marked.status]).toEqual([200, 200])
  await at.api(ownToken, 'save_url', { url: 'https://birds.example/heron' })
  before = await everythingOf(otherToken, id)
  foreign = await at.server.libraries.use(other, async ({ library: { db } }) => {
    const tables = ['source', 'text', 'highlight', 'note', 'passage', 'job', 'capture'] as const
    const ids = await Promise.all(
      tables.map((table) =>
        db
          .selectFrom(table as 'source')
          .select('id')
          .limit(3)
          .execute(),
      ),
    )
    return ids.flat().map(({ id }) => String(id))
  })
  expect(foreign.length).toBeGreaterThan(6)
  expect(foreign).toContain(id)
})
afterAll(async () => {
  await at.close()
  expect(at.errors).toEqual([])
})

const everythingOf = async (token: string, id: string): Promise<string> =>
  JSON.stringify([
    (await at.api(token, 'list_items')).body,
    (await at.api(token, 'read_item', { id, format: 'summary' })).body,
  ])

const isId = (name: string): boolean => name !== 'requestId' && /^ids?$|Ids?$/.test(name)

/** Values for an argument, by its schema and its name. */
function valuesOf(name: string, schema: Json, id: string): unknown[] {
  if (Array.isArray(schema['enum'])) return schema['enum']
  if ('const' in schema) return [schema['const']]
  const options = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(options))
    return valuesOf(name, options.find((option) => option.type !== 'null') as Json, id)
  const [type] = [schema['type']].flat()
  if (isId(name)) return [type === 'integer' || type === 'number' ? Number(id) : type === 'array' ? [id] : id]
  switch (type) {
    case 'integer':
    case 'number':
      return [(schema['minimum'] as number | undefined) ?? 1]
    case 'boolean':
      return [true]
    case 'array':
      return [[valuesOf(name, (schema['items'] ?? { type: 'string' }) as Json, id)[0]]]
    case 'object':
      return [{}]
    default:
      return [/url/i.test(name) ? 'https://birds.example/crake' : MARK]
  }
}

interface Case {
  name: string
  /** Arguments to call with, and whether one of them is an id. */
  calls(id: string): { args: Json; named: boolean }[]
}

/** For each tool: what it needs with each id of the other's, and each further argument beside that. */
const CASES: Case[] = [...SERVER_TOOLS.values()].map((tool) => ({
  name: tool.name,
  calls(id) {
    const schema = z.toJSONSchema(tool.input, { io: 'input', reused: 'inline' })
    const properties = (schema.properties ?? {}) as Record<string, Json>
    const needed = Object.fromEntries(
      (schema.required ?? []).map((name) => [name, valuesOf(name, properties[name]!, id)[0]]),
    )
    const more = Object.entries(properties).flatMap(([name, property]) =>
      valuesOf(name, property, id).map((value) => ({ ...needed, [name]: value })),
    )
    return [needed, ...more].map((args) => ({ args, named: Object.keys(args).some(isId) }))
  },
}))

/** A request of MCP by the one whose ids they are not. */
async function ask(method: string, params: Json): Promise<{ result?: Json; error?: Json }> {
  const headers = { ...era('2025-06-18'), authorization: `Bearer ${ownToken}` }
  return (await post(`${at.base}/mcp`, rpc(method, params), headers)).body as { result?: Json; error?: Json }
}

describe("another reader's ids", () => {
  it.each(CASES)('$name gives nothing for them', async ({ name, calls }) => {
    let named = 0
    for (const id of foreign) {
      let notFound = 0
      for (const call of calls(id)) {
        const { status, body } = await at.api(ownToken, name, call.args)
        const text = JSON.stringify(body)
        // What was sent may come back; what stands in the other library may not.
        expect(text).not.toContain(`Essay ${MARK}`)
        expect(text).not.toContain(`in the essay on the ${MARK}`)
        expect(text).not.toContain(`Which ${MARK}`)
        if (!call.named) continue
        named++
        expect([status, text]).not.toEqual([200, expect.anything()])
        if (status === 400) continue
        notFound++
        expect([status, body['code']]).toEqual([404, expect.stringMatching(/_not_found$/)])
      }
      // At least one call got past the reading of its arguments: the plain one, or one with something more to say.
      if (calls(id)[0]!.named) expect(notFound).toBeGreaterThan(0)
    }
    const takesIds = CASES.find((entry) => entry.name === name)!
      .calls('1')
      .some((call) => call.named)
    expect(named > 0).toBe(takesIds)
  })

  it('answer over MCP no better', async () => {
    for (const id of foreign) {
      const { isError, told } = await at.mcp(ownToken, 'read_item', { id })
      expect([isError, told['code']]).toEqual([true, 'item-not-found'])
    }
  })

  it.each(RESOURCES.map(({ uri }) => [uri]))('%s gives nothing for them', async (uri) => {
    for (const id of foreign) {
      const { result, error } = await ask('resources/read', { uri: uri.replace('{id}', id) })
      // The bare word stands in a note of the reader's own by now: see below.
      for (const words of [`Essay ${MARK}`, `in the essay on the ${MARK}`, `Which ${MARK}`])
        expect(JSON.stringify(result ?? error)).not.toContain(words)
      if (uri.includes('{id}'))
        expect(error).toMatchObject({ code: -32002, data: { code: expect.stringMatching(/-not-found$/) } })
      else for (const known of foreign) expect(JSON.stringify(result)).not.toContain(`"id":${known},`)
      for (const value of ['', id, id.slice(0, 1)]) {
        const completed = await ask('completion/complete', {
          ref: { type: 'ref/resource', uri },
          argument: { name: 'id', value },
        })
        expect(completed.result!['completion']).not.toMatchObject({ values: expect.arrayContaining([id]) })
      }
    }
  })

  it.each(PROMPTS.map(({ name }) => [name]))('%s tells nothing of them', async (name) => {
    const takesSource = /source/.test(
      JSON.stringify(PROMPTS.find((prompt) => prompt.name === name)?.input.shape),
    )
    for (const source of [...foreign, `Essay ${MARK}`]) {
      const args = takesSource ? { source } : {}
      const { result, error } = await ask('prompts/get', { name, arguments: args })
      const told = JSON.stringify(result ?? error)
      expect(told).not.toContain(`Essay ${MARK}`)
      if (takesSource) expect(error).toMatchObject({ data: { code: 'source-not-found' } })
      else for (const known of foreign.filter((one) => one.length > 6)) expect(told).not.toContain(known)
      const completed = await ask('completion/complete', {
        ref: { type: 'ref/prompt', name },
        argument: { name: 'source', value: `Essay ${MARK}` },
      })
      expect(JSON.stringify(completed.result)).not.toContain(MARK)
    }
  })

  it("find nothing of the other's in lists and searches", async () => {
    for (const query of [MARK, `essay ${MARK}`, 'shallows at dusk']) {
      const { body } = await at.api(ownToken, 'search_library', { query })
      const found = JSON.stringify(body['results'])
      for (const id of foreign.filter((known) => known.length > 6)) expect(found).not.toContain(id)
      // The bare word stands in a note of the reader's own by now: what was written about it is the other's alone.
      for (const words of [`Essay ${MARK}`, `in the essay on the ${MARK}`, `Which ${MARK}`]) {
        expect(found).not.toContain(words)
      }
    }
  })

  it('are good for cursors of their own library alone', async () => {
    await at.api(otherToken, 'save_url', { url: 'https://birds.example/avocet' })
    const page = await at.api(otherToken, 'list_items', { limit: 1 })
    const cursor = page.body['nextCursor']
    if (typeof cursor !== 'string') return
    const { body } = await at.api(ownToken, 'list_items', { limit: 1, cursor })
    expect(JSON.stringify(body)).not.toContain(MARK)
  })

  it('and nothing of it has changed', async () => {
    const [id] = foreign
    const { body } = await at.api(otherToken, 'list_items')
    const kept = (body['items'] as { id: string; title: string }[]).find(
      (item) => item.title === `Essay ${MARK}`,
    )
    expect(kept?.id).toBe(id)
    const after = await at.api(otherToken, 'read_item', { id, format: 'summary' })
    expect(before).toContain(JSON.stringify(after.body))
  })
})
