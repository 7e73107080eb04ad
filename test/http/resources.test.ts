/** Resources, prompts and completion over HTTP: for whoever has a token, within its scopes and limits. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCOPES, type Scope } from '../../src/core/define-tool.ts'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { era, modernHeaders, meta, post, rpc } from '../protocol/wire.ts'
import { startServer, type TestServer } from './serve.ts'

let at: TestServer
let reader: string
let token: string
let id: string
beforeAll(async () => {
  at = await startServer()
  reader = at.server.first.reader.id
  token = await at.tokenFor(reader)
  const saved = await at.api(token, 'save_url', { url: 'https://birds.example/heron', note: 'A heron.' })
  ;({ id } = saved.body['item'] as { id: string })
  await at.api(token, 'add_highlight', { id, quote: 'This stands once only', comment: 'Does it?' })
})
afterAll(async () => {
  await at.close()
  expect(at.errors).toEqual([])
})

interface Answered {
  result?: Json
  error?: { code: number; message: string; data?: Json }
}

async function ask(
  method: string,
  params: Json = {},
  { as = token, path = '/mcp' }: { as?: string | undefined; path?: string } = {},
): Promise<Answered> {
  const headers = { ...era('2025-06-18'), authorization: `Bearer ${as}` }
  const { status, body } = await post(`${at.base}${path}`, rpc(method, params), headers)
  expect(status).toBe(200)
  return body as Answered
}

async function readAt(uri: string, as?: string): Promise<Json> {
  const { result, error } = await ask('resources/read', { uri }, { as })
  if (!result) throw new Error(JSON.stringify(error))
  const [content] = result['contents'] as { text: string }[]
  return JSON.parse(content!.text) as Json
}

const tokenWithout = (...scopes: Scope[]) =>
  at.tokenFor(
    reader,
    SCOPES.filter((scope) => !scopes.includes(scope)),
  )

describe('with a token', () => {
  it('the lists are those of the contract, at / and /mcp', async () => {
    for (const path of ['/', '/mcp']) {
      const { result } = await ask('resources/list', {}, { path })
      expect((result!['resources'] as { uri: string }[]).map(({ uri }) => uri)).toEqual([
        'becoming://highlights',
        'becoming://sources',
        'becoming://notes',
      ])
      const templates = (await ask('resources/templates/list', {}, { path })).result!['resourceTemplates']
      expect((templates as { uriTemplate: string }[]).map(({ uriTemplate }) => uriTemplate)).toEqual([
        'becoming://highlights/{id}',
        'becoming://sources/{id}',
        'becoming://notes/{id}',
      ])
    }
  })

  it('everything is read, from the lists to each of their things', async () => {
    const { highlights } = await readAt('becoming://highlights')
    const [highlight] = highlights as { id: number; content: string }[]
    expect(highlight).toMatchObject({ content: 'This stands once only', note_count: 1 })
    expect(await readAt(`becoming://highlights/${highlight!.id}`)).toEqual(highlight)
    const { sources } = await readAt('commonplace://sources')
    expect(sources).toMatchObject([
      { id: Number(id), title: 'Essay heron', type: 'Article', highlights_count: 1 },
    ])
    expect(await readAt(`becoming://sources/${id}`)).toMatchObject({
      id: Number(id),
      highlights: [{ id: highlight!.id }],
    })
    const { notes } = await readAt('becoming://notes')
    expect((notes as { body: string }[]).map(({ body }) => body)).toEqual(['Does it?', 'A heron.'])
    const [note] = notes as { id: number }[]
    expect(await readAt(`becoming://notes/${note!.id}`)).toEqual(note)
  })

  it('at 2026-07-28 a list may be kept for an hour by its reader alone, and what was read not at all', async () => {
    const authorization = `Bearer ${token}`
    const list = await post(`${at.base}/mcp`, rpc('resources/list', { _meta: meta }), {
      ...modernHeaders('resources/list'),
      authorization,
    })
    expect((list.body as Answered).result).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'private' })
    const uri = 'becoming://notes'
    const read = await post(`${at.base}/mcp`, rpc('resources/read', { uri, _meta: meta }), {
      ...modernHeaders('resources/read', uri),
      authorization,
    })
    expect((read.body as Answered).result).toMatchObject({
      ttlMs: 0,
      cacheScope: 'private',
      contents: [{ uri }],
    })
    const missing = 'becoming://notes/12'
    const gone = await post(`${at.base}/mcp`, rpc('resources/read', { uri: missing, _meta: meta }), {
      ...modernHeaders('resources/read', missing),
      authorization,
    })
    expect((gone.body as Answered).error).toMatchObject({ code: -32602, data: { code: 'note-not-found' } })
  })

  it('what is not there is -32002 to older clients', async () => {
    const { error } = await ask('resources/read', { uri: 'becoming://highlights/12' })
    expect(error).toMatchObject({
      code: -32002,
      data: { code: 'highlight-not-found', uri: 'becoming://highlights/12' },
    })
    expect((await ask('resources/read', {})).error).toMatchObject({ code: -32602 })
  })

  it('what the token does not allow is refused, and says which scope is missing', async () => {
    const narrow = await tokenWithout('notes:read', 'highlights:read')
    for (const [uri, missing] of [
      ['becoming://notes', 'notes:read'],
      ['becoming://highlights/1', 'highlights:read'],
    ]) {
      const { error } = await ask('resources/read', { uri }, { as: narrow })
      expect(error).toMatchObject({ code: -32603, data: { code: 'insufficient-scope', missing: [missing] } })
    }
    const source = await readAt(`becoming://sources/${id}`, narrow)
    expect(source).toMatchObject({ highlights_count: 1 })
    expect(source).not.toHaveProperty('highlights')
    expect(source).not.toHaveProperty('note_count')
  })

  it('prompts are listed and filled in from the library', async () => {
    const { result } = await ask('prompts/list')
    expect((result!['prompts'] as { name: string }[]).map(({ name }) => name)).toEqual([
      'review_highlights',
      'recap_book',
      'triage_unread',
      'quiz_source',
    ])
    const quiz = await ask('prompts/get', { name: 'quiz_source', arguments: { source: 'essay heron' } })
    expect(quiz.result).toMatchObject({
      messages: [
        { content: { type: 'text' } },
        {
          content: {
            type: 'resource',
            resource: { uri: `becoming://sources/${id}`, mimeType: 'application/json' },
          },
        },
      ],
    })
    expect((await ask('prompts/get', { name: 'quiz_source' })).error).toMatchObject({ code: -32602 })
    expect((await ask('prompts/get', { name: 'nothing' })).error).toMatchObject({ code: -32602 })
  })

  it('ids and titles are completed', async () => {
    const completion = async (ref: Json, name: string, value: string) =>
      (await ask('completion/complete', { ref, argument: { name, value } })).result
    expect(
      await completion({ type: 'ref/resource', uri: 'becoming://sources/{id}' }, 'id', id.slice(0, 4)),
    ).toEqual({
      completion: { values: [id], hasMore: false },
    })
    expect(await completion({ type: 'ref/prompt', name: 'recap_book' }, 'source', 'her')).toEqual({
      completion: { values: ['Essay heron'], hasMore: false },
    })
  })

  it('the families of the address decide what there is', async () => {
    const path = '/mcp?tools=library'
    expect((await ask('resources/list', {}, { path })).error).toMatchObject({ code: -32601 })
    const { prompts } = (await ask('prompts/list', {}, { path })).result as { prompts: { name: string }[] }
    expect(prompts.map(({ name }) => name)).toEqual(['recap_book', 'triage_unread', 'quiz_source'])
    const highlights = '/mcp?tools=highlights'
    expect((await ask('resources/list', {}, { path: highlights })).result!['resources']).toHaveLength(3)
  })
})

it('nothing is to be had without a token', async () => {
  for (const method of ['resources/list', 'resources/read', 'prompts/get', 'completion/complete']) {
    const { status } = await post(`${at.base}/mcp`, rpc(method), era('2025-06-18'))
    expect(status).toBe(401)
  }
})

it('counts as a read, with the tools that read', async () => {
  const few = await startServer({ env: { COMMONPLACE_READS_PER_MINUTE: '4' } })
  try {
    const own = await few.tokenFor(few.server.first.reader.id)
    const asked = async (method: string, params: Json) => {
      const headers = { ...era('2025-06-18'), authorization: `Bearer ${own}` }
      return (await post(`${few.base}/mcp`, rpc(method, params), headers)).body as Answered
    }
    const uri = 'becoming://highlights'
    expect((await few.mcp(own, 'list_items')).isError).toBe(false)
    expect((await asked('resources/read', { uri })).error).toBeUndefined()
    expect((await asked('prompts/get', { name: 'triage_unread' })).error).toBeUndefined()
    const ref = { type: 'ref/resource', uri: `${uri}/{id}` }
    const argument = { name: 'id', value: '' }
    expect((await asked('completion/complete', { ref, argument })).error).toBeUndefined()
    for (const [method, params] of [
      ['resources/read', { uri }],
      ['prompts/get', { name: 'triage_unread' }],
      ['completion/complete', { ref, argument }],
    ] as const) {
      expect((await asked(method, params)).error).toMatchObject({
        code: -32603,
        data: { code: 'rate-limited', error: { number: -32004, retryAfterSeconds: expect.any(Number) } },
      })
    }
    expect((await few.mcp(own, 'list_items')).told).toMatchObject({ code: 'rate-limited' })
    // Lists are the same for everybody: they cost nothing.
    expect((await asked('resources/list', {})).error).toBeUndefined()
  } finally {
    await few.close()
  }
})
