/** What OpenAPI says of the API, held against the API; what is sent again, and how it is packed. */
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { startServer, type TestServer } from './serve.ts'

let at: TestServer
let token: string
let api: Json & { paths: Record<string, Record<string, Json>>; components: Record<string, Json> }
beforeAll(async () => {
  at = await startServer()
  token = await at.tokenFor(at.server.first.reader.id)
  api = (await (await fetch(`${at.base}/api/openapi.json`)).json()) as typeof api
})
afterAll(async () => {
  await at.close()
  expect(at.errors).toEqual([])
})

interface Heard {
  status: number
  headers: Record<string, string | undefined>
  body: Buffer
}

/** A request whose answer comes as it is on the wire. */
const ask = (path: string, headers: Record<string, string> = {}, body?: string): Promise<Heard> =>
  new Promise((resolve, reject) => {
    const sent = request(
      at.base + path,
      { method: body === undefined ? 'GET' : 'POST', headers },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers as Heard['headers'],
            body: Buffer.concat(parts),
          }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })

describe('the description of the API', () => {
  it('has every reference, a name for each call and a word for each of its scopes', () => {
    const text = JSON.stringify(api)
    for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = path.split('/').reduce<unknown>((part, key) => (part as Json)[key], api)
      expect([path, found]).toEqual([path, expect.any(Object)])
    }
    const calls = Object.values(api.paths).flatMap((path) => Object.values(path))
    const names = calls.map((call) => call['operationId'])
    expect(new Set(names).size).toBe(names.length)
    const tags = new Set((api['tags'] as { name: string }[]).map(({ name }) => name))
    const schemes = api.components['securitySchemes'] as {
      oauth: { flows: { authorizationCode: { scopes: Json } } }
    }
    const known = new Set(Object.keys(schemes.oauth.flows.authorizationCode.scopes))
    for (const call of calls) {
      for (const tag of call['tags'] as string[]) expect(tags).toContain(tag)
      for (const { oauth = [] } of call['security'] as { oauth?: string[] }[])
        for (const scope of oauth) expect(known).toContain(scope)
      expect(String(call['description'])).toMatch(/\.$/)
      const parameters = (call['parameters'] ?? []) as { name: string; in: string }[]
      expect(new Set(parameters.map((one) => `${one.in} ${one.name}`)).size).toBe(parameters.length)
    }
    for (const [path, methods] of Object.entries(api.paths))
      for (const [, name] of path.matchAll(/\{(\w+)\}/g))
        for (const call of Object.values(methods))
          expect(call['parameters']).toContainEqual(
            expect.objectContaining({ name, in: 'path', required: true }),
          )
  })

  it('names addresses that are there, and wants of each the scopes that it says', async () => {
    const bare = await at.tokenFor(at.server.first.reader.id, ['themes:read'])
    for (const [template, methods] of Object.entries(api.paths)) {
      const path = template.replace('{hash}', '0'.repeat(64)).replace(/\{\w+\}/, '1')
      for (const [method, call] of Object.entries(methods)) {
        const nobody = await fetch(at.base + path, { method })
        expect([path, nobody.status]).toEqual([path, 401])
        const [first] = call['security'] as { oauth: string[] }[]
        if (!first || first.oauth.length === 0) continue
        // Arguments are read before scopes: a tool that wants some says so first.
        const { status, ...rest } = await fetch(at.base + path, {
          method,
          headers: { authorization: `Bearer ${bare}` },
        })
        expect([path, status, rest]).toEqual([
          path,
          expect.toSatisfy((code) => code === 403 || code === 400),
          rest,
        ])
      }
    }
  })

  it('is a page for people as well', async () => {
    const page = (await ask('/api')).body.toString()
    for (const path of Object.keys(api.paths)) expect(page).toContain(path.replace('/api/tools/', ''))
    expect(page).not.toMatch(/<script/i)
  })
})

