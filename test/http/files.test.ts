/** Files over HTTP: sent in as a body or in a form, and given out again. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Scope } from '../../src/core/define-tool.ts'
import {
  listPersonalTokens,
  makePersonalToken,
  revokePersonalToken,
} from '../../src/features/accounts/personal-token-store.ts'
import { startSession } from '../../src/features/accounts/session-store.ts'
import { suspendReader } from '../../src/features/accounts/suspension.ts'
import { dispositionOf, fileNameIn, safeName } from '../../src/http/file-name.ts'
import { readSession } from '../../src/http/session.ts'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { sendRaw } from './raw.ts'
import { startServer, type TestServer } from './serve.ts'

const hashOf = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

const PARAGRAPH =
  'It stands in the shallows at dusk, and nobody who passes by on the road ever sees it move. '
const markdown = (title: string): string => `# ${title}\n\n${PARAGRAPH.repeat(12)}\n`
const page = (title: string): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><article><h1>${title}</h1>
${`<p>${PARAGRAPH}</p>`.repeat(12)}</article></body></html>`

/** Where bodies wait that are too large for memory. */
const temporary = mkdtempSync(join(tmpdir(), 'commonplace-files-'))
let at: TestServer
let reader: string
let token: string
beforeAll(async () => {
  at = await startServer({ env: { COMMONPLACE_UPLOAD_MB: '3' } })
  reader = at.server.first.reader.id
  token = await at.tokenFor(reader)
  process.env['TMPDIR'] = temporary
})
afterAll(async () => {
  delete process.env['TMPDIR']
  rmSync(temporary, { recursive: true, force: true })
  await at.close()
  expect(at.errors).toEqual([])
})

interface Upload {
  status: number
  body: Json
  headers: Headers
}

async function upload(
  bytes: Buffer | string | FormData,
  {
    query = '',
    headers = {},
    as = token,
  }: { query?: string; headers?: Record<string, string>; as?: string } = {},
): Promise<Upload> {
  const response = await fetch(`${at.base}/api/files${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as}`, ...headers },
    body: bytes,
  })
  return { status: response.status, body: (await response.json()) as Json, headers: response.headers }
}

const get = (path: string, headers: Record<string, string> = {}, as = token): Promise<Response> =>
  fetch(at.base + path, { headers: { authorization: `Bearer ${as}`, ...headers } })

/** Sends a file and waits until it is captured. */
async function added(bytes: Buffer | string, query: string, as = token): Promise<string> {
  const { status, body } = await upload(bytes, { query, as })
  expect([status, body]).toEqual([202, expect.anything()])
  const { id } = body['item'] as { id: string }
  await outcome(String(body['job']), as)
  return id
}

