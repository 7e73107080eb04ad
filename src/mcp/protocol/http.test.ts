import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSmallApp } from '../../../test/protocol/small-app.ts'
import {
  LOG_LEVEL,
  V,
  callTool,
  era,
  events,
  meta,
  modernHeaders,
  notification,
  post as postTo,
  rpc,
  type Answer,
} from '../../../test/protocol/wire.ts'
import { createHttpHandler, serveHttp, type HttpServer } from './http.ts'

const app = createSmallApp()
const errors: unknown[] = []
let server: HttpServer
let url = ''

beforeAll(async () => {
  server = await serveHttp(app, {
    origins: ['https://ok.example'],
    onError: (error) => errors.push(error),
    graceMs: 50,
  })
  url = server.url
})
afterAll(() => server.close())

const post = (body: unknown, headers?: Record<string, string>, init?: RequestInit): Promise<Answer> =>
  postTo(url, body, headers, init)
const modernCall = (name: string, more: object = {}) => callTool(name, { q: 'é😀' }, { _meta: meta, ...more })

/** A request as no `fetch` would send it. */
function raw(headers: Record<string, string>, method = 'POST', path = '/mcp'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port: server.port,
        path,
        method,
        headers: { 'content-type': 'application/json', ...headers },
      },
      (answer) => (answer.resume(), resolve(answer.statusCode ?? 0)),
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(rpc('ping')))
  })
}

