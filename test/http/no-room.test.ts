/** A server whose disk takes nothing any more: what is there can be read, and nothing is said to be kept that is not. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PROGRAM } from '../support/run-cli.ts'

let folder: string
let child: ChildProcess
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-no-room-'))
})
afterEach(async () => {
  const ended = once(child, 'close')
  child.kill('SIGKILL')
  await ended
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

const canLimit = spawnSync('prlimit', ['--version']).status === 0

/** Files of the server grow to this size and no further; undefined: as they like. */
function limitFiles(bytes: number | undefined): void {
  const { status } = spawnSync('prlimit', [
    '--pid',
    String(child.pid),
    `--fsize=${bytes ?? 'unlimited'}:unlimited`,
  ])
  expect(status).toBe(0)
}

it.skipIf(!canLimit)(
  'goes on reading while the disk is full, and writes again when there is room',
  async () => {
    // A file that is too long is an error of the write and not the end of the process.
    child = spawn('bash', ['-c', `trap '' XFSZ; exec "${process.execPath}" "${PROGRAM}" serve --port 0`], {
      env: {
        ...process.env,
        COMMONPLACE_DATA: folder,
        COMMONPLACE_EMBEDDER: 'off',
        COMMONPLACE_WORKERS: '0',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let printed = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text))
    await expect.poll(() => printed, { timeout: 30_000 }).toMatch(/Sign in, .* at \S+\n/)
    const base = /is at (\S+)/.exec(printed)![1]!
    const link = / at (\S+sign-in\?link=\S+)/.exec(printed)![1]!
    const cookie = await signIn(base, link)
    const csrf = await csrfOf(base, cookie)
    const call = async (tool: string, args: object): Promise<{ status: number; code?: string }> => {
      const response = await fetch(`${base}/api/tools/${tool}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie, 'x-csrf-token': csrf, origin: base },
        body: JSON.stringify(args),
      })
      const { code } = (await response.json()) as { code?: string }
      return { status: response.status, ...(code !== undefined && { code }) }
    }
    const save = { url: 'https://birds.example/wren' }
    expect(await call('list_items', {})).toEqual({ status: 200 })

    limitFiles(1)
    for (let n = 0; n < 5; n++) expect(await call('list_items', {})).toEqual({ status: 200 })
    expect((await call('queue_save', save)).status).toBe(507)
    expect((await fetch(`${base}/readyz`)).status).toBe(503)

    limitFiles(undefined)
    expect((await call('queue_save', save)).status).toBe(200)
    expect((await fetch(`${base}/readyz`)).status).toBe(200)
  },
)

/** The cookie of a session that a printed link begins: the page behind it asks before. */
async function signIn(base: string, link: string): Promise<string> {
  const page = await fetch(link)
  const sent = page.headers.getSetCookie().map((one) => one.split(';')[0]!)
  const fields = new URLSearchParams()
  for (const [, name, value] of (await page.text()).matchAll(/name="(\w+)" value="([^"]*)"/g))
    fields.append(name!, value!)
  const signedIn = await fetch(`${base}/sign-in`, {
    method: 'POST',
    headers: { cookie: sent.join('; '), origin: base },
    body: fields,
    redirect: 'manual',
  })
  return signedIn.headers.getSetCookie().map((one) => one.split(';')[0]!)[0]!
}

async function csrfOf(base: string, cookie: string): Promise<string> {
  const page = await (await fetch(`${base}/account`, { headers: { cookie } })).text()
  return /name="csrf" value="([^"]+)"/.exec(page)![1]!
}
