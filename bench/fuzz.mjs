#!/usr/bin/env node
// Requests that no client would send, as many as it takes: right ones of every part of a real `commonplace serve` (MCP, the HTTP
// API, OAuth and its pages), bent and broken, and bytes that are no HTTP at all. The process must go on, answer no 5xx, tell
// nothing of its inside and hold its memory level. Each request follows from the seed and its own number.
//   node bench/fuzz.mjs [--requests 200000] [--seed 20261130] [--connections 16] [--from 0]
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'
import { callOf, checkAnswer, cpuOf, memoryOf, post, startServer } from './served.mjs'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '20261130' },
    connections: { type: 'string', default: '16' },
    from: { type: 'string', default: '0' },
  },
})
const [requests, seed, connections, from] = [
  values.requests,
  values.seed,
  values.connections,
  values.from,
].map(Number)
/** An answer that is not whole by then is a stream, or waits for bytes that the request promised. */
const PATIENCE_MS = 400
const WARM = Math.min(20_000, requests / 4)

const folder = mkdtempSync(join(tmpdir(), 'commonplace-fuzz-'))
const { fillServer } = await bundle('bench/serve-parts.ts')
const { fillForFuzz } = await bundle('bench/fuzz-parts.ts')
const [token] = await fillServer(folder, 1, 20)
const { narrow, session } = await fillForFuzz(folder)
// Behind a proxy, so that each request can come from an address of its own and few are refused for being too many.
const server = await startServer(folder, { COMMONPLACE_PROXIES: '1', COMMONPLACE_SIGN_UP: 'open' })
const agent = new Agent({ keepAlive: true })
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const tools = JSON.parse((await post(agent, server.port, '/mcp', token, LIST)).text).result.tools
const listed = await post(agent, server.port, '/mcp', token, callOf('list_items', { limit: 3 }))
const ids = JSON.parse(listed.text).result.structuredContent.items.map(({ id }) => id)

/** Mulberry32: the same numbers for the same seed. */
function numbers(start) {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const ODD = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  'é',
  '\uD800',
  '\0',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "'; drop table source; --",
  '"*" NEAR(',
  '2026-02-30',
  'http://127.0.0.1:1/',
  'http://[::ffff:127.0.0.1]/',
  'https://nowhere.invalid/',
  'file:///etc/passwd',
  'x'.repeat(3_000),
  '🦩'.repeat(300),
  [],
  {},
  [[[]]],
  { __proto__: null, a: { b: {} } },
]
const WORDS = ['heron', 'minnow7', 'essay', 'shallows', 'water', 'waits for', 'the heron of essay 7']
const HEADERS = [
  'accept: */*',
  'accept: text/event-stream',
  'accept: ;;;',
  'accept-encoding: gzip;q=x, br;;, *;q=2',
  'mcp-protocol-version: 2026-07-28',
  'mcp-protocol-version: 2024-11-05',
  'mcp-protocol-version: x',
  'mcp-method: tools/call',
  'mcp-name: =?base64?/w==?=',
  'mcp-session-id: x',
  'origin: null',
  'origin: https://evil.example',
  'sec-fetch-site: cross-site',
  'cookie: commonplace=; commonplace=x; =',
  'cookie: ;;==',
  'x-csrf-token: x',
  'content-encoding: gzip',
  'expect: 100-continue',
  'upgrade: h2c',
  'range: bytes=0-,-1,99999999999999999999-',
  'if-none-match: W/"x", ",',
  'if-range: "',
  'last-event-id: \u00e9',
  'idempotency-key: "',
  `x-long: ${'y'.repeat(9_000)}`,
  ' folded: yes',
  'no colon',
  'content-length: 5',
  'transfer-encoding: chunked',
  'transfer-encoding: gzip, chunked',
  'host: second.example',
]
const PLACES = [
  '/',
  '/mcp',
  '/mcp/',
  '/mcp?tools=library,x',
  '/healthz',
  '/readyz',
  '/metrics',
  '/api',
  '/api/openapi.json',
  '/api/files',
  '/api/files?name=%2e%2e%2f%00%0d%0a.md&tag=a&requestId=%ff',
  '/api/media/0',
  `/api/media/${'0'.repeat(64)}`,
  `/api/items/${ids[0]}/file`,
  `/api/items/${ids[0]}/text`,
  '/api/items/%00/text',
  '/api/jobs/1',
  '/api/jobs/1/events',
  '/api/feedback',
  '/api/tools/constructor',
  '/oauth/register/x',
  '/oauth/authorize',
  '/consent/x',
  '/sign-in',
  '/sign-in/mail',
  '/sign-in/passkey/options',
  '/sign-in/with/google',
  '/sign-in/with/x/callback?code=x&state=y',
  '/sign-up',
  '/sign-out',
  '/reset',
  '/confirm?x',
  '/account',
  '/account/data',
  '/account/export',
  '/account/feedback',
  '/account/email',
  '/account/make-token',
  '/account/invite',
  '/account/end-sessions',
  '/account/passkey/options',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/../mcp',
  '//evil.example/mcp',
  '/%',
  '/%2e%2e/%00',
  'http://evil.example/mcp',
  '*',
]