describe('errors of the protocol', () => {
  const cases: [string, () => Promise<Answer>, number, number][] = [
    ['bad JSON', () => post('{'), 400, -32700],
    ['an empty body', () => post(''), 400, -32700],
    ['no JSON-RPC', () => post({ id: 1, method: 'ping' }), 400, -32600],
    ['null as id', () => post(rpc('ping', {}, null)), 400, -32600],
    ['a fraction as id', () => post(rpc('ping', {}, 1.5)), 400, -32600],
    ['an array as params', () => post({ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }), 400, -32600],
    ['unknown method, before 2026', () => post(rpc('nope')), 200, -32601],
    ['a name of Object.prototype', () => post(rpc('constructor')), 200, -32601],
    ['unknown method, 2026', () => post(rpc('nope', { _meta: meta }), modernHeaders('nope')), 404, -32601],
    ['server/discover before 2026', () => post(rpc('server/discover')), 200, -32601],
    [
      'initialize in 2026',
      () => post(rpc('initialize', { _meta: meta }), modernHeaders('initialize')),
      404,
      -32601,
    ],
    ['unknown tool', () => post(callTool('nope')), 200, -32602],
    ['unknown tool, 2026', () => post(modernCall('nope'), modernHeaders('tools/call', 'nope')), 200, -32602],
    ['a tool called __proto__', () => post(callTool('__proto__')), 200, -32602],
    ['no tool name', () => post(rpc('tools/call')), 200, -32602],
    ['an array as arguments', () => post(rpc('tools/call', { name: 'echo', arguments: [] })), 200, -32602],
    ['unknown prompt', () => post(rpc('prompts/get', { name: 'nope' })), 200, -32602],
    ['a prompt without what it needs', () => post(rpc('prompts/get', { name: 'recap' })), 200, -32602],
    [
      'a prompt with a number',
      () => post(rpc('prompts/get', { name: 'recap', arguments: { book: 1 } })),
      200,
      -32602,
    ],
    ['a throw of the application', () => post(callTool('boom')), 200, -32603],
    ['unknown version in the header', () => post(rpc('ping'), era('1999-01-01')), 400, -32022],
    [
      'unknown version in both',
      () =>
        post(rpc('tools/list', { _meta: { ...meta, [V]: '2027-01-01' } }), {
          ...modernHeaders('tools/list'),
          ...era('2027-01-01'),
        }),
      400,
      -32022,
    ],
    [
      'a 2026 header and no metadata',
      () => post(rpc('tools/list'), modernHeaders('tools/list')),
      400,
      -32602,
    ],
    ['metadata and no header', () => post(rpc('tools/list', { _meta: meta })), 400, -32020],
    [
      'a header that contradicts the metadata',
      () => post(rpc('tools/list', { _meta: { ...meta, [V]: '2027-01-01' } }), modernHeaders('tools/list')),
      400,
      -32020,
    ],
    ['no Mcp-Method', () => post(rpc('tools/list', { _meta: meta }), era('2026-07-28')), 400, -32020],
    ['no Mcp-Name', () => post(modernCall('echo'), modernHeaders('tools/call')), 400, -32020],
    ['a wrong Mcp-Name', () => post(modernCall('echo'), modernHeaders('tools/call', 'slow')), 400, -32020],
    [
      'Mcp-Name in bad Base64',
      () => post(modernCall('echo'), modernHeaders('tools/call', '=?base64?ZWNobw?=')),
      400,
      -32020,
    ],
    [
      'a notification that contradicts its headers',
      () => post(notification('notifications/x', { _meta: meta }), era('2025-11-25')),
      400,
      -32020,
    ],
    [
      'a notification under another name',
      () => post(notification('notifications/x'), modernHeaders('notifications/y')),
      400,
      -32020,
    ],
    ['a cursor we never gave', () => post(rpc('tools/list', { cursor: 'x' })), 200, -32602],
    ['text/plain', () => post(callTool('echo'), { 'content-type': 'text/plain' }), 415, -32600],
    ['a foreign Origin', () => post(callTool('echo'), { origin: 'https://evil.example' }), 403, -32600],
    ['Origin: null', () => post(callTool('echo'), { origin: 'null' }), 403, -32600],
    ['a response in 2026', () => post({ jsonrpc: '2.0', id: 1, result: {} }, era('2026-07-28')), 400, -32600],
    ['a batch in 2025-06-18', () => post([rpc('ping')], era('2025-06-18')), 400, -32600],
    ['an empty batch', () => post([]), 400, -32600],
    ['a batch of 101', () => post(Array.from({ length: 101 }, () => rpc('ping'))), 400, -32600],
  ]
  it.each(cases)('%s', async (_name, send, status, code) => {
    const answer = await send()
    expect(answer).toMatchObject({ status, body: { jsonrpc: '2.0', error: { code } } })
    expect(JSON.stringify(answer.body)).not.toContain('secret')
  })

  it('says what it supports where a version is unknown', async () => {
    const { body } = await post(rpc('ping', {}, 'p'), era('1999-01-01'))
    const supported = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
    expect(body).toMatchObject({ id: 'p', error: { data: { requested: '1999-01-01', supported } } })
  })

  it('tells the operator, not the client, of what an application throws', async () => {
    errors.length = 0
    await post(callTool('boom'))
    expect(errors).toEqual([new Error('secret')])
  })
})

describe('what real clients send is served', () => {
  const cases: [string, () => Promise<Answer>, number][] = [
    ['Accept */*', () => post(callTool('echo'), { accept: '*/*' }), 200],
    ['Accept application/json', () => post(callTool('echo'), { accept: 'application/json' }), 200],
    ['Accept text/html', () => post(callTool('echo'), { accept: 'text/html' }), 200],
    ['a charset', () => post(callTool('echo'), { 'content-type': 'application/json; charset=utf-8' }), 200],
    ['an allowed Origin', () => post(callTool('echo'), { origin: 'https://ok.example' }), 200],
    ['a stale session', () => post(callTool('echo'), { 'mcp-session-id': 'gone' }), 200],
    [
      'Mcp-Name in Base64',
      () => post(modernCall('echo'), modernHeaders('tools/call', '=?base64?ZWNobw==?=')),
      200,
    ],
    ['a response, before 2026', () => post({ jsonrpc: '2.0', id: 1, result: {} }), 202],
    ['a notification', () => post(notification('notifications/initialized')), 202],
    ['a batch of notifications', () => post([notification('notifications/initialized')]), 202],
  ]
  it.each(cases)('%s', async (_name, send, status) => {
    const answer = await send()
    expect(answer.status).toBe(status)
    expect(answer.body).not.toHaveProperty('error')
  })
})

