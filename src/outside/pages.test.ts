import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Failure } from '../core/failure.ts'
import type { FetchOptions } from '../core/outside.ts'
import { createPages } from './pages.ts'

const PAGE = '<!doctype html><p>Hello, reader.</p>'
const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/page': (_request, response) => response.setHeader('content-type', 'text/html').end(PAGE),
  '/empty': (_request, response) => response.setHeader('content-encoding', 'gzip').end(),
  '/gzip': (_request, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(PAGE)),
  '/br': (_request, response) => response.setHeader('content-encoding', 'br').end(brotliCompressSync(PAGE)),
  '/deflate': (_request, response) =>
    response.setHeader('content-encoding', 'deflate').end(deflateSync(PAGE)),
  '/deflate-raw': (_request, response) =>
    response.setHeader('content-encoding', 'deflate').end(deflateRawSync(PAGE)),
  '/stacked': (_request, response) =>
    response.setHeader('content-encoding', 'gzip, gzip').end(gzipSync(gzipSync(PAGE))),
  '/strange-encoding': (_request, response) => response.setHeader('content-encoding', 'zstd').end('x'),
  '/damaged': (_request, response) => response.setHeader('content-encoding', 'gzip').end('no gzip at all'),
  '/gzip-bomb': (_request, response) =>
    response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(40_000_000))),
  '/br-bomb': (_request, response) =>
    response.setHeader('content-encoding', 'br').end(brotliCompressSync(Buffer.alloc(40_000_000))),
  '/announced': (_request, response) => {
    response.setHeader('content-length', '900000000')
    response.write('x')
  },
  '/endless': (_request, response) => {
    const block = Buffer.alloc(65_536, 'x')
    const more = () => {
      while (!response.destroyed && response.write(block));
    }
    response.on('drain', more)
    more()
  },
  '/drip': (_request, response) => {
    const timer = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(timer))
  },
  '/silent': () => {},
  '/hop/5': (_request, response) => response.writeHead(302, { location: '/page' }).end(),
  '/loop': (_request, response) => response.writeHead(301, { location: '/loop' }).end(),
  '/lost': (_request, response) => response.writeHead(302).end(),
  '/to-metadata': (_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end(),
  '/to-file': (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/to-user': (_request, response) => response.writeHead(302, { location: 'http://a:b@example.org/' }).end(),
  '/to-private-name': (_request, response) =>
    response.writeHead(302, { location: 'http://private.example/' }).end(),
  '/sent': async (request, response) => {
    let body = ''
    for await (const part of request) body += String(part)
    response.end(JSON.stringify({ body, method: request.method, headers: request.headers }))
  },
  '/sent-away': (_request, response) => response.writeHead(307, { location: '/sent' }).end(),
  '/headers': (request, response) => response.end(JSON.stringify(request.headers)),
  '/cookie': (request, response) =>
    request.headers.cookie === 'seen=1'
      ? response.end(PAGE)
      : response.writeHead(302, { location: '/cookie', 'set-cookie': 'seen=1; Path=/; HttpOnly' }).end(),
  '/busy': (_request, response) => response.writeHead(429, { 'retry-after': '120' }).end(),
  '/cut': (_request, response) => {
    response.setHeader('content-length', '100')
    response.write('half', () => response.destroy())
  },
}
for (const hop of [0, 1, 2, 3, 4]) {
  routes[`/hop/${hop}`] = (_request, response) =>
    response.writeHead(302, { location: `/hop/${hop + 1}` }).end()
}
for (const status of [401, 403, 404, 410, 451, 500]) {
  routes[`/status/${status}`] = (_request, response) => response.writeHead(status).end()
}

let server: Server
let base: string
let port: number
let hits = 0

beforeAll(async () => {
  server = createServer((request, response) => {
    hits++
    const route = routes[request.url ?? '']
    if (route) route(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  base = `http://127.0.0.1:${port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const open = () => createPages({ allow: [`127.0.0.1:${port}`] })
const get = (path: string, options?: FetchOptions) => open().fetch(base + path, options)

async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(Failure)
  const failure = error as Failure
  expect(failure.hint).not.toBe('')
  return failure
}

describe('a page', () => {
  it('comes with its address, status, headers and bytes', async () => {
    const page = await get('/page#part')
    expect(page).toMatchObject({
      url: `${base}/page#part`,
      status: 200,
      headers: { 'content-type': 'text/html' },
    })
    expect(Buffer.from(page.bytes).toString()).toBe(PAGE)
  })

  it.each(['/gzip', '/br', '/deflate', '/deflate-raw'])('is decompressed (%s)', async (path) => {
    expect(Buffer.from((await get(path)).bytes).toString()).toBe(PAGE)
  })

  it('may be empty', async () => {
    expect((await get('/empty')).bytes).toHaveLength(0)
  })

  it('is found over five redirects, and keeps the fragment', async () => {
    const page = await get('/hop/1#part')
    expect(page.url).toBe(`${base}/page#part`)
  })

  it('gets its own cookies back over a redirect', async () => {
    expect(Buffer.from((await get('/cookie')).bytes).toString()).toBe(PAGE)
  })

  it('takes what is sent, as JSON, to the place it is sent to and no other', async () => {
    const pages = open()
    const json = { of: 'ours' }
    const { bytes } = await pages.fetch(`${base}/sent`, { json, headers: { 'user-agent': 'Player/1' } })
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({
      body: '{"of":"ours"}',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Player/1' },
    })
    expect((await failureOf(pages.fetch(`${base}/sent-away`, { json }))).code).toBe('fetch_failed')
  })

  it('is asked for with our name and what we accept', async () => {
    const pages = createPages({ allow: ['127.0.0.0/8'], userAgent: 'Reader/1' })
    const { bytes } = await pages.fetch(`${base}/headers`, { accept: 'application/pdf' })
    expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({
      'user-agent': 'Reader/1',
      accept: 'application/pdf',
      'accept-encoding': 'gzip, deflate, br',
    })
  })
})