/** One request of this number: its bytes, and whether it is HTTP at all. */
function requestOf(number) {
  const next = numbers(seed + number * 2_654_435_761)
  const pick = (list) => list[Math.floor(next() * list.length)]
  const chance = (part) => next() < part

  /** A value that a JSON Schema takes, mostly. */
  function valueFor(schema, depth = 0) {
    if (chance(0.1) || depth > 4) return pick(ODD)
    if (schema.enum) return pick(schema.enum)
    if (schema.anyOf) return valueFor(pick(schema.anyOf), depth + 1)
    switch (schema.type) {
      case 'integer':
      case 'number':
        return Math.floor(next() * 60)
      case 'boolean':
        return chance(0.5)
      case 'array':
        return Array.from({ length: Math.floor(next() * 3) }, () => valueFor(schema.items ?? {}, depth + 1))
      case 'object':
        return objectFor(schema, depth + 1)
      default:
        return pick([...ids, ...WORDS, pick(ODD)])
    }
  }
  function objectFor({ properties = {}, required = [] }, depth = 0) {
    const entries = Object.entries(properties)
      .filter(([name]) => required.includes(name) || chance(0.3))
      .map(([name, schema]) => [name, name === 'id' ? pick(ids) : valueFor(schema, depth)])
    if (chance(0.05)) entries.push([pick(['extra', '__proto__', 'requestId']), pick(ODD)])
    return Object.fromEntries(entries)
  }
  const meta = {
    'io.modelcontextprotocol/protocolVersion': pick(['2026-07-28', '2026-07-28', '2025-11-25', 1]),
    'io.modelcontextprotocol/clientCapabilities': pick([{}, {}, null, { elicitation: {} }]),
  }
  function message() {
    const method = pick([
      'tools/call',
      'tools/call',
      'tools/call',
      'tools/list',
      'initialize',
      'ping',
      'server/discover',
      'notifications/cancelled',
      'resources/read',
      'prompts/get',
      'completion/complete',
      pick(ODD),
    ])
    const tool = pick(tools)
    const params =
      method === 'tools/call'
        ? { name: chance(0.97) ? tool.name : pick(ODD), arguments: objectFor(tool.inputSchema) }
        : pick([{}, {}, { cursor: 'x' }, { uri: 'x', name: 'x' }, pick(ODD)])
    const withMeta =
      typeof params === 'object' && params !== null && chance(0.3) ? { ...params, _meta: meta } : params
    return {
      jsonrpc: chance(0.97) ? '2.0' : pick(ODD),
      ...(chance(0.95) && { id: chance(0.9) ? number : pick(ODD) }),
      method,
      params: withMeta,
    }
  }
  const form = (fields) => new URLSearchParams(fields.filter(() => chance(0.9))).toString()
  const oauth = {
    '/oauth/register': () =>
      JSON.stringify({
        client_name: pick(WORDS),
        redirect_uris: [pick(['https://a.example/cb', 'http://127.0.0.1:9/cb', 'javascript:x', pick(ODD)])],
        grant_types: pick([['authorization_code', 'refresh_token'], pick(ODD)]),
        token_endpoint_auth_method: pick(['none', 'client_secret_basic', pick(ODD)]),
      }),
    '/oauth/token': () =>
      form([
        ['grant_type', pick(['authorization_code', 'refresh_token', 'password', ''])],
        ['code', pick(['x', 'é', 'y'.repeat(300)])],
        ['refresh_token', pick(['x', token])],
        ['client_id', pick(['x', 'https://a.example/client', '\0'])],
        ['code_verifier', 'v'.repeat(50)],
        ['redirect_uri', 'https://a.example/cb'],
      ]),
    '/oauth/revoke': () =>
      form([
        ['token', pick(['x', 'cpl_x'])],
        ['client_id', 'x'],
      ]),
    '/oauth/authorize': () =>
      form([
        ['response_type', pick(['code', 'token'])],
        ['client_id', pick(['x', 'https://a.example/client.json', 'http://127.0.0.1/'])],
        ['redirect_uri', pick(['https://a.example/cb', 'x'])],
        ['code_challenge', 'c'.repeat(43)],
        ['code_challenge_method', pick(['S256', 'plain'])],
        ['state', pick(['s', 'é\r\n'])],
        ['resource', pick(['http://localhost/mcp', '%'])],
      ]),
    '/sign-in': () =>
      form([
        ['email', pick(['ada@example.org', 'x', ''])],
        ['password', pick(['x', 'é'])],
        ['form', 'x'],
      ]),
    '/sign-up': () =>
      form([
        ['email', pick(['eve@example.org', '@'])],
        ['password', 'x'.repeat(20)],
        ['form', 'x'],
      ]),
  }

  let method = 'POST'
  let place
  let type = 'application/json'
  let body
  const part = next()
  if (part < 0.45) {
    place = pick(['/mcp', '/mcp', '/', '/mcp?tools=library'])
    body = JSON.stringify(chance(0.05) ? Array.from({ length: Math.floor(next() * 4) }, message) : message())
  } else if (part < 0.7) {
    const tool = pick(tools)
    place = `/api/tools/${tool.name}`
    body = JSON.stringify(objectFor(tool.inputSchema))
  } else if (part < 0.85) {
    place = pick(Object.keys(oauth))
    body = oauth[place]()
    type = place === '/oauth/register' ? type : 'application/x-www-form-urlencoded'
    if (place === '/oauth/authorize' && chance(0.8)) {
      method = 'GET'
      place = `${place}?${body}`
      body = ''
    }
  } else {
    method = pick([
      'GET',
      'GET',
      'POST',
      'HEAD',
      'OPTIONS',
      'PUT',
      'DELETE',
      'TRACE',
      'CONNECT',
      'BREW',
      'get',
    ])
    place = pick(PLACES)
    type = pick([
      type,
      'text/markdown',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
    ])
    body = pick([
      '',
      'x',
      '# Essay\n\nSome words.',
      '--x\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\nwords\r\n--x--\r\n',
      JSON.stringify(pick(ODD)) ?? '',
    ])
  }

  if (chance(0.02)) type = pick(['', 'text/plain', 'application/json; charset=x', 'é'])
  let payload = Buffer.from(body)
  if (chance(0.1)) payload = bend(payload)
  const length = payload.length + (chance(0.03) ? pick([-1, 1, 1_000_000]) : 0)
  const chunked = chance(0.05)
  const credential = next()
  const lines = [
    `${method} ${place} HTTP/1.1`,
    `host: ${chance(0.97) ? `localhost:${server.port}` : pick(['evil.example', '', '[::1', 'x, y'])}`,
    `x-forwarded-for: 10.${[0, 0, 0].map(() => Math.floor(next() * 256)).join('.')}`,
    ...(credential < 0.75 ? [`authorization: Bearer ${token}`] : []),
    ...(credential >= 0.75 && credential < 0.85 ? [`authorization: Bearer ${narrow}`] : []),
    ...(credential >= 0.85 && credential < 0.9
      ? [`authorization: ${pick(['Bearer', 'Basic eDp5', 'é', 'Bearer cpl_x'])}`]
      : []),
    ...(credential >= 0.8
      ? [`cookie: commonplace=${session}`, `origin: http://localhost:${server.port}`]
      : []),
    `content-type: ${type}`,
    chunked ? 'transfer-encoding: chunked' : `content-length: ${length}`,
    ...Array.from({ length: chance(0.3) ? 1 + Math.floor(next() * 2) : 0 }, () => pick(HEADERS)),
  ]
  if (chunked) {
    payload = Buffer.concat([
      Buffer.from(
        `${pick([payload.length.toString(16), payload.length.toString(16), 'zz', 'ffffffffffffffff'])}\r\n`,
      ),
      payload,
      Buffer.from(pick(['\r\n0\r\n\r\n', '\r\n0\r\n\r\n', '', '\n0\n\n'])),
    ])
  }
  let bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), payload])
  // Above the level of HTTP nothing is left to be said of these.
  if (chance(0.04)) bytes = bend(bytes)
  return { bytes, head: method === 'HEAD' }

  /** Some bytes changed, lost, doubled or put in. */
  function bend(given) {
    let bent = Buffer.from(given)
    for (let times = 1 + Math.floor(next() * 3); times > 0 && bent.length > 0; times--) {
      const at = Math.floor(next() * bent.length)
      const how = next()
      if (how < 0.3) bent[at] = Math.floor(next() * 256)
      else if (how < 0.5) bent = bent.subarray(0, at)
      else if (how < 0.7)
        bent = Buffer.concat([bent.subarray(0, at), bent.subarray(at + 1 + Math.floor(next() * 8))])
      else if (how < 0.85) bent = Buffer.concat([bent.subarray(0, at), bent.subarray(Math.max(0, at - 20))])
      else
        bent = Buffer.concat([
          bent.subarray(0, at),
          Buffer.from(pick(['\0', '\r\n', '\n', '"', '{', '\u2028', '\xff'])),
          bent.subarray(at),
        ])
    }
    return bent
  }
}

