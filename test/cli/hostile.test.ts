import { writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeEpub } from '../support/make-epub.ts'
import { makePdf, wrap } from '../support/make-pdf.ts'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

const SENTENCE = 'Slow reading helps people to remember what a book says about their lives. '
const page = (title: string, body: string) => `<!doctype html><title>${title}</title><body>${body}`
const LOGIN = page('Log in', '<form>Please log in to continue.<input type="password" name="p"></form>')

/** What the server answers by path. */
const web: Record<string, (response: ServerResponse) => void> = {
  '/nested-divs': (response) => response.end(`<html>${'<div>'.repeat(10_000)}<p>${SENTENCE.repeat(9)}`),
  '/unclosed-tags': (response) => response.end(`<html>${`<p><b><i>${SENTENCE}`.repeat(3_000)}`),
  '/endless-body': (response) => {
    const block = Buffer.alloc(4 * 2 ** 20, `<p>${SENTENCE}</p>`)
    const more = () => !response.destroyed && response.write(block, () => setImmediate(more))
    more()
  },
  '/gzip-bomb': (response) => {
    response.setHeader('content-encoding', 'gzip')
    response.end(gzipSync(Buffer.alloc(48 * 2 ** 20, ' '), { level: 9 }))
  },
  '/round-and-round': (response) => redirect(response, '/round-and-round'),
  '/to-the-router': (response) => redirect(response, 'http://127.0.0.2/admin'),
  '/to-a-file': (response) => redirect(response, 'file:///etc/passwd'),
  '/members': (response) => redirect(response, '/login?next=/members'),
  '/login?next=/members': (response) => response.end(LOGIN),
  '/paper.pdf': (response) => redirect(response, '/login?next=/members'),
  '/unauthorised': (response) => response.writeHead(401).end(LOGIN),
  '/robots': (response) =>
    response.end(page('Just a moment...', '<p>Checking your browser.</p><div class="cf-challenge"></div>')),
  '/cookies': (response) =>
    response.end(
      page(
        'Before you continue',
        '<p>We use cookies.</p><button>Accept all</button><button>Reject all</button>',
      ),
    ),
  '/soft-404': (response) => response.end(page('Page not found', '<p>The page was not found.</p>')),
  '/empty': (response) => response.end(),
  '/no-text': (response) => response.end(page('Pictures', '<img src="a.png">')),
  '/feed.json': (response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"items": []}')
  },
  '/scan.pdf': (response) => response.end(makePdf({ pages: [{ picture: true }] })),
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location }).end()
}

const files: Record<string, string | Uint8Array> = {
  'locked.pdf': makePdf({ pages: [{ pieces: [{ text: 'Secret.', x: 72, y: 700 }] }], locked: true }),
  'empty.pdf': makePdf({ pages: [{}] }),
  'scanned.pdf': makePdf({ pages: [{ picture: true }] }),
  'cut.pdf': makePdf({ pages: [{ pieces: [{ text: SENTENCE, x: 72, y: 700 }] }] }).slice(0, 300),
  'protected.epub': makeEpub({
    chapters: { 'a.xhtml': `<p>${SENTENCE}</p>` },
    files: { 'META-INF/rights.xml': '<rights/>' },
  }),
  'hollow.epub': makeEpub({ chapters: { 'a.xhtml': '<p></p>' } }),
  'archive.epub': 'PK\x03\x04 and nothing of sense',
  'blank.txt': ' \n\n \n',
  'photo.jpg': Buffer.from('ffd8ffe000104a464946', 'hex'),
  'page.html': page('Nothing', ''),
}

interface Item {
  given: string
  state: string
  failure?: { code: string; hint: string; error: { message: string } }
  item?: { id: string; words: number }
  note?: string
}

let at: Workspace
let server: Server
let site: string