describe('what stays the same', () => {
  it.each(['/', '/api', '/api/openapi.json'])(
    '%s is sent once, packed as the client likes it',
    async (path) => {
      const plain = await ask(path)
      expect(plain.headers['content-encoding']).toBeUndefined()
      expect(plain.headers['vary']).toBe('Accept-Encoding')
      const etag = plain.headers['etag'] ?? ''
      expect(etag).toMatch(/^W\/"/)
      expect(await ask(path, { 'if-none-match': etag })).toMatchObject({ status: 304, body: Buffer.alloc(0) })
      expect((await ask(path, { 'if-none-match': '*' })).status).toBe(304)
      expect((await ask(path, { 'if-none-match': 'W/"other"' })).status).toBe(200)
      if (plain.body.length < 1024) return
      for (const [accept, coding, unpack] of [
        ['gzip', 'gzip', gunzipSync],
        ['gzip, deflate, br', 'br', brotliDecompressSync],
        ['br;q=0.5, gzip;q=0.8', 'gzip', gunzipSync],
        ['*', 'br', brotliDecompressSync],
        ['br;q=0, *', 'gzip', gunzipSync],
      ] as const) {
        const packed = await ask(path, { 'accept-encoding': accept })
        expect([accept, packed.headers['content-encoding']]).toEqual([accept, coding])
        expect(Number(packed.headers['content-length'])).toBe(packed.body.length)
        expect(unpack(packed.body).equals(plain.body)).toBe(true)
        expect(packed.body.length).toBeLessThan(plain.body.length)
      }
      for (const accept of ['identity', 'gzip;q=0', 'deflate', 'gzip;q=0.5, identity', 'zstd;q=1'])
        expect((await ask(path, { 'accept-encoding': accept })).headers['content-encoding']).toBeUndefined()
    },
  )
})

describe('what is made for a request', () => {
  const packing = { 'accept-encoding': 'gzip, br', 'content-type': 'application/json' }
  const call = (name: string, args: Json): Promise<Heard> =>
    ask(`/api/tools/${name}`, { ...packing, authorization: `Bearer ${token}` }, JSON.stringify(args))
  const overMcp = (name: string, args: Json, accept = 'application/json'): Promise<Heard> =>
    ask(
      '/mcp',
      { ...packing, accept, authorization: `Bearer ${token}`, 'mcp-protocol-version': '2025-06-18' },
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    )

  it('is packed where it is long, and goes as it is where it is short', async () => {
    const long = `# Long\n\n${'It stands in the shallows at dusk and waits. '.repeat(400)}`
    const sent = await fetch(`${at.base}/api/files?name=long.md`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: long,
    })
    const { item } = (await sent.json()) as { item: { id: string } }
    let read = await call('read_item', { id: item.id })
    while (read.status === 409) read = await call('read_item', { id: item.id })
    expect(read.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    const output = JSON.parse(gunzipSync(read.body).toString()) as Json
    expect(output['markdown']).toContain('shallows')
    expect(read.body.length).toBeLessThan(long.length / 4)
    const told = await overMcp('read_item', { id: item.id })
    expect(told.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    const { result } = JSON.parse(gunzipSync(told.body).toString()) as { result: { content: Json[] } }
    expect(result.content[0]?.['text'] === output['markdown']).toBe(true)
    // A stream of events is never packed, whatever goes through it.
    const events = await overMcp('read_item', { id: item.id }, 'text/event-stream')
    expect(events.headers['content-type']).toBe('text/event-stream')
    expect(events.headers['content-encoding']).toBeUndefined()
    const short = await call('list_items', { limit: 1 })
    expect(short.headers['content-encoding']).toBeUndefined()
    expect((await overMcp('list_items', { limit: 1 })).headers['content-encoding']).toBeUndefined()
  })

  it.each(['/sign-in', '/sign-in?next=/account', '/account', '/oauth/authorize?client_id=x', '/sign-up'])(
    '%s is never packed: it may hold a secret beside what was sent',
    async (path) => {
      const { headers } = await ask(path, packing)
      expect(headers['content-encoding']).toBeUndefined()
    },
  )
})