/** One connection of a stranger's, opened anew whenever it was closed. */
class Line {
  #socket
  #address

  constructor(n) {
    // Of its own, so that ports do not run out.
    this.#address = `127.0.0.${10 + n}`
  }

  /** Sends bytes; gives what came back by when it was whole, the connection was closed or it took too long. */
  exchange(bytes, head) {
    const socket = (this.#socket ??= connect({
      port: server.port,
      host: '127.0.0.1',
      localAddress: this.#address,
    }))
    return new Promise((resolve) => {
      const chunks = []
      const end = (open) => {
        clearTimeout(timer)
        socket.removeAllListeners()
        socket.on('error', () => {})
        if (!open) {
          socket.destroy()
          this.#socket = undefined
        }
        resolve(Buffer.concat(chunks).toString('latin1'))
      }
      const timer = setTimeout(() => end(false), PATIENCE_MS)
      socket.on('data', (chunk) => {
        chunks.push(chunk)
        if (isWhole(Buffer.concat(chunks), head)) end(true)
      })
      socket.on('error', () => end(false))
      socket.on('close', () => end(false))
      socket.write(bytes)
    })
  }

  close() {
    this.#socket?.destroy()
  }
}

function isWhole(bytes, head) {
  const at = bytes.indexOf('\r\n\r\n')
  if (at < 0) return false
  const top = bytes.subarray(0, at).toString('latin1')
  if (/\r\nconnection: close/i.test(top) || top.startsWith('HTTP/1.1 1')) return false
  if (head || /^HTTP\/1\.1 (204|304)/.test(top)) return true
  const length = /\r\ncontent-length: (\d+)/i.exec(top)?.[1]
  if (length !== undefined) return bytes.length >= at + 4 + Number(length)
  return bytes.subarray(-5).toString('latin1') === '0\r\n\r\n'
}

