/** MCP over HTTP with a token: what a client needs before it has one, which tools it gets, and what it may not do. */
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as OldTransport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCOPES } from '../../src/core/define-tool.ts'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { TOOLS } from '../../src/tools/registry.ts'
import { startServer, type TestServer } from './serve.ts'

let at: TestServer
let reader: string
let token: string
beforeAll(async () => {
  at = await startServer({ origins: ['https://inspector.example'] })
  reader = at.server.first.reader.id
  token = await at.tokenFor(reader)
})
afterAll(async () => {
  await at.close()
  expect(at.errors).toEqual([])
})

const REQUEST = { jsonrpc: '2.0', id: 1, method: 'ping', params: {} }

function post(
  path: string,
  headers: Record<string, string> = {},
  body: unknown = REQUEST,
): Promise<Response> {
  return fetch(`${at.base}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

const authorized = (): Record<string, string> => ({ authorization: `Bearer ${token}` })

async function toolsAt(path: string): Promise<string[]> {
  const response = await post(path, authorized(), { ...REQUEST, method: 'tools/list' })
  const { result } = (await response.json()) as { result: { tools: { name: string }[] } }
  return result.tools.map(({ name }) => name)
}

describe('without a token', () => {
  it.each([
    ['/mcp', undefined, '/mcp'],
    ['/mcp/', undefined, '/mcp'],
    ['/', undefined, ''],
    ['/mcp?tools=library', undefined, '/mcp'],
    ['/mcp', 'Bearer cpl_thistokenwasneverissued', '/mcp'],
    ['/mcp', 'Basic YTpi', '/mcp'],
  ])('%s with %s says where to get one', async (path, authorization, suffix) => {
    const response = await post(path, authorization === undefined ? {} : { authorization })
    expect(response.status).toBe(401)
    const challenge = response.headers.get('www-authenticate')!
    expect(challenge).toContain(
      `resource_metadata="${at.base}/.well-known/oauth-protected-resource${suffix}"`,
    )
    expect(challenge).toContain(`scope="${SCOPES.join(' ')}"`)
    expect(challenge.includes('invalid_token')).toBe(authorization !== undefined)
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } })
  })

  it('a page of an allowed origin can read that, and may ask before', async () => {
    for (const origin of ['https://inspector.example', 'http://localhost:6274', at.base]) {
      const refused = await post('/mcp', { origin })
      expect(refused.status).toBe(401)
      expect(refused.headers.get('access-control-allow-origin')).toBe(origin)
      expect(refused.headers.get('access-control-expose-headers')).toMatch(/WWW-Authenticate/)
      const asked = await fetch(`${at.base}/mcp`, { method: 'OPTIONS', headers: { origin } })
      expect(asked.status).toBe(204)
      expect(asked.headers.get('access-control-allow-headers')).toMatch(/Authorization.*Mcp-Protocol-Version/)
    }
  })

  it('GET is told the same at /mcp, and finds no stream at /', async () => {
    expect((await fetch(`${at.base}/mcp`)).status).toBe(401)
    const stream = await fetch(`${at.base}/`, { headers: { accept: 'text/event-stream' } })
    expect(stream.status).toBe(405)
    const page = await fetch(`${at.base}/`)
    expect(page.headers.get('content-type')).toMatch(/text\/html/)
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
  })
})

describe('with a token', () => {
  it('is refused to pages of other origins and under other host names', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example'])
      expect((await post('/mcp', { ...authorized(), origin })).status).toBe(403)
    const { status } = await rawRequest({ host: 'evil.example', ...authorized() })
    expect(status).toBe(403)
  })

  it('answers the errors of the transport', async () => {
    expect((await fetch(`${at.base}/mcp`, { headers: authorized() })).status).toBe(405)
    expect((await fetch(`${at.base}/mcp`, { method: 'DELETE', headers: authorized() })).status).toBe(405)
    expect((await post('/mcp', { ...authorized(), 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post('/mcp', authorized(), '{')).status).toBe(400)
    expect((await post('/nothing', authorized())).status).toBe(404)
    const large = { ...REQUEST, method: 'tools/call', params: { name: 'list_items', arguments: {} } }
    const padded = (bytes: number): string =>
      JSON.stringify(large) + ' '.repeat(bytes - JSON.stringify(large).length)
    expect((await post('/mcp', authorized(), padded(64 * 1024))).status).toBe(200)
    expect((await post('/mcp', authorized(), padded(64 * 1024 + 1))).status).toBe(413)
    expect((await post('/mcp', authorized(), ' '.repeat(6 * 1024 * 1024 + 1))).status).toBe(413)
  })

  it('offers the tools of a server, or of the families that the address names', async () => {
    const offered = TOOLS.filter(({ places }) => places?.includes('server') ?? true)
    expect(await toolsAt('/mcp')).toEqual(offered.map(({ name }) => name))
    expect(await toolsAt('/')).toEqual(offered.map(({ name }) => name))
    expect(await toolsAt('/mcp?tools=library,highlights')).toEqual(
      offered.filter(({ family }) => ['library', 'highlights'].includes(family)).map(({ name }) => name),
    )
    expect(await toolsAt('/mcp?tools=academy')).toEqual(
      offered.filter(({ family }) => family === 'academy').map(({ name }) => name),
    )
    for (const wrong of ['/mcp?tools=everything', '/mcp?tools=', '/mcp?tools=library,__proto__']) {
      const response = await post(wrong, authorized(), { ...REQUEST, method: 'tools/list' })
      expect(response.status).toBe(400)
      expect(JSON.stringify(await response.json())).toMatch(/highlights, academy, library, books, extras/)
    }
  })

  it('does not call what the address left out', async () => {
    const response = await post('/mcp?tools=academy', authorized(), {
      ...REQUEST,
      method: 'tools/call',
      params: { name: 'list_items', arguments: {} },
    })
    expect(await response.json()).toMatchObject({ error: { code: -32602 } })
  })

  it('says which scope is missing, in the failure and as a challenge', async () => {
    const reading = await at.tokenFor(reader, ['sources:read'])
    const { isError, told, meta } = await at.mcp(reading, 'save_url', { url: 'https://birds.example/heron' })
    expect(isError).toBe(true)
    expect(told).toMatchObject({
      code: 'insufficient-scope',
      error: { code: 'insufficient_scope', number: -32002, details: { missing: ['sources:write'] } },
    })
    const [challenge] = meta!['mcp/www_authenticate'] as string[]
    expect(challenge).toContain('error="insufficient_scope"')
    expect(challenge).toContain('scope="sources:write"')
    expect(challenge).toContain(`resource_metadata="${at.base}/.well-known/oauth-protected-resource/mcp"`)
  })

  it('every tool needs its scopes', async () => {
    const none = await at.tokenFor(await at.newReader(), ['practices:read'])
    for (const tool of TOOLS.filter(({ places }) => places?.includes('server') ?? true)) {
      const args = VALID[tool.name] ?? {}
      // Anyone who is connected may ask whether the Academy is there.
      if (tool.bind(args).scopes.length === 0) continue
      const { told } = await at.mcp(none, tool.name, args)
      expect([tool.name, told['code']]).toEqual([tool.name, 'insufficient-scope'])
    }
  })

  it('ends with the token', async () => {
    const { makePersonalToken, revokePersonalToken } =
      await import('../../src/features/accounts/personal-token-store.ts')
    const { accounts } = at.server
    const made = await makePersonalToken(accounts, reader, { name: 'short', scopes: SCOPES })
    expect((await at.mcp(made.token, 'list_items')).status).toBe(200)
    await revokePersonalToken(accounts, reader, made.id)
    expect((await at.mcp(made.token, 'list_items')).status).toBe(401)
  })
})

/** Arguments that each tool takes, where it takes more than none. */
const VALID: Record<string, Json> = {
  search_library: { query: 'heron' },
  read_item: { id: '1' },
  save_url: { url: 'https://birds.example/heron' },
  queue_save: { url: 'https://birds.example/heron' },
  add_highlight: { id: '1', quote: 'heron' },
  add_comment: { id: '1', body: 'A comment.' },
  search_highlights: { query: 'heron' },
  get_source: { id: 1 },
  get_highlight: { id: 1 },
  get_import: { id: 1 },
  get_source_markdown: { id: 1 },
  add_source: { url: 'https://birds.example/heron', confirm: true, user_intent: 'Save it' },
  add_highlights: {
    source_id: 1,
    highlights: [{ content: 'heron' }],
    confirm: true,
    user_intent: 'Keep it',
  },
  update_highlight: { id: 1 },
  delete_highlight: { id: 1 },
  tag: { ids: [1], add: ['birds'] },
  review_highlight: { id: 1, rating: 'good' },
  find_related: { highlight_id: 1 },
}

const CLIENTS = ['client 2 at 2026-07-28', 'client 2 as an older one', 'client 1'] as const

describe.each(CLIENTS)('%s', (client) => {
  it('saves, finds, marks and reads a page', async () => {
    const own = await at.tokenFor(await at.newReader())
    const requestInit = { headers: { authorization: `Bearer ${own}` } }
    const url = new URL(`${at.base}/mcp`)
    let call: (name: string, args: Json) => Promise<Json>
    let close: () => Promise<void>
    if (client === 'client 1') {
      const old = new OldClient({ name: 'old', version: '1' })
      const transport = new OldHttp(url, { requestInit }) as OldTransport
      await old.connect(transport)
      await old.listTools()
      call = async (name, args) => (await old.callTool({ name, arguments: args })) as Json
      close = () => old.close()
    } else {
      const modern = client.includes('2026')
      const fresh = new NewClient(
        { name: 'new', version: '1' },
        { ...(modern && { versionNegotiation: { mode: 'auto' } }) },
      )
      await fresh.connect(new NewHttp(url, { requestInit }))
      expect(fresh.getNegotiatedProtocolVersion()).toBe(modern ? '2026-07-28' : '2025-11-25')
      await fresh.listTools()
      call = async (name, args) => (await fresh.callTool({ name, arguments: args })) as Json
      close = () => fresh.close()
    }
    const saved = await call('save_url', { url: 'https://birds.example/heron' })
    expect(saved['structuredContent']).toMatchObject({ state: 'captured', item: { title: 'Essay heron' } })
    const { id } = (saved['structuredContent'] as { item: { id: string } }).item
    expect((await call('search_library', { query: 'shallows' }))['structuredContent']).toMatchObject({
      results: [{ id }],
    })
    expect(
      (await call('add_highlight', { id, quote: 'stands once only' }))['structuredContent'],
    ).toMatchObject({
      created: true,
    })
    const read = await call('read_item', { id, format: 'markdown' })
    expect(JSON.stringify(read['content'])).toContain('This stands once only')
    await close()
  })
})

/** `fetch` does not let a host name be chosen. */
async function rawRequest(headers: Record<string, string>): Promise<{ status: number }> {
  const { request } = await import('node:http')
  const { port } = new URL(at.base)
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (res) => {
      res.resume()
      resolve({ status: res.statusCode ?? 0 })
    })
    req.on('error', reject)
    req.end('{}')
  })
}
