#!/usr/bin/env node
// Cold start of the stdio server, as a ratio to `node -e 0` in the same run: every round starts both, one after the other.
//   node bench/start.mjs [--rounds 15] [--library DIR] [--idle SECONDS]
// With --idle, one server more is left alone for so long, and its memory then is printed: background work has ended by then.
// NODE_EXTRA_CA_CERTS is left out of both: Node 20 parses it at every start, and that flatters the ratio.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    library: { type: 'string' },
    idle: { type: 'string' },
  },
})
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env
const folder = values.library ?? mkdtempSync(join(tmpdir(), 'commonplace-start-'))

const message = (id, method, params) => JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n'
const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
}

/** Milliseconds from the start of a process that does nothing to its end. */
const bare = () =>
  new Promise((resolve) => {
    const begun = performance.now()
    spawn(process.execPath, ['-e', '0'], { env, stdio: 'ignore' }).on('exit', () =>
      resolve(performance.now() - begun),
    )
  })

/** Milliseconds from the start of the server to each of its first two answers, and its memory a moment later. */
const server = (restMs = 50) =>
  new Promise((resolve, reject) => {
    const begun = performance.now()
    const child = spawn(process.execPath, [main, 'mcp', '--library', folder], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const at = []
    let rest = ''
    child.stdout.on('data', (chunk) => {
      rest += chunk
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        rest = rest.slice(end + 1)
        at.push(performance.now() - begun)
        if (at.length === 1) child.stdin.write(message(2, 'tools/list', {}))
        if (at.length === 2) setTimeout(finish, restMs)
      }
    })
    const finish = () => {
      const status = process.platform === 'linux' ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : ''
      const rss = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
      child.once('exit', () => resolve({ initialize: at[0], list: at[1], rss }))
      child.stdin.end()
    }
    child.once('error', reject)
    child.stdin.write(message(1, 'initialize', initialize))
  })

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const show = (values) =>
  `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)}..${Math.max(...values).toFixed(1)})`

await server() // makes the library, and warms the file cache
const rows = []
for (let round = 0; round < Number(values.rounds); round++)
  rows.push({ node: await bare(), ...(await server()) })
console.log(`rounds ${rows.length}`)
console.log(`node -e 0            ${show(rows.map(({ node }) => node))} ms`)
console.log(`initialize           ${show(rows.map(({ initialize }) => initialize))} ms`)
console.log(`tools/list           ${show(rows.map(({ list }) => list))} ms`)
console.log(`initialize / node    ${show(rows.map(({ initialize, node }) => initialize / node))}`)
console.log(`tools/list / node    ${show(rows.map(({ list, node }) => list / node))}`)
console.log(`memory after both    ${show(rows.map(({ rss }) => rss))} MiB`)
if (values.idle) {
  const { rss } = await server(Number(values.idle) * 1000)
  console.log(`memory when idle     ${rss.toFixed(1)} MiB after ${values.idle} s`)
}
if (!values.library) rmSync(folder, { recursive: true, force: true })