const INSIDE = /\bat .*\.(ts|js):|sqlite|node:internal|ZodError|Kysely|server\.db|\/tmp\//i
const statuses = new Map()
const findings = []
let done = 0
let next = from
let warm
const before = cpuOf(server)
const begun = performance.now()
await Promise.all(
  Array.from({ length: connections }, async (_, n) => {
    const line = new Line(n)
    while (next < from + requests && findings.length < 20) {
      const number = next++
      const { bytes, head } = requestOf(number)
      const answer = await line.exchange(bytes, head)
      const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 'none'
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      // 502 and 504: a page that could not be had.
      if (status.startsWith('5') && status !== '502' && status !== '504')
        findings.push({ number, bytes, answer })
      // What was sent may come back in words of ours; our inside may not.
      else if (INSIDE.test(answer) && !INSIDE.test(bytes.toString('latin1')))
        findings.push({ number, bytes, answer })
      if (++done === WARM) warm = memoryOf(server).now
      if (done % 50_000 === 0) console.log(`${done} requests, memory ${memoryOf(server).now.toFixed(0)} MiB`)
    }
    line.close()
  }),
)
const seconds = (performance.now() - begun) / 1000
for (const { number, bytes, answer } of findings) {
  console.log(`\nFOUND by request ${number} (--from ${number} --requests 1)`)
  console.log(bytes.toString('latin1').slice(0, 1_500))
  console.log(`→ ${answer.slice(0, 800)}`)
}
checkAnswer(await post(agent, server.port, '/mcp', token, callOf('list_items', {})))
// Whatever is let go of a while after the last request.
await new Promise((resolve) => setTimeout(resolve, 10_000))
const end = memoryOf(server).now
const faults = server
  .log()
  .split('\n')
  .filter((line) => /"level":("error"|50)/.test(line))
console.log(
  `${done} requests in ${seconds.toFixed(0)} s, ${(((cpuOf(server) - before) / done) * 1e6).toFixed(0)} µs CPU each: ${[
    ...statuses,
  ]
    .toSorted()
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')}`,
)
console.log(`memory after ${WARM} requests ${warm?.toFixed(0)} MiB, at the end ${end.toFixed(0)} MiB`)
console.log(`errors in the log: ${faults.length}`)
for (const line of faults.slice(0, 5)) console.log(`  ${line.slice(0, 600)}`)
agent.destroy()
const { code, signal } = await server.stop()
console.log(`ended with ${signal ?? code}`)
rmSync(folder, { recursive: true, force: true })
// A quarter more, and what an allocator keeps.
const leaks = warm !== undefined && end > warm * 1.25 + 64
if (findings.length > 0 || faults.length > 0 || code !== 0 || leaks) process.exitCode = 1