describe('other methods, hosts and paths', () => {
  it('has no stream to GET and no session to DELETE', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers } = await post('', {}, { method, ...(method === 'GET' && { body: null }) })
      expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    }
  })

  it('answers a preflight and exposes what a browser must read', async () => {
    const { status, headers } = await post(
      '',
      { origin: 'https://ok.example' },
      { method: 'OPTIONS', body: null },
    )
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('https://ok.example')
    expect(headers.get('access-control-expose-headers')).toBe('WWW-Authenticate, Mcp-Protocol-Version')
    expect(headers.get('access-control-allow-headers')).toMatch(/Authorization.*Mcp-Method, Mcp-Name/)
    expect(headers.get('vary')).toBe('Origin')
  })

  it('answers to loopback names only', async () => {
    expect(await raw({ host: 'evil.example' })).toBe(403)
    expect(await raw({ host: '127.0.0.1.evil.example:80' })).toBe(403)
    expect(await raw({ host: `LOCALHOST:${server.port}` })).toBe(200)
    expect(await raw({ host: `[::1]:${server.port}` })).toBe(200)
  })

  it('is at /mcp and at /, and nowhere else', async () => {
    expect(await raw({}, 'POST', '/')).toBe(200)
    expect(await raw({}, 'POST', '/mcp?tools=library')).toBe(200)
    expect(await raw({}, 'POST', '/other')).toBe(404)
  })

  it('never listens on another address', async () => {
    // @ts-expect-error The type says so as well.
    await expect(serveHttp(app, { host: '0.0.0.0' })).rejects.toThrow(/loopback/)
  })

  it('says when the port is taken', async () => {
    await expect(serveHttp(app, { port: server.port })).rejects.toThrow(/EADDRINUSE/)
  })

  it('takes pages of loopback origins unless told otherwise', async () => {
    const open = await serveHttp(app)
    const from = async (origin: string) => (await postTo(open.url, rpc('ping'), { origin })).status
    expect(await from('http://localhost:6274')).toBe(200)
    expect(await from('http://localhost.evil.example')).toBe(403)
    await open.close()
  })

  it('refuses at once tools that it could not keep to', () => {
    const tool = { name: 'a', inputSchema: { type: 'object' } }
    const start = (...tools: (typeof tool)[]) => createHttpHandler({ ...app, tools })
    expect(() => start(tool, tool)).toThrow(/Two are called a/)
    expect(() => start({ name: 'a', inputSchema: { type: 'array' } })).toThrow(/must be an object/)
    const header = { type: 'object', properties: { q: { type: 'string', 'x-mcp-header': 'Q' } } }
    expect(() => start({ name: 'a', inputSchema: header })).toThrow(/x-mcp-header/)
  })
})

describe('bodies', () => {
  const filled = (bytes: number) => ({ q: 'x'.repeat(bytes) })

  it('takes one that is large and whole', async () => {
    const { body } = await post(callTool('echo', filled(1024 * 1024)))
    expect(body).toMatchObject({ result: { content: [{ text: 'x'.repeat(1024 * 1024) }] } })
  })

  it('stops at the limit of the tool that is named', async () => {
    expect((await post(callTool('small', filled(100)))).status).toBe(200)
    expect(await post(callTool('small', filled(400), {}, 'mine'))).toMatchObject({
      status: 413,
      body: { id: 'mine', error: { code: -32600, data: { limit: 300 } } },
    })
    const large = callTool('small', filled(400), { _meta: meta })
    expect((await post(large, modernHeaders('tools/call', 'small'))).status).toBe(413)
  })

  it('stops each call of a batch at its own limit', async () => {
    const batch = [
      callTool('small', filled(400), {}, 1),
      callTool('small', {}, {}, 2),
      callTool('echo', {}, {}, 3),
    ]
    expect((await post(batch)).body).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: 2, result: {} },
      { id: 3, result: {} },
    ])
  })

  it('stops at 6 MiB whatever is named, and the client hears why', async () => {
    for (const size of [6.1, 20, 40]) {
      const answer = await post('x'.repeat(size * 1024 * 1024))
      expect(answer).toMatchObject({ status: 413, body: { id: null, error: { data: { limit: 6_291_456 } } } })
      // Only what is far too large costs the client its connection.
      expect(answer.headers.get('connection') === 'close').toBe(size === 40)
    }
  })

  it('is none the worse for a client that leaves in the middle of one', async () => {
    await new Promise<void>((resolve) => {
      const sent = request({
        host: '127.0.0.1',
        port: server.port,
        path: '/mcp',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': '100' },
      })
      sent.on('error', () => resolve())
      sent.write('{"json', () => sent.destroy(new Error('gone')))
    })
    expect((await post(rpc('ping'))).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })
})

