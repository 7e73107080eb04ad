#!/usr/bin/env node
// One core's server: CPU of a cheap read tool over HTTP (authentication, limits and SQLite included) beside a bare node:http
// JSON echo in the same run, each loaded in turn, as fast as each can and at one rate; how many calls a second; latency at 200
// calls a second; what tools/list weighs. CPU is that of the server's process alone.
//   node bench/serve.mjs [--rounds 9] [--calls 3000] [--connections 8] [--readers 1] [--sources 50] [--seconds 10]
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'
import {
  callOf,
  checkAnswer,
  cpuOf,
  median,
  memoryOf,
  percentile,
  post,
  start,
  startServer,
} from './served.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    calls: { type: 'string', default: '3000' },
    connections: { type: 'string', default: '8' },
    readers: { type: 'string', default: '1' },
    sources: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '10' },
  },
})
const [rounds, calls, connections, readers, sources, seconds] = [
  values.rounds,
  values.calls,
  values.connections,
  values.readers,
  values.sources,
  values.seconds,
].map(Number)
/** Calls a second that are steadily sent: for what a call costs, and for how late it is. */
const RATE = 1_000
const CALM = 200
/** The echo is so much faster that it takes more calls to measure it as closely. */
const ECHO_CALLS = calls * 4

const ECHO = `
const { createServer } = require('node:http')
const server = createServer((req, res) => {
  const chunks = []
  req.on('data', (chunk) => chunks.push(chunk))
  req.on('end', () => {
    const body = JSON.stringify({ echo: JSON.parse(Buffer.concat(chunks).toString()) })
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    res.end(body)
  })
})
server.listen(0, '127.0.0.1', () => console.log('at http://127.0.0.1:' + server.address().port + '\\n/mcp\\n'))
`

const folder = mkdtempSync(join(tmpdir(), 'commonplace-serve-bench-'))
const { fillServer } = await bundle('bench/serve-parts.ts')
const tokens = await fillServer(folder, readers, sources)
const ours = await startServer(folder)
const echo = await start(['-e', ECHO])

/** So many calls over all connections, each after the answer to the one before. */
async function load(server, path, body, count, check) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const before = cpuOf(server)
  const begun = performance.now()
  let left = count
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left-- > 0) check(await post(agent, server.port, path, tokens[left % tokens.length], body))
    }),
  )
  const ms = performance.now() - begun
  agent.destroy()
  return { perCall: ((cpuOf(server) - before) / count) * 1e6, perSecond: (count / ms) * 1000 }
}

/**
 * Calls at a steady rate a second, whether or not those before were answered; CPU a call, and latencies in ms from when each was
 * due.
 */
async function loadSteadily(server, path, body, rate, duration, check) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const count = rate * duration
  const before = cpuOf(server)
  const begun = performance.now()
  const latencies = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const due = (n * 1000) / rate
      await new Promise((resolve) => setTimeout(resolve, due - (performance.now() - begun)))
      check(await post(agent, server.port, path, tokens[n % tokens.length], body))
      return performance.now() - begun - due
    }),
  )
  agent.destroy()
  return { perCall: ((cpuOf(server) - before) / count) * 1e6, latencies }
}

const cases = {
  'list_items limit 1': callOf('list_items', { limit: 1 }),
  list_items: callOf('list_items', {}),
  'search_library, words': callOf('search_library', { query: 'minnow7', limit: 5 }),
}
for (const [name, body] of Object.entries(cases)) {
  // Until the engine has compiled what it will: compiling is CPU of the process too.
  await load(ours, '/mcp', body, calls * 4, checkAnswer)
  await load(echo, '/', body, ECHO_CALLS, () => {})
  const rows = []
  for (let round = 0; round < rounds; round++) {
    rows.push({
      bare: await load(echo, '/', body, ECHO_CALLS, () => {}),
      ours: await load(ours, '/mcp', body, calls, checkAnswer),
    })
  }
  const of = (pick) => {
    const all = rows.map(pick)
    return { middle: median(all), least: Math.min(...all), most: Math.max(...all) }
  }
  const shown = ({ middle, least, most }, digits = 0) =>
    `${middle.toFixed(digits)} (${least.toFixed(digits)}..${most.toFixed(digits)})`
  console.log(`${name}, ${readers} readers, ${sources} sources, ${rounds} rounds: median (least..most)`)
  console.log(`  bare echo   ${shown(of(({ bare }) => bare.perCall))} µs CPU a call`)
  console.log(
    `  over MCP    ${shown(of(({ ours }) => ours.perCall))} µs CPU a call, ${shown(of(({ ours }) => ours.perSecond))} calls/s`,
  )
  console.log(
    `  ratio       ${shown(
      of(({ bare, ours }) => ours.perCall / bare.perCall),
      2,
    )}`,
  )
}

const cheapest = cases['list_items limit 1']
// A server that waits for its callers pays for waking up, and for waking them: here both do.
const steady = []
for (let round = 0; round < rounds; round++) {
  const bare = await loadSteadily(echo, '/', cheapest, RATE, 2, () => {})
  const own = await loadSteadily(ours, '/mcp', cheapest, RATE, 2, checkAnswer)
  steady.push({ bare: bare.perCall, ours: own.perCall })
}
console.log(
  `${RATE} calls/s each  bare echo ${median(steady.map(({ bare }) => bare)).toFixed(0)} µs CPU a call, over MCP ${median(steady.map(({ ours }) => ours)).toFixed(0)}, ratio ${median(steady.map(({ bare, ours }) => ours / bare)).toFixed(2)}`,
)
const { latencies } = await loadSteadily(ours, '/mcp', cheapest, CALM, seconds, checkAnswer)
console.log(
  `${CALM} calls/s    p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms, most ${Math.max(...latencies).toFixed(1)} ms`,
)

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const agent = new Agent()
for (const family of ['', 'highlights', 'academy', 'library', 'books', 'extras']) {
  const { status, text } = await post(
    agent,
    ours.port,
    family === '' ? '/mcp' : `/mcp?tools=${family}`,
    tokens[0],
    LIST,
  )
  if (status !== 200) throw new Error(text.slice(0, 300))
  const { tools } = JSON.parse(text).result
  console.log(
    `tools/list  ${(family || 'all').padEnd(10)} ${tools.length} tools, ${Buffer.byteLength(text)} bytes`,
  )
}
console.log(`memory      ${memoryOf(ours).now.toFixed(0)} MiB`)
await Promise.all([ours.stop(), echo.stop()])
rmSync(folder, { recursive: true, force: true })
