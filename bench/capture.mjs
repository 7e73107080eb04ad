#!/usr/bin/env node
// Captures of large and of hostile pages and files by the built program: time, peak memory of the whole process (workers
// included), and how long its event loop stood still.
//
//   node bench/capture.mjs [--only large,server,hostile] [--embedder off|builtin] [--json]
//
// large: a 300-page PDF, pages and texts of 5 MB through `commonplace add FILE --wait`. server: the same through one stdio
// server, which answers a ping every 20 ms meanwhile. hostile: what must end in a failure in time.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { bundle } from '../scripts/bundle.mjs'

const { values: options } = parseArgs({
  options: {
    embedder: { type: 'string', default: 'off' },
    only: { type: 'string', default: 'large,server,hostile' },
    json: { type: 'boolean', default: false },
  },
})
const wanted = new Set(options.only.split(','))
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const watch = new URL('watch-process.mjs', import.meta.url).href
const folder = mkdtempSync(join(tmpdir(), 'commonplace-capture-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const parts = await bundle('bench/capture-parts.ts')
const MB = 1_000_000
const large = {
  'page-of-5-mb.html': parts.longPage(4.95 * MB),
  'dense-page-of-5-mb.html': parts.densePage(4.95 * MB),
  'pdf-of-300-pages.pdf': parts.longPdf(300),
  'text-of-5-mb.txt': parts.plainText(5 * MB),
  'markdown-of-5-mb.md': parts.markdownText(5 * MB),
}
const TYPES = { html: 'text/html', pdf: 'application/pdf', txt: 'text/plain', md: 'text/markdown' }

const SENTENCE = 'Slow reading helps people to remember what a book says about their lives. '
const hostile = {
  '/nested-divs': (response) => response.end(`<html>${'<div>'.repeat(10_000)}<p>${SENTENCE.repeat(9)}`),
  '/unclosed-tags': (response) => response.end(`<html>${`<p><b><i>${SENTENCE}`.repeat(20_000)}`),
  '/endless-body': async (response) => {
    while (!response.destroyed) {
      response.write(`<p>${SENTENCE.repeat(1_000)}</p>`)
      await sleep(1)
    }
  },
  '/gzip-bomb': (response) => {
    response.setHeader('content-encoding', 'gzip')
    const gzip = createGzip({ level: 9 })
    gzip.pipe(response)
    const blanks = Buffer.alloc(4 * 2 ** 20, ' ')
    for (let i = 0; i < 64; i++) gzip.write(blanks)
    gzip.end()
  },
  '/slow-drip': async (response) => {
    response.write('<html><title>Slow</title>')
    while (!response.destroyed) {
      response.write('<p>')
      await sleep(500)
    }
  },
  '/silence': () => {},
  '/slow-headers': async (response) => {
    response.socket.write('HTTP/1.1 200 OK\r\n')
    for (let i = 0; !response.socket.destroyed; i++) {
      response.socket.write(`X-${i}: a\r\n`)
      await sleep(500)
    }
  },
}

const server = createServer((request, response) => {
  const path = request.url ?? '/'
  response.on('error', () => {})
  const name = path.slice(1)
  if (Object.hasOwn(large, name)) {
    response.setHeader('content-type', TYPES[name.split('.').pop()])
    response.end(large[name])
  } else if (Object.hasOwn(hostile, path)) {
    response.setHeader('content-type', 'text/html')
    void hostile[path](response)
  } else {
    response.statusCode = 404
    response.end('Not found')
  }
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${server.address().port}`

const report = {}
if (wanted.has('large')) report.large = await captureLarge()
if (wanted.has('server')) report.server = await captureInServer()
if (wanted.has('hostile')) report.hostile = await captureHostile()
if (options.json) console.log(JSON.stringify(report, null, 2))
server.close()
server.closeAllConnections()

async function captureLarge() {
  print(['add FILE --wait', 'seconds', 'peak MiB', 'longest stall ms', 'outcome'])
  const rows = []
  for (const [name, content] of Object.entries(large)) {
    const file = join(folder, name)
    writeFileSync(file, content)
    rows.push(await add(name, file))
  }
  return rows
}

async function captureHostile() {
  print(['add URL --wait', 'seconds', 'peak MiB', 'longest stall ms', 'outcome'])
  const rows = []
  for (const path of Object.keys(hostile)) rows.push(await add(path, `http://${host}${path}`))
  return rows
}

/** `commonplace add` in a library of its own. */
async function add(name, what) {
  const library = mkdtempSync(join(folder, 'library-'))
  const told = join(folder, 'watched.json')
  const begun = performance.now()
  const { code, stdout } = await run(['add', what, '--wait', '--json', '--library', library], told)
  const seconds = (performance.now() - begun) / 1000
  const { peakMb, max } = JSON.parse(readFileSync(told, 'utf8'))
  const [{ state, item, failure }] = JSON.parse(stdout).items
  const outcome = failure ? `${failure.code} (exit ${code})` : `${state}, ${item.words} words`
  const row = { name, seconds, peakMb, stallMs: max, code, outcome }
  print([name, seconds.toFixed(1), peakMb.toFixed(0), max.toFixed(0), outcome])
  return row
}

function start(args, told) {
  return spawn(process.execPath, ['--import', watch, main, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...process.env,
      COMMONPLACE_ALLOW_HOSTS: host,
      COMMONPLACE_EMBEDDER: options.embedder,
      COMMONPLACE_BENCH_WATCH: told,
    },
  })
}

function run(args, told) {
  return new Promise((resolve, reject) => {
    const child = start(args, told)
    let stdout = ''
    child.stdin.end()
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout }))
  })
}