describe('eras', () => {
  it('initialize answers with the revision asked for, or with the newest of its kind', async () => {
    for (const [asked, got] of [
      ['2024-11-05', '2024-11-05'],
      ['2025-06-18', '2025-06-18'],
      ['2099-01-01', '2025-11-25'],
      [undefined, '2025-11-25'],
    ]) {
      const { body } = await post(rpc('initialize', { protocolVersion: asked, capabilities: {} }))
      expect(body).toMatchObject({ result: { protocolVersion: got, serverInfo: app.info } })
      expect(body).not.toHaveProperty('result.resultType')
    }
  })

  it('server/discover says what there is', async () => {
    const { body } = await post(rpc('server/discover', { _meta: meta }), modernHeaders('server/discover'))
    expect(body).toMatchObject({
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, prompts: {} },
        _meta: { 'io.modelcontextprotocol/serverInfo': app.info },
      },
    })
  })

  it('text comes back whole, stamped in 2026-07-28 only', async () => {
    const old = await post(callTool('echo', { q: 'é😀' }))
    expect(old.body).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'é😀' }] } })
    const now = await post(modernCall('echo'), modernHeaders('tools/call', 'echo'))
    expect(now.body).toMatchObject({ result: { resultType: 'complete', content: [{ text: 'é😀' }] } })
  })

  it('lists say how long they may be kept, in 2026-07-28 only', async () => {
    const now = await post(rpc('tools/list', { _meta: meta }), modernHeaders('tools/list'))
    expect(now.body).toMatchObject({ result: { ttlMs: 0, cacheScope: 'private' } })
    expect((await post(rpc('tools/list'))).body).not.toHaveProperty('result.ttlMs')
  })

  it('an old revision gets a link in words', async () => {
    for (const [revision, type] of [
      ['2025-06-18', 'resource_link'],
      ['2025-03-26', 'text'],
    ] as const) {
      const tool = await post(callTool('link'), era(revision))
      expect(tool.body).toMatchObject({ result: { content: [{ type }] } })
      const prompt = await post(rpc('prompts/get', { name: 'linked' }), era(revision))
      expect(prompt.body).toMatchObject({ result: { messages: [{ content: { type } }] } })
    }
  })

  it('a batch of 2025-03-26 answers requests only', async () => {
    const batch = [
      rpc('ping', {}, 1),
      notification('notifications/x'),
      rpc('nope', {}, 'b'),
      7,
      rpc('initialize', {}, 9),
    ]
    expect((await post(batch)).body).toMatchObject([
      { id: 1, result: {} },
      { id: 'b', error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
      { id: 9, error: { code: -32600 } },
    ])
  })

  it('an older client is not asked over HTTP, and the tool says so to the model', async () => {
    expect((await post(callTool('ask'))).body).toMatchObject({ result: { isError: true } })
  })

  it('a client of 2026-07-28 is handed the question, where it declared that it can be asked', async () => {
    const able = { ...meta, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
    const send = (more: object) => post(callTool('ask', {}, more), modernHeaders('tools/call', 'ask'))
    expect((await send({ _meta: able })).body).toMatchObject({
      result: { resultType: 'input_required', inputRequests: { sure: { method: 'elicitation/create' } } },
    })
    expect((await send({ _meta: able, inputResponses: { sure: { action: 'accept' } } })).body).toMatchObject({
      result: { resultType: 'complete', content: [{ text: '{"action":"accept"}' }] },
    })
    expect(await send({ _meta: meta })).toMatchObject({
      status: 400,
      body: { error: { code: -32021, data: { requiredCapabilities: { elicitation: {} } } } },
    })
  })
})

