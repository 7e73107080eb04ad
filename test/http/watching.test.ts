/** What an operator sees of a server: its metrics and its log. Neither holds what readers read, write or ask for. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { SCOPES } from '../../src/core/define-tool.ts'
import { PROGRAM } from '../support/run-cli.ts'

const METRICS_TOKEN = 'planted-metrics-token'
let folder: string
let child: ChildProcess
let base: string
let log: string
let token: string

async function start(env: Record<string, string> = {}): Promise<void> {
  child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0'], {
    env: {
      ...process.env,
      COMMONPLACE_DATA: folder,
      COMMONPLACE_EMBEDDER: 'off',
      COMMONPLACE_LOG: 'requests',
      COMMONPLACE_METRICS_TOKEN: METRICS_TOKEN,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  log = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text))
  let printed = ''
  const link = await new Promise<string>((resolve, reject) => {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      const found = /Sign in, once and within a day, at (\S+)\n/.exec(printed)?.[1]
      if (found) resolve(found)
    })
    child.once('exit', () => reject(new Error(log)))
  })
  base = new URL(link).origin
  token = await makeToken(link)
}

/** A browser that keeps cookies and hands in the forms of a page. */
function browser() {
  const jar = new Map<string, string>()
  const send = async (url: string, init: RequestInit = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie, origin: base } })
    for (const set of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (name && value !== undefined) jar.set(name, value)
    }
    return response
  }
  return async (at: string, action: string, fields: readonly [string, string][]) => {
    const page = await (await send(at)).text()
    const form = page.split('<form').find((each) => each.includes(`action="${action}"`)) ?? ''
    const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)]
    const body = new URLSearchParams([
      ...hidden.map(([, name = '', value = '']): [string, string] => [name, value]),
      ...fields,
    ])
    return await send(base + action, { method: 'POST', body })
  }
}

/** Signs in by the link and makes a token on the account page, as a person does. */
async function makeToken(link: string): Promise<string> {
  const submit = browser()
  expect((await submit(link, '/sign-in', [])).status).toBe(303)
  const made = await submit(`${base}/account`, '/account/make-token', [
    ['name', 'planted-token-name'],
    ...SCOPES.map((scope): [string, string] => ['scope', scope]),
  ])
  const found = /<code>([\w-]{20,})<\/code>/.exec(await made.text())?.[1]
  if (found === undefined) throw new Error(`no token was shown: ${made.status}`)
  return found
}

const call = (name: string, args: object, bearer = token) =>
  fetch(`${base}/api/tools/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(args),
  })

const metrics = async (): Promise<string> => {
  const response = await fetch(`${base}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  return await response.text()
}