async function captureInServer() {
  const told = join(folder, 'watched.json')
  const child = start(['mcp', '--library', mkdtempSync(join(folder, 'library-'))], told)
  const waiting = new Map()
  let rest = ''
  let ids = 0
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    rest += chunk
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const message = JSON.parse(rest.slice(0, end))
      rest = rest.slice(end + 1)
      waiting.get(message.id)?.(message)
      waiting.delete(message.id)
    }
  })
  const ask = (method, params = {}) =>
    new Promise((resolve) => {
      waiting.set(++ids, resolve)
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ids, method, params })}\n`)
    })
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  })
  await sleep(1_000)
  print(['save_url in a server', 'seconds', 'pings', 'ping p50 ms', 'p99', 'longest', 'peak MiB', 'outcome'])
  const rows = []
  for (const name of Object.keys(large)) {
    const pings = []
    const pending = []
    const begun = performance.now()
    const timer = setInterval(() => {
      const asked = performance.now()
      pending.push(ask('ping').then(() => pings.push(performance.now() - asked)))
    }, 20)
    const { result } = await ask('tools/call', {
      name: 'save_url',
      arguments: { url: `http://${host}/${name}` },
    })
    clearInterval(timer)
    await Promise.all(pending)
    const seconds = (performance.now() - begun) / 1000
    pings.sort((a, b) => a - b)
    const at = (share) => pings[Math.min(pings.length - 1, Math.floor(pings.length * share))] ?? 0
    const outcome = result.isError ? result.structuredContent.code : result.structuredContent.state
    const row = {
      name,
      seconds,
      pings: pings.length,
      p50: at(0.5),
      p99: at(0.99),
      max: at(1),
      peakMb: peakOf(child.pid),
      outcome,
    }
    print([
      name,
      seconds.toFixed(1),
      pings.length,
      row.p50.toFixed(1),
      row.p99.toFixed(1),
      row.max.toFixed(0),
      row.peakMb.toFixed(0),
      outcome,
    ])
    rows.push(row)
  }
  child.stdin.end()
  await new Promise((resolve) => child.once('close', resolve))
  const watched = JSON.parse(readFileSync(told, 'utf8'))
  print(['the whole server', '', '', '', '', watched.max.toFixed(0), `peak ${watched.peakMb.toFixed(0)} MiB`])
  return { rows, watched }
}

/** Peak memory so far, where the system tells (Linux). */
function peakOf(pid) {
  const status = process.platform === 'linux' ? readFileSync(`/proc/${pid}/status`, 'utf8') : ''
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

function print(cells) {
  if (options.json) return
  const widths = [26, 9, 9, 17, 9, 9, 9, 30]
  console.log(
    cells
      .map((cell, at) => (at === 0 ? String(cell).padEnd(widths[0]) : String(cell).padStart(widths[at])))
      .join('  '),
  )
}
