/**
 * Requests that no client would send: whatever comes, the server answers or hangs up, tells nothing of its inside, and goes on.
 * `FUZZ_SEED` and `FUZZ_TIMES` (a factor) run others and more of them.
 */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SERVER_TOOLS } from '../../src/http/run-tool.ts'
import { startServer, type TestServer } from './serve.ts'

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_130)
const TIMES = Number(process.env['FUZZ_TIMES'] ?? 1)

let at: TestServer
let token: string
beforeAll(async () => {
  at = await startServer()
  token = await at.tokenFor(at.server.first.reader.id)
})
afterAll(() => at.close())

/** Mulberry32: the same numbers for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const NAMES = [...SERVER_TOOLS.keys()]
const PATHS = [
  '/mcp',
  '/',
  '/mcp?tools=library',
  '/mcp?tools=%ff',
  '/mcp?tools[]=a&tools=&tools',
  ...NAMES.map((name) => `/api/tools/${name}`),
  '/api/tools/',
  '/api/tools/%00',
  '/api/tools/constructor',
  '/api/openapi.json?x',
  '/api',
  '/api/files',
  '/api/files?name=%2e%2e%2f%00%0d%0a&tag=&tag=x&requestId=%ff',
  '/api/files/',
  '/api/media/0',
  `/api/media/${'0'.repeat(64)}`,
  '/api/media/%2e%2e%2fserver.db',
  '/api/items/1/file',
  '/api/items/%00/text',
  '/api/jobs/1',
  '/api/jobs/__proto__/events',
  '/api/feedback',
  '/oauth/token',
  '/oauth/register',
  '/oauth/authorize?client_id=%00',
  '/consent/x',
  '/sign-in?link=%',
  '/.well-known/../mcp',
  '//evil.example/mcp',
  '/%',
  'http://evil.example/mcp',
  '*',
]
const ODD: unknown[] = [
  null,
  0,
  -1,
  1e308,
  '',
  'é',
  '\uD800',
  '__proto__',
  [],
  {},
  [[]],
  true,
  'x'.repeat(5_000),
]
const HEADERS = [
  'accept: */*',
  'accept: text/event-stream',
  'accept: ;;;',
  'mcp-protocol-version: 2026-07-28',
  'mcp-protocol-version: 2024-11-05',
  'mcp-protocol-version: x',
  'mcp-method: tools/call',
  'mcp-name: list_items',
  'origin: null',
  'origin: http://localhost:1',
  'x-forwarded-for: 1.2.3.4, ,, x',
  'cookie: commonplace=; commonplace=x; =',
  'cookie: ;;==',
  'x-csrf-token: ',
  'content-encoding: gzip',
  'expect: 100-continue',
  'accept-encoding: gzip;q=x, br;;, *;q=2',
  'range: bytes=0-,-1,99999999999999999999-',
  'if-none-match: W/"x", ",',
  'if-range: "',
  'last-event-id: \u00e9',
  'idempotency-key: "',
  'content-disposition: attachment; filename="\\"; filename*=utf-8\'\'%ff',
]

it('answers or hangs up, and goes on', { timeout: 120_000 }, async () => {
  const next = numbers(SEED)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!
  const body = (): string => {
    const args = Object.fromEntries(
      Array.from({ length: Math.floor(next() * 4) }, () => [
        pick(['id', 'query', 'limit', 'url', 'quote', 'cursor', 'requestId', '__proto__', 'note', 'ids']),
        pick(ODD),
      ]),
    )
    const call = {
      jsonrpc: pick(['2.0', '2.0', '2.0', '1.0', 2]),
      id: pick([1, 'a', null, {}, 1.5]),
      method: pick(['tools/call', 'tools/call', 'tools/list', 'initialize', 'server/discover', 'nope', 1]),
      params: pick([{ name: pick([...NAMES, 'constructor', 1]), arguments: args }, pick(ODD)]),
    }
    const text = JSON.stringify(pick([call, args, [call, call], pick(ODD)])) ?? ''
    const cut = Math.floor(next() * text.length)
    return pick([text, text, text, text.slice(0, cut), `${text.slice(0, cut)}\u0000${text.slice(cut)}`])
  }
  const statuses = new Map<string, number>()
  for (let n = 0; n < 1_500 * TIMES; n++) {
    const payload = Buffer.from(body())
    const lines = [
      `${pick(['POST', 'POST', 'POST', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'HEAD', 'TRACE', 'BREW'])} ${pick(PATHS)} HTTP/1.1`,
      `host: ${pick(['127.0.0.1', '127.0.0.1', '127.0.0.1', 'localhost:1', 'evil.example', '', '[::1'])}`,
      'connection: close',
      ...(next() < 0.8
        ? [`authorization: Bearer ${next() < 0.9 ? token : pick(['', 'x', 'é', 'cpl_'])}`]
        : []),
      `content-type: ${pick(['application/json', 'application/json', 'application/json; charset=x', 'text/plain', 'multipart/form-data; boundary=x', ''])}`,
      ...(next() < 0.9
        ? [`content-length: ${payload.length + pick([0, 0, 0, 0, 0, -1])}`]
        : ['transfer-encoding: chunked']),
      ...Array.from({ length: Math.floor(next() * 3) }, () => pick(HEADERS)),
    ]
    const answer = await exchange(`${lines.join('\r\n')}\r\n\r\n`, payload)
    const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 'none'
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    expect(answer, lines.join('\n')).not.toMatch(/\bat .*\.ts:|sqlite|node:internal|ZodError|Kysely/i)
    // 502 is a page that could not be had, and none of the addresses here is one.
    expect(status, `${lines.join('\n')}\n${payload.toString()}`).not.toMatch(/^5/)
  }
  for (const seen of ['200', '400', '401', '403', '404', '405', '415'])
    expect([...statuses.keys()]).toContain(seen)
  expect(at.errors).toEqual([])
  expect((await at.api(token, 'list_items')).status).toBe(200)
})

/** What comes back for these bytes, to the end of the connection. */
function exchange(head: string, payload: Buffer): Promise<string> {
  const { port } = new URL(at.base)
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => (answer += text))
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
    socket.setTimeout(500, () => socket.destroy())
    // Not ended: Node hangs up on whoever does that, unless the answer was there at once.
    socket.write(Buffer.concat([Buffer.from(head, 'latin1'), payload]))
  })
}