describe('an address that must not be fetched', () => {
  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://localhost./',
    'http://0/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://017700000001/',
    'http://127.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::7f00:1]/',
    'http://[fd00::1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://169.254.169.254/',
    'http://10.0.0.1/',
    'http://100.64.0.1/',
    'http://192.0.2.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://8.8.8.8:22/',
    'https://8.8.8.8:8443/',
  ])('%s is private', async (url) => {
    expect((await failureOf(createPages().fetch(url))).code).toBe('private_address')
  })

  it.each([
    '',
    'example',
    'example.org/page',
    'file:///etc/passwd',
    'ftp://example.org/',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://',
    'http://user@example.org/',
    'http://user:pass@example.org/',
    'http://a b/',
    `https://example.org/${'a'.repeat(9000)}`,
  ])('%s is no address for us', async (url) => {
    expect((await failureOf(createPages().fetch(url))).code).toBe('invalid_url')
  })

  it('is refused when only one answer of the name server is private', async () => {
    const lookUp = async () => [
      { address: '93.184.215.14', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    const failure = await failureOf(createPages({ lookUp }).fetch('http://mixed.example/'))
    expect(failure.code).toBe('private_address')
  })

  it('is asked for once, so that a second answer cannot lead elsewhere', async () => {
    let asked = 0
    const lookUp = async () => {
      asked++
      return [{ address: asked === 1 ? '127.0.0.1' : '10.9.9.9', family: 4 }]
    }
    const pages = createPages({ lookUp, allow: [`rebind.example:${port}`] })
    const page = await pages.fetch(`http://rebind.example:${port}/page`)
    expect(page.status).toBe(200)
    expect(asked).toBe(1)
  })

  it.each([
    ['/to-metadata', 'private_address'],
    ['/to-private-name', 'private_address'],
    ['/to-file', 'invalid_url'],
    ['/to-user', 'invalid_url'],
  ])('is refused behind a redirect (%s)', async (path, code) => {
    const lookUp = async () => [{ address: '10.0.0.8', family: 4 }]
    const pages = createPages({ allow: [`127.0.0.1:${port}`], lookUp })
    expect((await failureOf(pages.fetch(base + path))).code).toBe(code)
  })

  it('never reaches the server', async () => {
    const before = hits
    await failureOf(createPages().fetch(`${base}/page`))
    await failureOf(createPages({ allow: ['127.0.0.1:1'] }).fetch(`${base}/page`))
    expect(hits).toBe(before)
  })
})

describe('a page that does not come', () => {
  it.each([
    ['/loop', 'too_many_redirects'],
    ['/hop/0', 'too_many_redirects'],
    ['/lost', 'fetch_failed'],
    ['/status/404', 'page_not_found'],
    ['/status/410', 'page_not_found'],
    ['/status/401', 'page_refused'],
    ['/status/403', 'page_refused'],
    ['/status/451', 'page_refused'],
    ['/status/500', 'fetch_failed'],
    ['/stacked', 'fetch_failed'],
    ['/strange-encoding', 'fetch_failed'],
    ['/damaged', 'fetch_failed'],
    ['/cut', 'fetch_failed'],
    ['/gzip-bomb', 'too_large'],
    ['/br-bomb', 'too_large'],
    ['/endless', 'too_large'],
    ['/announced', 'too_large'],
  ])('%s fails as %s', async (path, code) => {
    expect((await failureOf(get(path, { maxBytes: 1_000_000 }))).code).toBe(code)
  })

  it('says when to come again', async () => {
    const failure = await failureOf(get('/busy'))
    expect(failure).toMatchObject({ code: 'page_refused', retryAfterSeconds: 120, details: { status: 429 } })
  })

  it.each(['/silent', '/drip'])('ends with the deadline (%s)', async (path) => {
    expect((await failureOf(get(path, { deadlineMs: 200 }))).code).toBe('timed_out')
  })

  it('ends with the deadline while the name is looked up', async () => {
    const pages = createPages({ lookUp: () => new Promise(() => {}) })
    expect((await failureOf(pages.fetch('http://slow.example/', { deadlineMs: 50 }))).code).toBe('timed_out')
  })

  it('can be cancelled, before and on the way', async () => {
    expect((await failureOf(get('/page', { signal: AbortSignal.abort() }))).code).toBe('cancelled')
    const controller = new AbortController()
    const failure = failureOf(get('/drip', { signal: controller.signal }))
    setTimeout(() => controller.abort(), 50)
    expect((await failure).code).toBe('cancelled')
  })

  it('says so when no server listens or has the name', async () => {
    const pages = createPages({
      allow: ['127.0.0.1:1'],
      lookUp: () => Promise.reject(new Error('ENOTFOUND')),
    })
    expect((await failureOf(pages.fetch('http://127.0.0.1:1/'))).code).toBe('fetch_failed')
    expect((await failureOf(pages.fetch('http://nowhere.example/'))).code).toBe('fetch_failed')
  })

  it('leaves no connection open', async () => {
    for (const path of ['/page', '/loop', '/status/404', '/endless', '/cut', '/damaged']) {
      await get(path, { maxBytes: 100_000 }).catch(() => {})
    }
    await expect
      .poll(() => new Promise<number>((done) => server.getConnections((_error, count) => done(count))))
      .toBe(0)
  })
})