async function outcome(job: string, as = token): Promise<Json> {
  for (;;) {
    const status = (await (await get(`/api/jobs/${job}`, {}, as)).json()) as Json
    if (status['state'] === 'completed' || status['state'] === 'failed') return status
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const itemsOf = async (as: string): Promise<{ id: string; title: string }[]> =>
  (await at.api(as, 'list_items', { limit: 100 })).body['items'] as { id: string; title: string }[]

const fresh = async (scopes?: readonly Scope[]): Promise<string> => at.tokenFor(await at.newReader(), scopes)

describe('POST /api/files', () => {
  it('takes a file as the body, answers with the item and its job, and captures it', async () => {
    const own = await fresh()
    const { status, body, headers } = await upload(markdown('On Herons'), {
      query: '?name=herons.md&tag=birds&tag=water&note=for+later',
      as: own,
    })
    expect(status).toBe(202)
    expect(body).toMatchObject({ state: 'pending', created: true, item: { title: 'herons.md' } })
    expect(headers.get('location')).toBe(`/api/jobs/${String(body['job'])}`)
    expect(await outcome(String(body['job']), own)).toMatchObject({ state: 'completed', kind: 'capture' })
    const [item] = await itemsOf(own)
    expect(item).toMatchObject({ title: 'On Herons', tags: ['birds', 'water'], notes: 1 })
  })

  it('takes a form as a browser sends it', async () => {
    const own = await fresh()
    const form = new FormData()
    form.append('title', 'A title of mine')
    form.append('file', new File([page('On Egrets')], 'égrets "white".html', { type: 'text/html' }))
    form.append('tag', 'birds')
    const { status, body } = await upload(form, { as: own })
    expect([status, body['created']]).toEqual([202, true])
    await outcome(String(body['job']), own)
    expect(await itemsOf(own)).toMatchObject([{ title: 'A title of mine', tags: ['birds'] }])
    const { id } = body['item'] as { id: string }
    const original = await get(`/api/items/${id}/file`, {}, own)
    expect(await original.text()).toBe(page('On Egrets'))
    expect(original.headers.get('content-disposition')).toBe(
      `attachment; filename="_grets _white_.html"; filename*=UTF-8''%C3%A9grets%20%22white%22.html`,
    )
  })

  it('keeps a form whole whatever stands in its file', async () => {
    const own = await fresh()
    const file = `${markdown('Dashes')}\r\n--not-the-boundary\r\n\r\n--\r\n${'-'.repeat(5_000)}\r\n--`
    const form = new FormData()
    form.append('file', new File([file], 'dashes.md'))
    const { body } = await upload(form, { as: own })
    const { id } = body['item'] as { id: string }
    expect(await (await get(`/api/items/${id}/file`, {}, own)).text()).toBe(file)
  })

  it('does the same for one requestId, and tells another file under it apart', async () => {
    const query = '?name=once.md&requestId=once'
    const first = await upload(markdown('Once'), { query })
    expect((await upload(markdown('Once'), { query })).body).toEqual(first.body)
    const header = { 'idempotency-key': '"once"' }
    expect((await upload(markdown('Once'), { query: '?name=once.md', headers: header })).body).toEqual(
      first.body,
    )
    const other = await upload(markdown('Twice'), { query })
    expect(other).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
  })

  it('makes one item of the same file, also where it comes many times at once', async () => {
    const own = await fresh()
    const all = await Promise.all(
      Array.from({ length: 3 }, (_, n) => upload(markdown('Same'), { query: `?name=same${n}.md`, as: own })),
    )
    expect(new Set(all.map(({ body }) => (body['item'] as { id: string }).id)).size).toBe(1)
    expect(new Set(all.map(({ body }) => body['job'])).size).toBe(1)
    await outcome(String(all[0]?.body['job']), own)
    const again = await upload(markdown('Same'), { query: '?name=again.md', as: own })
    expect(again).toMatchObject({ status: 200, body: { state: 'captured', created: false, job: null } })
    expect(await itemsOf(own)).toHaveLength(1)
  })

  it.each([
    ['an HTML page called a PDF', page('Liar'), 'liar.pdf', 'application/pdf', 'text/html'],
    [
      'Markdown that only its type tells of',
      markdown('Typed'),
      undefined,
      'text/markdown',
      'text/markdown; charset=utf-8',
    ],
    [
      'text called HTML',
      `Plain words.\n\n${PARAGRAPH.repeat(5)}`,
      undefined,
      'text/plain',
      'text/plain; charset=utf-8',
    ],
  ])('goes by what a file is: %s', async (_what, bytes, name, type, really) => {
    const query = name === undefined ? '' : `?name=${name}`
    const { status, body } = await upload(bytes, { query, headers: { 'content-type': type } })
    expect(status).toBe(202)
    expect(await outcome(String(body['job']))).toMatchObject({ state: 'completed' })
    const { id } = body['item'] as { id: string }
    const file = await get(`/api/items/${id}/file`)
    expect(file.headers.get('content-type')).toBe(really)
    expect(file.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('tells of a file that turns out to be broken by its job', async () => {
    const broken = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(2_000)])
    const { status, body } = await upload(broken, { query: '?name=broken.pdf' })
    expect(status).toBe(202)
    expect(await outcome(String(body['job']))).toMatchObject({
      state: 'failed',
      failure: { code: 'damaged_file', hint: expect.stringMatching(/\.$/) },
    })
  })

  it.each([
    ['nothing', '', '', 422, 'no_text'],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n0123', 'latin1'), '?name=a.png', 422, 'unsupported_type'],
    ['an archive', gzipSync('a'.repeat(100_000)), '?name=bomb.html', 422, 'unsupported_type'],
    ['a title too long', markdown('x'), `?title=${'x'.repeat(501)}`, 400, 'invalid_input'],
    ['no address', markdown('y'), '?url=javascript:alert(1)', 422, 'invalid_url'],
  ])('refuses %s', async (_what, bytes, query, status, code) => {
    const told = await upload(bytes, { query })
    expect([told.status, told.body['code']]).toEqual([status, code])
    expect(told.headers.get('content-type')).toBe('application/problem+json')
  })

  it.each([
    ['gzip', gzipSync(Buffer.alloc(50_000_000))],
    ['br', Buffer.from('x')],
  ])('takes no body that is packed with %s', async (coding, bytes) => {
    const told = await upload(bytes, { headers: { 'content-encoding': coding } })
    expect(told).toMatchObject({ status: 415, body: { code: 'unsupported_type' } })
  })

  it('holds the limit to the byte, and says so before all has come', async () => {
    const text = (bytes: number) => `${markdown('Long')}${'word '.repeat(bytes / 5)}`.slice(0, bytes)
    expect((await upload(text(3_000_000), { query: '?name=long.txt' })).status).toBe(202)
    const told = await upload(text(3_000_001), { query: '?name=long.txt' })
    expect(told).toMatchObject({ status: 413, body: { code: 'too_large' } })
    const form = new FormData()
    form.append('file', new File([text(3_000_001)], 'long.txt'))
    expect((await upload(form)).status).toBe(413)
    const announced = await sendRaw(
      at.base,
      [
        `POST /api/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: 99999999999\r\n\r\n`,
      ],
      { until: /413/ },
    )
    expect(announced).toMatch(/^HTTP\/1.1 (413|403)/)
    const head = `POST /api/files HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n`
    expect(
      await sendRaw(at.base, [`${head}content-length: 99999999999\r\n\r\n`], { until: /too_large/ }),
    ).toMatch(/^HTTP\/1.1 413/)
    const chunk = `${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`
    const endless = [`${head}transfer-encoding: chunked\r\n\r\n`, ...Array<string>(60).fill(chunk)]
    expect(await sendRaw(at.base, endless, { until: /too_large/ })).toMatch(/HTTP\/1.1 413/)
  })

  it('needs the right scopes, a token, or a page of ours', async () => {
    for (const scopes of [['sources:read'], ['notes:write']] as Scope[][]) {
      const told = await upload(markdown('x'), { as: await fresh(scopes) })
      expect(told).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    }
    const own = await fresh(['sources:write'])
    const withNote = await upload(markdown('x'), { query: '?note=x', as: own })
    expect(withNote).toMatchObject({ status: 403, body: { details: { missing: ['notes:write'] } } })
    const { accounts } = at.server
    const cookie = `commonplace=${await startSession(accounts, reader)}`
    const csrf = (await readSession(accounts, { headers: { cookie } } as never))!.csrf
    const send = async (headers: Record<string, string>): Promise<number> => {
      const body = markdown('By browser')
      return (await fetch(`${at.base}/api/files?name=b.md`, { method: 'POST', headers, body })).status
    }
    expect(await send({})).toBe(401)
    expect(await send({ cookie, origin: at.base })).toBe(403)
    expect(await send({ cookie, origin: 'https://evil.example', 'x-csrf-token': csrf })).toBe(403)
    expect(await send({ cookie, origin: at.base, 'x-csrf-token': csrf })).toBe(202)
  })

  it('leaves nothing of an upload that is cut off', async () => {
    const own = await fresh()
    const head = `POST /api/files?name=cut.md HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${own}\r\n`
    const some = 'x'.repeat(1_500_000)
    await sendRaw(at.base, [`${head}content-length: 2000000\r\n\r\n`, some], { hangUp: true })
    await sendRaw(at.base, [`${head}transfer-encoding: chunked\r\n\r\n`, `16e360\r\n${some}\r\n`], {
      hangUp: true,
    })
    await sendRaw(at.base, [`${head}transfer-encoding: chunked\r\n\r\n`, `zz\r\n`], { hangUp: true })
    // Whoever was cut off may send again, and has that alone.
    const whole = await added(markdown('Whole'), '?name=whole.md', own)
    expect((await itemsOf(own)).map(({ id }) => id)).toEqual([whole])
    expect(readdirSync(temporary)).toEqual([])
  })

  it('stores nothing for a token that is revoked, or a reader suspended or deleted, while the file comes', async () => {
    const { accounts, removeLibrary } = at.server
    for (const over of [
      (tokenId: string, owner: string) => revokePersonalToken(accounts, owner, tokenId),
      (_tokenId: string, owner: string) => suspendReader(accounts, owner),
      (_tokenId: string, owner: string) => removeLibrary(owner),
    ]) {
      const owner = await at.newReader()
      const { id, token: own } = await makePersonalToken(accounts, owner, {
        name: 'a',
        scopes: ['sources:write', 'sources:read'],
      })
      const bytes = markdown(`Late ${id}`)
      const body = new TransformStream<Uint8Array, Uint8Array>()
      const writer = body.writable.getWriter()
      const answer = fetch(`${at.base}/api/files?name=late.md`, {
        method: 'POST',
        headers: { authorization: `Bearer ${own}` },
        body: body.readable,
        duplex: 'half',
      } as RequestInit)
      await writer.write(Buffer.from(bytes.slice(0, 100)))
      // It was let in: the file is on its way.
      await vi.waitFor(async () =>
        expect(await listPersonalTokens(accounts, owner)).toMatchObject([{ calls: 1 }]),
      )
      await over(id, owner)
      await writer.write(Buffer.from(bytes.slice(100)))
      await writer.close()
      expect((await answer).status).toBe(401)
    }
  })

  it('waits for what comes a byte at a time', async () => {
    const own = await fresh()
    const body = markdown('Slow').slice(0, 300)
    const head = `POST /api/files?name=slow.md HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${own}\r\nconnection: close\r\n`
    const heard = await sendRaw(at.base, [`${head}content-length: 300\r\n\r\n`, ...body])
    expect(heard).toMatch(/^HTTP\/1.1 202/)
  })

  it('lets one reader send a few files at once, and others beside', async () => {
    const own = await fresh()
    const head = `POST /api/files?name=a.md HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${own}\r\n`
    const hangUp = new AbortController()
    const slow = Array.from({ length: 4 }, () =>
      sendRaw(at.base, [`${head}content-length: 500\r\n\r\nx`], {
        until: /rate_limited/,
        signal: hangUp.signal,
      }),
    )
    expect(await Promise.race(slow)).toMatch(/^HTTP\/1.1 429/)
    let one = await upload(markdown('One'), { as: own })
    expect(one).toMatchObject({ status: 429, body: { code: 'rate_limited', retryAfterSeconds: 5 } })
    expect((await upload(markdown('Other'), { as: await fresh() })).status).toBe(202)
    hangUp.abort()
    await Promise.all(slow)
    while (one.status === 429) one = await upload(markdown('One'), { as: own })
    expect(one.status).toBe(202)
  })

  it('counts as a write, and is not read where there were too many', async () => {
    const limited = await startServer({
      env: { COMMONPLACE_WRITES_PER_MINUTE: '2', COMMONPLACE_QUOTA_MB: '1' },
    })
    try {
      const own = await limited.tokenFor(await limited.newReader())
      const send = async (body: string): Promise<Upload> => {
        const headers = { authorization: `Bearer ${own}` }
        const response = await fetch(`${limited.base}/api/files?name=a.md`, { method: 'POST', headers, body })
        return { status: response.status, body: (await response.json()) as Json, headers: response.headers }
      }
      const full = await send(markdown('x').padEnd(1_000_001, 'word '))
      expect(full).toMatchObject({ status: 403, body: { code: 'quota_exceeded' } })
      expect((await send(markdown('Small'))).status).toBe(202)
      const refused = await send(markdown('Third'))
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    } finally {
      await limited.close()
    }
  })

  it.each([
    ['no boundary', 'multipart/form-data', 'x'],
    ['a boundary of nothing', 'multipart/form-data; boundary=""', 'x'],
    ['a boundary that does not stand in it', 'multipart/form-data; boundary=b', 'x'],
    [
      'no end',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="a"; filename="a"\r\n\r\nx',
    ],
    ['no headers', 'multipart/form-data; boundary=b', '--b\r\nx\r\n--b--'],
    [
      'no file',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n--b--',
    ],
    [
      'a hundred parts',
      'multipart/form-data; boundary=b',
      `${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(100)}--b--`,
    ],
    [
      'two files',
      'multipart/form-data; boundary=b',
      `${'--b\r\ncontent-disposition: form-data; name="a"; filename="a"\r\n\r\nx\r\n'.repeat(2)}--b--`,
    ],
  ])('refuses a form with %s', async (_what, type, body) => {
    const told = await upload(body, { headers: { 'content-type': type } })
    expect(told).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
  })
})

describe('names of files', () => {
  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\books\\heron.pdf', 'heron.pdf'],
    ['a\r\nset-cookie: x', 'aset-cookie: x'],
    ['null\0byte.md', 'nullbyte.md'],
    ['gpj.\u202Eexe.md', 'gpj.exe.md'],
    ['..', null],
    ['/', null],
    ['  ', null],
    ['.hidden', '.hidden'],
    [`${'x'.repeat(500)}.epub`, `${'x'.repeat(195)}.epub`],
  ])('%j is kept as %j', (given, kept) => {
    expect(safeName(given)).toBe(kept)
  })

  it('come back as they went in, and break no header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (given) => {
        const name = safeName(given)
        const header = dispositionOf('attachment', given)
        expect(header).toMatch(/^[\x20-\x7e]+$/)
        expect(fileNameIn(header) ?? null).toBe(name)
        if (name !== null) {
          expect(safeName(name)).toBe(name)
          expect(name).not.toMatch(/[/\\\r\n\0]/)
        }
      }),
    )
  })

  it('are harmless wherever they come from', async () => {
    const own = await fresh()
    const names = ['..%2F..%2Fetc%2Fpasswd.md', 'a%0D%0Ax-evil%3A%201.md', '%00.md', '%E2%80%AEdm.exe.md']
    for (const [n, name] of names.entries()) {
      const { status, body } = await upload(markdown(`Named ${n}`), { query: `?name=${name}`, as: own })
      expect(status).toBe(202)
      const { id } = body['item'] as { id: string }
      const { headers } = await get(`/api/items/${id}/file`, {}, own)
      expect(headers.get('x-evil')).toBeNull()
      expect(headers.get('content-disposition')).toMatch(/^inline; filename="[\w.: -]*\.md"$/)
    }
    const disposition = `attachment; filename="..\\\\..\\\\over.md"`
    const { body } = await upload(markdown('By header'), {
      headers: { 'content-disposition': disposition },
      as: own,
    })
    expect(body['item']).toMatchObject({ title: 'over.md' })
  })
})

