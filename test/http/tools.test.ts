/** The HTTP API: tokens, sessions, problems, limits and its description. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSession } from '../../src/features/accounts/session-store.ts'
import { readSession } from '../../src/http/session.ts'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { startServer, type TestServer } from './serve.ts'

const OFFERED = TOOLS.filter(({ places }) => places?.includes('server') ?? true)

describe('POST /api/tools/{name}', () => {
  let at: TestServer
  let reader: string
  let token: string
  beforeAll(async () => {
    at = await startServer()
    reader = at.server.first.reader.id
    token = await at.tokenFor(reader)
  })
  afterAll(async () => {
    await at.close()
    expect(at.errors).toEqual([])
  })

  it('gives what the tool gives', async () => {
    const saved = await at.api(token, 'save_url', { url: 'https://birds.example/heron' })
    expect(saved.status).toBe(200)
    expect(saved.body).toMatchObject({ state: 'captured', created: true })
    expect(saved.headers.get('cache-control')).toBe('no-store')
    expect((await at.api(token, 'list_items', '')).body).toMatchObject({ total: 1 })
  })

  it('runs a write once for one requestId', async () => {
    const call = { url: 'https://birds.example/egret', requestId: 'one' }
    const first = await at.api(token, 'save_url', call)
    expect((await at.api(token, 'save_url', call)).body).toEqual(first.body)
    const other = await at.api(token, 'save_url', { ...call, url: 'https://birds.example/crane' })
    expect(other).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
  })

  it('has a page that was queued captured by the server, once', async () => {
    const call = { url: 'https://birds.example/curlew', note: 'later' }
    const queued = await Promise.all([
      at.api(token, 'queue_save', call),
      at.mcp(token, 'queue_save', call).then(({ told }) => ({ status: 200, body: told })),
      at.api(token, 'queue_save', call),
    ])
    for (const { status, body } of queued)
      expect([status, body]).toEqual([200, { queued: true, requestedAt: queued[0].body['requestedAt'] }])
    for (let told = queued[0].body; told['queued'] === true;)
      told = (await at.api(token, 'queue_save', call)).body
    const { results } = (await at.api(token, 'search_library', { query: 'essay curlew' })).body as {
      results: Json[]
    }
    expect(results.filter(({ title }) => title === 'Essay curlew')).toHaveLength(1)
  })

  it.each([
    ['list_items', { limit: 'many' }, 400, 'invalid_input'],
    ['list_items', { unknown: 1 }, 400, 'invalid_input'],
    ['list_items', '[]', 400, 'invalid_input'],
    ['list_items', 'null', 400, 'invalid_input'],
    ['list_items', '{', 400, 'invalid_input'],
    ['read_item', { id: '42' }, 404, 'item_not_found'],
    ['no_such_tool', {}, 404, 'tool_not_found'],
    ['sync', {}, 404, 'tool_not_found'],
    ['__proto__', {}, 404, 'tool_not_found'],
    ['save_url', { url: 'https://birds.example/a/b' }, 422, 'page_not_found'],
  ])('%s with %j is %i', async (name, args, status, code) => {
    const { status: got, body, headers } = await at.api(token, name, args)
    expect([got, body['code']]).toEqual([status, code])
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(body).toMatchObject({ type: `${at.base}/api#${code}`, status, title: expect.any(String) })
    expect(body['hint']).toMatch(/\.$/)
  })

  it('refuses who has no token, whatever is asked', async () => {
    for (const name of ['list_items', 'no_such_tool']) {
      const { status, headers } = await at.api(undefined, name)
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toMatch(/^Bearer resource_metadata=/)
    }
    const { headers } = await at.api('cpl_thistokenwasneverissued', 'list_items')
    expect(headers.get('www-authenticate')).toMatch(/error="invalid_token"/)
  })

  it('refuses what the token does not allow', async () => {
    const reading = await at.tokenFor(reader, ['sources:read'])
    const { status, body, headers } = await at.api(reading, 'save_url', {
      url: 'https://birds.example/heron',
    })
    expect(status).toBe(403)
    expect(body).toMatchObject({ code: 'insufficient_scope', details: { missing: ['sources:write'] } })
    expect(headers.get('www-authenticate')).toMatch(/error="insufficient_scope", scope="sources:write"/)
  })

  it('answers 405, 413 and 415', async () => {
    const url = `${at.base}/api/tools/list_items`
    const headers = { authorization: `Bearer ${token}` }
    const got = await fetch(url, { headers })
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    const padded = (bytes: number) => at.api(token, 'list_items', `{}${' '.repeat(bytes - 2)}`)
    expect((await padded(64 * 1024)).status).toBe(200)
    expect((await padded(64 * 1024 + 1)).status).toBe(413)
    expect((await padded(2 * 1024 * 1024)).status).toBe(413)
    expect((await at.api(token, 'list_items', {}, { 'content-type': 'text/plain' })).status).toBe(415)
  })

  it.each([
    ['content-encoding', 'gzip', 415],
    ['content-encoding', 'identity', 200],
    ['content-type', 'text/plain', 415],
    ['content-type', 'application/json; charset=utf-16', 415],
    ['content-type', 'application/json; charset="UTF-8"', 200],
  ])('wants JSON in UTF-8 as it is, everywhere: %s: %s', async (name, value, status) => {
    for (const [path, body, taken] of [
      ['/api/tools/list_items', {}, 200],
      ['/api/feedback', { text: 'A word.' }, 201],
    ] as const) {
      const answer = await fetch(`${at.base}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', [name]: value },
        body: JSON.stringify(body),
      })
      expect([path, answer.status]).toEqual([path, status === 200 ? taken : status])
    }
  })

  it('refuses a body that is no UTF-8, rather than keep other characters', async () => {
    const send = (path: string, body: string) =>
      fetch(`${at.base}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: Buffer.from(body, 'latin1'),
      })
    expect((await send('/api/tools/search_library', '{"query":"\xc3\xa9"}')).status).toBe(200)
    expect((await send('/api/tools/search_library', '{"query":"\xe9"}')).status).toBe(400)
    const ping = (word: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":"${word}"}}}`
    expect((await send('/mcp', ping('\xc3\xa9'))).status).toBe(200)
    const refused = await send('/mcp', ping('\xe9'))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { code: -32700 } })
  })

  it('takes the session of a browser, from our own pages alone', async () => {
    const { accounts } = at.server
    const secret = await startSession(accounts, reader)
    const cookie = `commonplace=${secret}`
    const session = await readSession(accounts, { headers: { cookie } } as never)
    const call = (headers: Record<string, string>) =>
      at.api(undefined, 'list_items', {}, { cookie, ...headers })
    const csrf = session!.csrf
    expect((await call({ origin: at.base, 'x-csrf-token': csrf })).status).toBe(200)
    for (const wrong of [
      {},
      { origin: at.base },
      { origin: at.base, 'x-csrf-token': `${csrf}x` },
      { origin: 'https://evil.example', 'x-csrf-token': csrf },
      { origin: 'null', 'x-csrf-token': csrf },
    ])
      expect((await call(wrong)).status).toBe(403)
    const other = await startSession(accounts, await at.newReader())
    const foreign = { cookie: `commonplace=${other}`, origin: at.base, 'x-csrf-token': csrf }
    expect((await at.api(undefined, 'list_items', {}, foreign)).status).toBe(403)
  })
})

describe('the limits of calls', () => {
  it('hold exactly, for each connection, over MCP and the API together', async () => {
    let now = new Date('2026-03-01T12:00:00Z')
    const at = await startServer({
      env: { COMMONPLACE_READS_PER_MINUTE: '60', COMMONPLACE_WRITES_PER_MINUTE: '3' },
      now: () => now,
    })
    try {
      const reader = at.server.first.reader.id
      const [one, two] = [await at.tokenFor(reader), await at.tokenFor(reader)]
      const results = await Promise.all(
        Array.from({ length: 66 }, (_, n) =>
          n % 2
            ? at.api(one, 'list_items').then(({ status }) => status === 200)
            : at.mcp(one, 'list_items').then(({ isError }) => !isError),
        ),
      )
      expect(results.filter(Boolean)).toHaveLength(60)
      const refused = await at.api(one, 'list_items')
      expect(refused.status).toBe(429)
      expect(refused.body).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 60 })
      expect(refused.headers.get('retry-after')).toBe('60')
      const overMcp = await at.mcp(one, 'list_items')
      expect(overMcp).toMatchObject({
        status: 200,
        isError: true,
        told: { code: 'rate-limited', error: { number: -32004, retryAfterSeconds: 60 } },
      })
      expect((await at.api(two, 'list_items')).status).toBe(200)
      for (let n = 0; n < 3; n++) expect((await at.api(one, 'read_item', { id: '1' })).status).toBe(429)
      now = new Date(now.getTime() + 59_999)
      expect((await at.api(one, 'list_items')).status).toBe(429)
      now = new Date(now.getTime() + 1)
      expect((await at.api(one, 'list_items')).status).toBe(200)
      for (let n = 0; n < 3; n++)
        expect((await at.api(one, 'add_comment', { id: '1', body: 'x' })).status).toBe(404)
      expect((await at.api(one, 'add_comment', { id: '1', body: 'x' })).status).toBe(429)
    } finally {
      await at.close()
    }
  })
})

describe('the description of the API', () => {
  it('names every tool of a server, its scopes and its strict shapes', async () => {
    const at = await startServer()
    try {
      const api = (await (await fetch(`${at.base}/api/openapi.json`)).json()) as {
        openapi: string
        paths: Record<string, { post: Json }>
        components: { responses: Json }
      }
      expect(api.openapi).toMatch(/^3\.1/)
      const ofTools = Object.keys(api.paths).filter((path) => path.startsWith('/api/tools/'))
      expect(ofTools).toEqual(OFFERED.map(({ name }) => `/api/tools/${name}`))
      for (const tool of OFFERED) {
        const call = api.paths[`/api/tools/${tool.name}`]!.post
        expect(call['operationId']).toBe(tool.name)
        expect(call['security']).toContainEqual({ token: tool.scopes })
        const schema = JSON.stringify(call['requestBody'])
        for (const name of Object.keys(tool.input.shape)) expect(schema).toContain(`"${name}"`)
        expect(schema).toContain('"additionalProperties":false')
        for (const reference of JSON.stringify(call['responses']).matchAll(/responses\/(Failure\d+)/g))
          expect(api.components.responses).toHaveProperty(reference[1]!)
      }
      const page = await (await fetch(`${at.base}/api`)).text()
      for (const { name } of OFFERED) expect(page).toContain(name)
      expect(page).not.toMatch(/<script/i)
    } finally {
      await at.close()
    }
  })
})

describe('what watches over a server', () => {
  it('is told that it lives and that it is ready, under any host name', async () => {
    const at = await startServer()
    try {
      expect(await (await fetch(`${at.base}/healthz`)).text()).toBe('ok')
      expect((await fetch(`${at.base}/readyz`)).status).toBe(200)
      await at.server.accounts.db.destroy()
      expect((await fetch(`${at.base}/readyz`)).status).toBe(503)
      expect((await fetch(`${at.base}/healthz`)).status).toBe(200)
      const call = await at.api(`cpl_${'x'.repeat(43)}`, 'list_items')
      expect(call.status).toBe(500)
      expect(JSON.stringify(call.body)).not.toMatch(/sqlite|destroyed|driver/i)
    } finally {
      await at.close().catch(() => {})
    }
  })
})
