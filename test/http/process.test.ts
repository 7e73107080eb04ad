/** `commonplace serve` as a process: how it starts, what it prints where, and how it ends. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PROGRAM } from '../support/run-cli.ts'

let folder: string
let children: ChildProcess[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-serve-'))
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

interface Serving {
  child: ChildProcess
  url: string
  stdout(): string
  stderr(): string
  ended: Promise<number | null>
}

function spawnServe(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [PROGRAM, 'serve', ...args], {
    env: { ...process.env, COMMONPLACE_DATA: folder, COMMONPLACE_EMBEDDER: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, ended, stdout: () => stdout, stderr: () => stderr }
}

async function start(env: Record<string, string> = {}): Promise<Serving> {
  const served = spawnServe(['--port', '0'], env)
  const url = await new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const found = /Commonplace is at (\S+)\n(?:.*\n)*?.*\/mcp\n/.exec(served.stdout())?.[1]
      if (found) resolve(found)
    }
    served.child.stdout!.on('data', () => setImmediate(look))
    void served.ended.then(() => reject(new Error(served.stderr())))
  })
  return { ...served, url }
}

describe('commonplace serve', () => {
  it('serves, says where to sign in once, and ends when it is told to', async () => {
    const first = await start()
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const link = /Sign in, once and within a day, at (\S+)/.exec(first.stdout())?.[1]
    expect(link).toMatch(new RegExp(`^${first.url}/sign-in\\?link=`))
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    const lines = first
      .stderr()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string })
    expect(lines.map(({ msg }) => msg)).toEqual(['serving', 'ending', 'ended'])
    expect(first.stderr()).not.toContain('link=')
    // Closed properly, everything lies in the one file.
    expect(existsSync(join(folder, 'server.db'))).toBe(true)
  })

  it('finishes an answer that it has begun', async () => {
    const { child, url, ended } = await start({ COMMONPLACE_LOG: 'requests' })
    const agent = await fetch(`${url}/api/openapi.json`)
    child.kill('SIGTERM')
    expect(await agent.json()).toMatchObject({ openapi: '3.1.1' })
    expect(await ended).toBe(0)
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  })

  it('logs requests without what was asked, where that is wanted', async () => {
    const { child, url, ended, stderr } = await start({ COMMONPLACE_LOG: 'requests' })
    await fetch(`${url}/mcp?secret=1`)
    await fetch(`${url}/a-private-word`)
    child.kill('SIGTERM')
    await ended
    expect(stderr()).toContain('"method":"GET","path":"/mcp","status":401')
    expect(stderr()).toContain('"path":"other","status":404')
    expect(stderr()).not.toMatch(/secret|private/)
  })

  it('does not start where something is wrong, and names it', async () => {
    const busy = await start()
    const { port } = new URL(busy.url)
    for (const [args, env, words] of [
      [['--port', port], {}, /port \d+: another program has it/],
      [[], { COMMONPLACE_URL: 'books' }, /^COMMONPLACE_URL takes an address/],
      [['--port', 'many'], {}, /^COMMONPLACE_PORT takes a whole number/],
      [['--read-only'], {}, /reading only/],
      [
        [],
        { COMMONPLACE_DATA: PROGRAM },
        /folder of the server's data cannot be written to[^]*COMMONPLACE_DATA takes/,
      ],
      [
        [],
        { COMMONPLACE_DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' },
        /^The database does not answer(?![^]*secret)[^]*COMMONPLACE_DATABASE_URL[^]*start again/,
      ],
    ] as const) {
      const refused = spawnServe(args, env)
      expect(await refused.ended).not.toBe(0)
      expect(refused.stderr()).toMatch(words)
    }
    expect((await fetch(`${busy.url}/healthz`)).status).toBe(200)
  })

  it('explains its configuration, and makes nothing by that', async () => {
    const data = join(folder, 'not-there')
    const checked = spawnServe(['--check-config', '--json'], {
      COMMONPLACE_DATA: data,
      COMMONPLACE_URL: 'http://books.example',
    })
    expect(await checked.ended).toBe(0)
    const { settings, warnings } = JSON.parse(checked.stdout()) as {
      settings: { name: string; value: string; from: string }[]
      warnings: string[]
    }
    expect(settings).toContainEqual(
      expect.objectContaining({ name: 'COMMONPLACE_DATA', value: data, from: 'environment' }),
    )
    expect(warnings.join()).toMatch(/not https/)
    expect(existsSync(data)).toBe(false)
  })
})