beforeAll(async () => {
  at = openWorkspace()
  server = createServer((request, response) => {
    response.on('error', () => {})
    response.setHeader('content-type', request.url?.endsWith('.pdf') ? 'application/pdf' : 'text/html')
    const answer = web[request.url ?? '']
    if (answer) answer(response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  site = `http://127.0.0.1:${port}`
  Object.assign(at.env, { COMMONPLACE_ALLOW_HOSTS: `127.0.0.1:${port}` })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(at.folder, name), content)
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  at.remove()
})

/** One command for all of them; what came of each, by the last part of its name. */
async function add(things: readonly string[]): Promise<{ code: number | null; items: Map<string, Item> }> {
  const { code, stdout } = await at.run(['add', ...things, '--wait', '--json'])
  const { items } = JSON.parse(stdout) as { items: Item[] }
  return { code, items: new Map(items.map((item) => [item.given.replace(site, ''), item])) }
}

const outcomes = (items: Map<string, Item>) =>
  Object.fromEntries([...items].map(([given, { state, failure }]) => [given, failure?.code ?? state]))

describe('add', () => {
  it('ends on hostile pages and files, each with its reason and a way out, and nothing is half there', async () => {
    const fetched = {
      '/endless-body': 'too-large',
      '/gzip-bomb': 'too-large',
      '/round-and-round': 'too-many-redirects',
      '/to-the-router': 'private-address',
      '/to-a-file': 'invalid-url',
      '/members': 'login-required',
      '/paper.pdf': 'login-required',
      '/unauthorised': 'page-refused',
      '/robots': 'page-refused',
      '/cookies': 'page-refused',
      '/soft-404': 'page-not-found',
      '/absent': 'page-not-found',
      '/empty': 'no-text',
      '/no-text': 'no-text',
      '/feed.json': 'unsupported-type',
      '/scan.pdf': 'no-text',
    }
    const given = {
      'locked.pdf': 'encrypted-file',
      'empty.pdf': 'no-text',
      'scanned.pdf': 'no-text',
      'cut.pdf': 'damaged-file',
      'protected.epub': 'drm-protected',
      'hollow.epub': 'no-text',
      'archive.epub': 'damaged-file',
      'blank.txt': 'no-text',
      'photo.jpg': 'unsupported-type',
      'page.html': 'no-text',
    }
    const addresses = Object.keys(fetched).map((path) => site + path)
    const { code, items } = await add([
      ...addresses,
      'http://192.168.1.1/',
      'http://[::1]/',
      ...Object.keys(given),
    ])
    expect(outcomes(items)).toEqual({
      ...fetched,
      'http://192.168.1.1/': 'private-address',
      'http://[::1]/': 'private-address',
      ...given,
    })
    expect(code).toBe(4)
    for (const { failure } of items.values()) {
      expect(failure?.error.message).toMatch(/^\p{Lu}.*[.]$|^\S+ is /u)
      expect(failure?.hint).toMatch(/^\p{Lu}.*[.`]$/u)
    }
    expect(JSON.parse((await at.run(['list', '--json'])).stdout).items).toEqual([])
    expect((await at.run(['doctor'])).code).toBe(0)
  }, 90_000)

  it('gives the words of a page that is only strange', async () => {
    const { code, items } = await add([`${site}/nested-divs`, `${site}/unclosed-tags`])
    expect(outcomes(items)).toEqual({ '/nested-divs': 'captured', '/unclosed-tags': 'captured' })
    expect(items.get('/nested-divs')?.item?.words).toBe(9 * 13)
    expect(items.get('/nested-divs')?.note).toMatch(/without links/)
    expect(items.get('/unclosed-tags')?.item?.words).toBe(3_000 * 13)
    expect(code).toBe(0)
  })

  it('says it to a person in two lines', async () => {
    const { code, stdout, stderr } = await at.run(['add', `${site}/members`, 'protected.epub', '--wait'])
    expect(code).toBe(4)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/members: The site shows a login[^\n]*\n {2}\S[^\n]*\n/)
    expect(stderr).toMatch(/protected\.epub: [^\n]*\n {2}\S[^\n]*\n/)
  })

  it('captures a long PDF whole', async () => {
    const pages = Array.from({ length: 30 }, (_, number) => ({
      pieces: wrap(`Page ${number + 1}. ${SENTENCE.repeat(30)}`, 80).map((text, row) => ({
        text,
        x: 60,
        y: 740 - row * 15,
      })),
    }))
    writeFileSync(join(at.folder, 'long.pdf'), makePdf({ pages, compressed: true }))
    const { items } = await add(['long.pdf'])
    expect(items.get('long.pdf')).toMatchObject({ state: 'captured', item: { words: 30 * (2 + 30 * 13) } })
  })
})