async function stop(): Promise<Record<string, unknown>[]> {
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  await ended
  return log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-watching-'))
})
afterEach(() => {
  child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

describe('metrics', () => {
  it('count requests, calls and sign-ins, without anything that callers made up', async () => {
    await start()
    await call('list_items', {})
    await call('list_items', { planted: 1 })
    await fetch(`${base}/planted/path?planted=1`, { headers: { host: 'planted.example' } })
    await fetch(`${base}/planted/path?planted=1`)
    await fetch(`${base}/mcp`, { method: 'POST', body: 'planted' })
    await browser()(`${base}/sign-in`, '/sign-in', [
      ['email', 'planted@example.org'],
      ['password', 'planted-password'],
    ])
    const text = await metrics()
    expect(text).not.toContain('planted')
    for (const line of [
      'commonplace_tool_calls_total{tool="list_items",outcome="ok"} 1',
      'commonplace_tool_calls_total{tool="list_items",outcome="invalid_input"} 1',
      'commonplace_tool_call_seconds_count{tool="list_items"} 2',
      'commonplace_tool_call_seconds_bucket{le="+Inf",tool="list_items"} 2',
      'commonplace_http_requests_total{route="api_tool",status="200"} 1',
      'commonplace_http_requests_total{route="other",status="404"} 2',
      'commonplace_http_requests_total{route="mcp",status="401"} 1',
      'commonplace_sign_ins_total{outcome="ok"} 1',
      'commonplace_open_libraries 1',
      'commonplace_libraries_due 0',
      'commonplace_sign_ins_total{outcome="refused"} 1',
      'commonplace_info{version="0.1.0"} 1',
    ])
      expect(text.split('\n')).toContain(line)
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds \d/m)
    expect(text).toMatch(/^process_resident_memory_bytes \d/m)
    // Every line is one of the format: a comment, or a name with labels and a number.
    for (const line of text.trim().split('\n'))
      expect(line).toMatch(/^(#( .*)?|[a-z][a-z\d_]*(\{([a-z]+="[^"]*",?)*\})? (\d[\d.e+-]*|\+Inf|NaN)|)$/)
  })

  it('count what is refused because there is too much of it', async () => {
    await start({ COMMONPLACE_READS_PER_MINUTE: '1' })
    await call('list_items', {})
    expect((await call('list_items', {})).status).toBe(429)
    expect(await metrics()).toContain('commonplace_rate_limited_total{what="calls"} 1')
  })

  it('are for whoever has the token', async () => {
    await start()
    for (const authorization of ['', 'Bearer', 'Bearer planted', `Basic ${METRICS_TOKEN}`, `Bearer ${token}`])
      expect((await fetch(`${base}/metrics`, { headers: { authorization } })).status).toBe(401)
  })

  it('are not there where no token was set', async () => {
    await start({ COMMONPLACE_METRICS_TOKEN: '' })
    expect((await fetch(`${base}/metrics`)).status).toBe(404)
    expect((await fetch(`${base}/metrics`, { headers: { authorization: 'Bearer ' } })).status).toBe(404)
  })
})

describe('the log', () => {
  it('holds nothing of what readers read, write or ask for, however busy the server was', async () => {
    const page = `<title>planted-title</title><article>${'<p>planted words of a page</p>'.repeat(40)}</article>`
    const web = createServer((_req, res) => res.setHeader('content-type', 'text/html').end(page))
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void web.close())
    const { port } = web.address() as AddressInfo
    await start({ COMMONPLACE_ALLOW_HOSTS: '127.0.0.1' })
    const saved = await call('save_url', { url: `http://127.0.0.1:${port}/planted`, note: 'planted-note' })
    expect(await saved.json()).toMatchObject({ state: 'captured' })
    await call('save_url', { url: 'http://127.0.0.1:1/planted' })
    await call('search_library', { query: 'planted-query' })
    await call('list_items', { tag: 'planted-tag', nothing: 'planted-argument' })
    await call('planted-tool', {})
    await call('list_items', {}, 'planted-bearer')
    await fetch(`${base}/planted-path?planted=query`, { headers: { 'x-forwarded-for': 'planted-address' } })
    await fetch(`${base}/sign-in?link=planted-link&next=/planted`, { headers: { referer: 'http://planted' } })
    await fetch(`${base}/oauth/authorize?client_id=planted&state=planted`, { redirect: 'manual' })
    await fetch(`${base}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'authorization_code', code: 'planted-code' }),
    })
    const submit = browser()
    await submit(`${base}/sign-in`, '/sign-in', [
      ['email', 'planted@example.org'],
      ['password', 'planted-password'],
    ])
    await metrics()
    const lines = await stop()
    expect(log).not.toMatch(/planted/i)
    expect(log).not.toContain(token)
    expect(lines.filter(({ msg }) => msg === 'request').length).toBeGreaterThan(12)
    // A line holds these and nothing else.
    const known = new Set('time level msg request method path status ms unfinished url port host'.split(' '))
    for (const line of lines) expect(Object.keys(line).filter((key) => !known.has(key))).toEqual([])
  })

  it('names each request as its answer does', async () => {
    await start()
    const { headers } = await call('list_items', {})
    const id = headers.get('x-request-id')
    expect(id).toMatch(/^[\da-f]{12}-[\da-z]+$/)
    expect(await stop()).toContainEqual(
      expect.objectContaining({ request: id, path: '/api/tools/list_items', status: 200 }),
    )
  })
})

describe('the end', () => {
  it('is told to whoever shares out requests before the door is shut', async () => {
    await start({ COMMONPLACE_PROXIES: '1' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    let status = 200
    while (status === 200) status = (await fetch(`${base}/readyz`)).status
    expect(status).toBe(503)
    expect((await fetch(`${base}/healthz`)).status).toBe(200)
    expect((await call('list_items', {})).status).toBe(200)
    expect(await ended).toBe(0)
  })
})
