// A real server as a process of its own, and what is measured of it: the CPU and memory of that process alone, from /proc (Linux).
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** Limits that no measurement meets. */
const NO_LIMITS = {
  COMMONPLACE_READS_PER_MINUTE: '1000000',
  COMMONPLACE_READS_PER_DAY: '100000000',
  COMMONPLACE_WRITES_PER_MINUTE: '1000000',
  COMMONPLACE_WRITES_PER_DAY: '100000000',
}

/** Starts `commonplace serve` on a data folder, its log apart; resolves once it listens. */
export const startServer = (folder, env = {}) =>
  start([main, 'serve', '--port', '0'], {
    COMMONPLACE_DATA: folder,
    COMMONPLACE_EMBEDDER: 'off',
    ...NO_LIMITS,
    ...env,
  })

/** Starts a program that prints the address it serves as `at http://host:port`. */
export async function start(args, env = {}) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // A measurement that fails leaves nothing running.
  process.once('exit', () => child.kill('SIGKILL'))
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => (log = (log + chunk).slice(-100_000)))
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  const port = await new Promise((resolve, reject) => {
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      const found = /at http:\/\/[^:\s]+:(\d+)[\s\S]*\/mcp\n/.exec(text)?.[1]
      if (found) resolve(Number(found))
    })
    void ended.then(() => reject(new Error(`the server ended: ${log}`)))
  })
  return {
    port,
    pid: child.pid,
    ended,
    log: () => log,
    async stop() {
      child.kill('SIGTERM')
      return await ended
    },
  }
}

/** CPU seconds of a process, its threads included. */
export function cpuOf({ pid }) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Memory of a process in MiB: now, and at its most. */
export function memoryOf({ pid }) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]) / 1024
  return { now: of('VmRSS'), most: of('VmHWM') }
}

/** The body of a tool call over MCP. */
export const callOf = (name, args) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })

/** Posts one body as an assistant does; gives the answer's status and text. */
export const post = (agent, port, path, token, body) =>
  new Promise((resolve, reject) => {
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
        res.on('end', () => resolve({ status: res.statusCode, text }))
      },
    )
    req.on('error', reject)
    req.end(body)
  })

/** Throws unless a tool call succeeded. */
export function checkAnswer({ status, text }) {
  if (status !== 200 || !text.includes('structuredContent') || text.includes('isError'))
    throw new Error(`${status} ${text.slice(0, 300)}`)
}

export const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]
export const percentile = (list, part) =>
  list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))]
