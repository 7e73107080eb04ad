// `npm start`, as the README has it: says where it is and how to sign in, serves the library of `commonplace mcp`, and ends.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'commonplace-start-'))
const env = { ...process.env, XDG_DATA_HOME: home, COMMONPLACE_PORT: '0', NO_COLOR: '1' }
for (const name of ['COMMONPLACE_LIBRARY', 'COMMONPLACE_DATA', 'COMMONPLACE_URL', 'COMMONPLACE_DEBUG'])
  delete env[name]

let passed = 0
let failed = 0
function check(ok, what, detail = '') {
  if (ok) passed++
  else failed++
  if (!ok) process.stdout.write(`failed: ${what}\n${detail}\n`)
}

const child = spawn('npm', ['start'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
let said = ''
const ended = new Promise((resolve) => child.once('close', resolve))
try {
  const link = await new Promise((resolve) => {
    const listen = (chunk) => {
      said += chunk
      const found = /Sign in, once and within a day, at (\S+)\n/.exec(said)?.[1]
      if (found) resolve(found)
    }
    child.stdout.setEncoding('utf8').on('data', listen)
    child.stderr.setEncoding('utf8').on('data', listen)
    void ended.then(() => resolve(undefined))
  })
  const base = /Commonplace is at (http:\/\/localhost:\d+)\n/.exec(said)?.[1]
  check(
    link !== undefined && link.startsWith(`${base}/sign-in?link=`),
    'the address and the link are printed',
    said,
  )
  check(said.includes(`Assistants connect to ${base}/mcp\n`), 'the address for assistants is printed', said)
  if (link && base) {
    check((await fetch(`${base}/readyz`)).status === 200, 'it is ready')
    const page = await (await fetch(link)).text()
    check(page.includes('action="/sign-in"'), 'the link shows a button to sign in', page)
    check((await fetch(`${base}/mcp`, { method: 'POST' })).status === 401, 'MCP asks who calls')
    const added = spawnSync(process.execPath, ['dist/main.js', 'add', '-', '--title', 'A note', '--json'], {
      cwd: root,
      env,
      input: 'A note beside the server.\n',
      encoding: 'utf8',
    })
    check(added.status === 0, 'the command line writes to the library meanwhile', added.stderr)
    for (const file of ['library.db', 'server.db'])
      check(existsSync(join(home, 'commonplace', file)), `${file} lies in the folder of the reader's library`)
  }
} finally {
  if (child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
  await ended
  check(/"msg":"ended"/.test(said), 'it ends in order', said)
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}
process.stdout.write(`start: ${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