describe('completions', () => {
  const ref = { type: 'ref/resource', uri: 'becoming://item/{id}' }
  const argument = { name: 'id', value: 'a' }

  it('go out by the hundred, and say when there are more', async () => {
    const context = { arguments: { shelf: 'b' } }
    const { body } = await post(rpc('completion/complete', { ref, argument, context }))
    expect(body).toMatchObject({ result: { completion: { hasMore: true } } })
    const values = Array.from({ length: 100 }, (_, i) => `ab${i}`)
    expect(body).toHaveProperty('result.completion.values', values)
  })

  it('want to know of what', async () => {
    for (const wrong of [{ argument }, { ref }, { ref: { type: 'x' }, argument }, { ref, argument: {} }]) {
      expect((await post(rpc('completion/complete', wrong))).body).toMatchObject({ error: { code: -32602 } })
    }
  })
})

describe('streams', () => {
  const withToken = callTool('slow', {}, { _meta: { progressToken: 5 } })

  it('progress opens one, only with a token and only where it is taken', async () => {
    const streamed = await post(withToken)
    expect(streamed.type).toBe('text/event-stream')
    expect(streamed.headers.get('x-accel-buffering')).toBe('no')
    const lines = events(streamed.body)
    expect(lines[0]).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 5, progress: 1, total: 20 },
    })
    expect(lines.at(-1)).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } })
    expect((await post(callTool('slow'))).type).toBe('application/json')
    expect((await post(withToken, { accept: 'application/json' })).type).toBe('application/json')
  })

  it('is not opened for a log that the application does not declare', async () => {
    const params = { _meta: { ...meta, [LOG_LEVEL]: 'debug' } }
    const { type } = await post(callTool('echo', {}, params), modernHeaders('tools/call', 'echo'))
    expect(type).toBe('application/json')
  })

  it('is also the answer to a client that takes nothing else', async () => {
    const { type, body } = await post(callTool('echo'), { accept: 'text/event-stream' })
    expect(type).toBe('text/event-stream')
    expect(events(body)).toMatchObject([{ id: 1, result: {} }])
  })

  it('a client that leaves stops the work, in either era', async () => {
    for (const [body, headers] of [
      [callTool('stuck'), {}],
      [[callTool('stuck')], era('2025-03-26')],
      [callTool('stuck', {}, { _meta: { ...meta, progressToken: 1 } }), modernHeaders('tools/call', 'stuck')],
    ] as const) {
      app.started.length = 0
      app.aborted.length = 0
      const controller = new AbortController()
      const left = post(body, headers, { signal: controller.signal })
      await expect.poll(() => app.started, { timeout: 10_000 }).toEqual(['stuck'])
      controller.abort()
      await expect(left).rejects.toThrow()
      await expect.poll(() => app.aborted, { timeout: 10_000 }).toEqual(['stuck'])
    }
  })

  it('closing waits for what runs, then cancels it', async () => {
    const own = createSmallApp()
    const closing = await serveHttp(own, { graceMs: 500 })
    const slow = postTo(closing.url, callTool('slow'))
    const stuck = postTo(closing.url, callTool('stuck')).catch(() => 'cut')
    await expect.poll(() => own.started, { timeout: 10_000 }).toHaveLength(2)
    await closing.close()
    expect((await slow).body).toMatchObject({ result: { content: [] } })
    expect(await stuck).toBe('cut')
    await expect.poll(() => own.aborted, { timeout: 10_000 }).toEqual(['stuck'])
  })
})
