#!/usr/bin/env node
// CPU of a cheap read tool over HTTP (authentication, limits and SQLite included), beside a bare node:http JSON echo in the
// same run: each round loads both, one after the other. CPU is that of the server's process alone, from /proc (Linux).
//   node bench/serve.mjs [--rounds 5] [--calls 2000] [--connections 8] [--readers 1] [--sources 50]
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundle } from '../scripts/bundle.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '2000' },
    connections: { type: 'string', default: '8' },
    readers: { type: 'string', default: '1' },
    sources: { type: 'string', default: '50' },
  },
})
const [rounds, calls, connections, readers, sources] = [
  values.rounds,
  values.calls,
  values.connections,
  values.readers,
  values.sources,
].map(Number)
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'commonplace-serve-bench-'))
const { fillServer } = await bundle('bench/serve-parts.ts')
const tokens = await fillServer(folder, readers, sources)

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

async function start(args, env = {}) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      const found = /at http:\/\/[^:\s]+:(\d+)[\s\S]*\/mcp\n/.exec(text)?.[1]
      if (found) resolve(Number(found))
    })
    child.once('exit', () => reject(new Error('the server ended')))
  })
  return { child, port }
}

const MANY = '100000000'
const ours = await start([main, 'serve', '--port', '0'], {
  COMMONPLACE_DATA: folder,
  COMMONPLACE_EMBEDDER: 'off',
  COMMONPLACE_READS_PER_MINUTE: '1000000',
  COMMONPLACE_READS_PER_DAY: MANY,
})
const echo = await start(['-e', ECHO])

const call = (name, args) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })

/** Posts `calls` bodies over so many connections; gives milliseconds and the latencies. */
async function load(port, path, body, check) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let left = calls
  const latencies = []
  const one = (token) =>
    new Promise((resolve, reject) => {
      const begun = performance.now()
      const req = request(
        {
          agent,
          host: '127.0.0.1',
          port,
          path,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json',
            'mcp-protocol-version': '2025-06-18',
            authorization: `Bearer ${token}`,
            'content-length': Buffer.byteLength(body),
          },
        },
        (res) => {
          let text = ''
          res.setEncoding('utf8').on('data', (chunk) => (text += chunk))
          res.on('end', () => {
            latencies.push(performance.now() - begun)
            if (check && !check(text)) reject(new Error(text.slice(0, 300)))
            else resolve()
          })
        },
      )
      req.on('error', reject)
      req.end(body)
    })
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left-- > 0) await one(tokens[left % tokens.length])
    }),
  )
  agent.destroy()
  return { ms: performance.now() - begun, latencies: latencies.toSorted((a, b) => a - b) }
}

/** CPU seconds of a process, its threads included. */
function cpuOf({ child }) {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function measure(server, path, body, check) {
  const before = cpuOf(server)
  const { ms, latencies } = await load(server.port, path, body, check)
  return {
    perCall: ((cpuOf(server) - before) / calls) * 1e6,
    perSecond: (calls / ms) * 1000,
    p99: latencies[Math.floor(latencies.length * 0.99)],
  }
}

const fine = (text) => text.includes('structuredContent') && !text.includes('isError')
const cases = {
  'list_items limit 1': call('list_items', { limit: 1 }),
  list_items: call('list_items', {}),
}
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]
for (const [name, body] of Object.entries(cases)) {
  await measure(ours, '/mcp', body, fine)
  await measure(echo, '/', body)
  const rows = []
  for (let round = 0; round < rounds; round++)
    rows.push({ bare: await measure(echo, '/', body), ours: await measure(ours, '/mcp', body, fine) })
  const of = (pick) => median(rows.map(pick))
  console.log(`${name}, ${readers} readers, ${sources} sources`)
  console.log(
    `  bare echo   ${of(({ bare }) => bare.perCall).toFixed(0)} µs CPU, ${of(({ bare }) => bare.perSecond).toFixed(0)} calls/s`,
  )
  console.log(
    `  over MCP    ${of(({ ours }) => ours.perCall).toFixed(0)} µs CPU, ${of(({ ours }) => ours.perSecond).toFixed(0)} calls/s, p99 ${of(({ ours }) => ours.p99).toFixed(1)} ms`,
  )
  console.log(`  ratio       ${of(({ bare, ours }) => ours.perCall / bare.perCall).toFixed(2)}`)
}
const status = readFileSync(`/proc/${ours.child.pid}/status`, 'utf8')
console.log(`memory        ${(Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024).toFixed(0)} MiB`)
for (const { child } of [ours, echo]) child.kill('SIGTERM')
await new Promise((resolve) => ours.child.once('exit', resolve))
rmSync(folder, { recursive: true, force: true })