describe('GET /api/media, /file and /text', () => {
  const text = markdown('Ranges')
  const hash = hashOf(text)
  let id: string
  beforeAll(async () => {
    id = await added(text, '?name=ranges.md')
  })

  it('gives the file that was sent, for ever and to whom it belongs', async () => {
    const response = await get(`/api/media/${hash}`)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(text)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      etag: `"${hash}"`,
      'content-type': 'text/markdown; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
      'content-disposition': 'inline; filename="ranges.md"',
      'cache-control': 'private, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'cross-origin-resource-policy': 'same-origin',
      vary: 'Authorization, Cookie',
      'accept-ranges': 'bytes',
    })
    expect((await get(`/api/media/${hash}`, { 'if-none-match': `"${hash}"` })).status).toBe(304)
    expect((await get(`/api/media/${hash}`, { 'if-none-match': `"x", W/"${hash}"` })).status).toBe(304)
    expect((await get(`/api/media/${hash}`, { 'if-none-match': '"x"' })).status).toBe(200)
  })

  it('answers HEAD with the same headers and nothing else', async () => {
    for (const path of [`/api/media/${hash}`, `/api/items/${id}/file`, `/api/items/${id}/text`]) {
      const headers = { authorization: `Bearer ${token}` }
      const head = await fetch(at.base + path, { method: 'HEAD', headers })
      expect([head.status, await head.text()]).toEqual([200, ''])
      const whole = await get(path)
      for (const name of ['etag', 'content-type', 'content-disposition', 'content-length'])
        expect(head.headers.get(name)).toBe(whole.headers.get(name))
    }
  })

  it.each([
    ['bytes=0-9', 206, [0, 10]],
    ['bytes=10-', 206, [10, undefined]],
    ['bytes=-5', 206, [-5, undefined]],
    ['bytes=0-999999', 206, [0, undefined]],
    ['bytes=-999999', 206, [0, undefined]],
    ['bytes=999999-', 416, undefined],
    ['bytes=-0', 416, undefined],
    ['bytes=9-2', 200, [0, undefined]],
    ['lines=1-2', 200, [0, undefined]],
    ['bytes=a-b', 200, [0, undefined]],
    ['bytes=-', 200, [0, undefined]],
    [
      `bytes=${Array.from({ length: 10_000 }, (_, n) => `${n}-`).join(',')}`.slice(0, 12_000),
      200,
      [0, undefined],
    ],
  ] as const)('answers Range: %.30s with %i', async (range, status, part) => {
    const response = await get(`/api/media/${hash}`, { range })
    const body = Buffer.from(await response.arrayBuffer())
    expect(response.status).toBe(status)
    const size = Buffer.byteLength(text)
    if (!part) {
      expect(response.headers.get('content-range')).toBe(`bytes */${size}`)
      return
    }
    const expected = Buffer.from(text).subarray(...part)
    expect(body.toString()).toBe(expected.toString())
    if (status === 206)
      expect(response.headers.get('content-range')).toMatch(new RegExp(`^bytes \\d+-\\d+/${size}$`))
  })

  it('gives a range of the version that is meant alone', async () => {
    const range = 'bytes=0-3'
    expect((await get(`/api/media/${hash}`, { range, 'if-range': `"${hash}"` })).status).toBe(206)
    expect((await get(`/api/media/${hash}`, { range, 'if-range': '"other"' })).status).toBe(200)
    expect((await get(`/api/media/${hash}`, { range, 'if-range': `W/"${hash}"` })).status).toBe(200)
  })

  it('any range is that part of the file', async () => {
    const size = Buffer.byteLength(text)
    await fc.assert(
      fc.asyncProperty(fc.nat(size - 1), fc.nat(2 * size), async (from, length) => {
        const response = await get(`/api/media/${hash}`, { range: `bytes=${from}-${from + length}` })
        expect(response.status).toBe(206)
        const whole = Buffer.from(text).subarray(from, from + length + 1)
        expect(Buffer.from(await response.arrayBuffer()).equals(whole)).toBe(true)
      }),
      { numRuns: 25 },
    )
  })

  it('gives the text as Markdown, packed for who asks', async () => {
    const path = `/api/items/${id}/text`
    const plain = await get(path, { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(plain.headers.get('content-encoding')).toBeNull()
    const body = await plain.text()
    expect(body).toContain('stands in the shallows')
    for (const coding of ['gzip', 'br']) {
      const packed = await get(path, { 'accept-encoding': coding })
      expect(packed.headers.get('content-encoding')).toBe(coding)
      expect(packed.headers.get('vary')).toMatch(/Accept-Encoding/)
      expect(await packed.text()).toBe(body)
      const etag = packed.headers.get('etag') ?? ''
      expect((await get(path, { 'if-none-match': etag })).status).toBe(304)
    }
  })

  it('gives the page of a web address as it came', async () => {
    const saved = await at.api(token, 'save_url', { url: 'https://birds.example/bittern' })
    const path = `/api/items/${(saved.body['item'] as { id: string }).id}/file`
    const packed = await get(path, { 'accept-encoding': 'gzip' })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    const plain = await get(path, { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).toBeNull()
    const html = await plain.text()
    expect(html).toContain('essay on the bittern')
    expect(await packed.text()).toBe(html)
    expect(plain.headers.get('content-type')).toBe('text/html')
    expect(plain.headers.get('content-disposition')).toBe('attachment; filename="Essay bittern.html"')
    // The stored form of it is media as well.
    const raw = await at.server.libraries.use(reader, ({ library: { db } }) =>
      db
        .selectFrom('text')
        .select('raw')
        .where('method', 'not in', ['markdown', 'text'])
        .executeTakeFirstOrThrow(),
    )
    const media = await get(`/api/media/${raw.raw}`)
    expect(media.headers.get('content-type')).toBe('application/gzip')
    expect(gunzipSync(Buffer.from(await media.arrayBuffer())).length).toBeGreaterThan(100)
  })

  it.each([
    ['a page', page('<script>alert(1)</script>'), 'x.html', 'text/html'],
    [
      'a page called Markdown',
      `${markdown('M')}<script>alert(1)</script>`,
      'x.md',
      'text/markdown; charset=utf-8',
    ],
  ])('lets %s run nowhere', async (_what, bytes, name, type) => {
    const { body } = await upload(bytes, { query: `?name=${name}` })
    const { headers } = await get(`/api/media/${hashOf(bytes)}`)
    expect(body['item']).toBeTruthy()
    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*; sandbox$/)
    if (type === 'text/html') expect(headers.get('content-disposition')).toMatch(/^attachment/)
  })

  it('gives nothing to who may not read', async () => {
    const writing = await at.tokenFor(reader, ['sources:write'])
    for (const path of [`/api/media/${hash}`, `/api/items/${id}/file`, `/api/items/${id}/text`]) {
      expect((await get(path, {}, writing)).status).toBe(403)
      expect((await fetch(at.base + path)).status).toBe(401)
    }
  })

  it("gives nothing of another account's, whatever is known of it", async () => {
    const other = await fresh()
    const job = await upload(markdown('Theirs'), { query: '?name=theirs.md' })
    const paths = [
      `/api/media/${hash}`,
      `/api/items/${id}/file`,
      `/api/items/${id}/text`,
      `/api/jobs/${String(job.body['job'])}`,
      `/api/jobs/${String(job.body['job'])}/events`,
    ]
    for (const path of paths) {
      const response = await get(path, {}, other)
      const body = (await response.json()) as Json
      expect([path, response.status, body['code']]).toEqual([path, 404, expect.stringMatching(/_not_found$/)])
    }
    // A file of the same bytes is each reader's own.
    await upload(text, { as: other })
    expect((await get(`/api/media/${hash}`, {}, other)).status).toBe(200)
  })

  it.each([
    '/api/media/..%2F..%2Fserver.db',
    '/api/media/%00',
    '/api/media/abc',
    `/api/media/${'A'.repeat(64)}`,
    '/api/items/..%2F1/file',
    '/api/items/0/text',
    '/api/items/1e3/text',
    '/api/items/99999999999999999999/text',
    '/api/jobs/-1',
    '/api/jobs/abc/events',
  ])('%s is 404', async (path) => {
    const response = await get(path)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      code: expect.stringMatching(/_not_found$/),
      hint: expect.any(String),
    })
  })

  it('gives nothing of what lies in the trash', async () => {
    const owner = await at.newReader()
    const own = await at.tokenFor(owner)
    const bytes = markdown('Thrown away')
    const gone = await added(bytes, '?name=gone.md', own)
    const trashed = { trashed_at: new Date().toISOString() }
    await at.server.libraries.use(owner, ({ library }) =>
      library.change((change) => change.update('source', Number(gone), trashed)),
    )
    for (const path of [`/api/media/${hashOf(bytes)}`, `/api/items/${gone}/file`, `/api/items/${gone}/text`])
      expect((await get(path, {}, own)).status).toBe(404)
  })

  it('is told what may be asked of each address', async () => {
    for (const [path, allow] of [
      ['/api/files', 'POST, OPTIONS'],
      [`/api/media/${hash}`, 'GET, HEAD, OPTIONS'],
      [`/api/items/${id}/text`, 'GET, HEAD, OPTIONS'],
      ['/api/jobs/1', 'GET, HEAD, OPTIONS'],
      ['/api/tools/list_items', 'POST, OPTIONS'],
      ['/api/openapi.json', 'GET, HEAD, OPTIONS'],
      ['/api', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const asked = await fetch(at.base + path, {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example' },
      })
      expect([asked.status, asked.headers.get('allow')]).toEqual([204, allow])
      const cors = path === '/api/openapi.json' ? '*' : null
      expect(asked.headers.get('access-control-allow-origin')).toBe(cors)
      const wrong = await fetch(at.base + path, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      })
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, allow])
      expect(await wrong.json()).toMatchObject({ code: 'method_not_allowed' })
    }
  })
})
