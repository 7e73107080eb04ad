import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Failure } from '../../src/core/failure.ts'
import { listConnections } from '../../src/features/accounts/connection-store.ts'
import { sweep } from '../../src/features/accounts/sweep.ts'
import { createPages } from '../../src/outside/pages.ts'
import { askClient } from '../../src/features/accounts/client-document.ts'
import {
  authorizeUrl,
  Browser,
  CALLBACK,
  connect,
  newReader,
  refresh,
  startOAuthServer,
  statusOf,
  type TestReader,
  type TestServer,
} from './support.ts'

const ID = 'https://client.example/oauth/client.json'
const client = { client_id: ID }
const document = {
  client_id: ID,
  client_name: 'An assistant with a page of its own',
  redirect_uris: ['http://127.0.0.1/callback', 'https://client.example/cb'],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  response_types: ['code'],
  scope: 'highlights:read mcp',
}
const DOWN = new Failure('fetch_failed', 'The host is down.', { hint: 'Later.' })

let server: TestServer
let reader: TestReader
let browser: Browser
beforeAll(async () => {
  server = await startOAuthServer()
  server.web.set(ID, document)
  reader = await newReader(server, 'reader@example.org')
  browser = await new Browser(server).signIn(reader)
})
afterAll(async () => {
  expect(server.errors).toEqual([])
  await server.stop()
})

const page = async (id: string, redirectUri = 'https://client.example/cb') =>
  browser.page((await authorizeUrl(server, { client_id: id }, redirectUri)).url)

describe('a client that is known by its metadata document', () => {
  it('connects without registering, and its host is shown', async () => {
    const connected = await connect(server, client, browser, reader, {
      redirectUri: 'http://127.0.0.1:55123/callback',
    })
    expect(await statusOf(server, connected.tokens.access_token)).toBe(200)
    expect(connected.page.html).toContain('known by its address at <code>client.example</code>')
    expect(connected.page.html).not.toContain('Nobody has checked')
  })

  it('has as many connections as it has installations, each ended by itself', async () => {
    const one = await connect(server, client, browser, reader, { redirectUri: 'https://client.example/cb' })
    const two = await connect(server, client, browser, reader, { redirectUri: 'https://client.example/cb' })
    expect(await statusOf(server, one.tokens.access_token)).toBe(200)
    const mine = await listConnections(server.accounts, reader.id)
    expect(mine.filter(({ clientId }) => clientId === ID).length).toBeGreaterThanOrEqual(2)
    await fetch(`${server.base}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: ID, token: one.tokens.refresh_token }),
    })
    expect([
      await statusOf(server, one.tokens.access_token),
      await statusOf(server, two.tokens.access_token),
    ]).toEqual([401, 200])
  })

  it('is asked again after ten minutes, and meanwhile not', async () => {
    const asked = () => server.fetched.filter((url) => url === ID).length
    server.pass(601)
    await page(ID)
    const before = asked()
    await page(ID)
    expect(asked()).toBe(before)
    server.pass(601)
    await page(ID)
    expect(asked()).toBe(before + 1)
  })

  it('keeps its connections while its host is down: the last good copy stands in', async () => {
    const { tokens } = await connect(server, client, browser, reader, {
      redirectUri: 'https://client.example/cb',
    })
    server.web.set(ID, DOWN)
    server.pass(20 * 86_400)
    await sweep(server.accounts)
    await browser.signIn(reader)
    const { status, body } = await refresh(server, client, tokens.refresh_token)
    expect(status).toBe(200)
    expect(await statusOf(server, body['access_token']!)).toBe(200)
    await connect(server, client, browser, reader, { redirectUri: 'https://client.example/cb' })
    server.web.set(ID, document)
  })

  it('that was never seen is refused while its host is down, and forgotten where nobody uses it', async () => {
    expect((await page('https://client.example/none.json')).status).toBe(400)
    const unused = 'https://client.example/unused.json'
    server.web.set(unused, { ...document, client_id: unused })
    expect((await page(unused)).html).toContain('Connect ')
    server.web.set(unused, DOWN)
    server.pass(8 * 86_400)
    await sweep(server.accounts)
    await browser.signIn(reader)
    expect((await page(unused)).status).toBe(400)
  })

  it('cannot have a secret at the token endpoint', async () => {
    const { tokens } = await connect(server, client, browser, reader, {
      redirectUri: 'https://client.example/cb',
    })
    expect((await refresh(server, client, tokens.refresh_token, { client_secret: 'x' })).status).toBe(401)
  })
})

describe('a metadata document is refused', () => {
  const at = (name: string) => `https://client.example/oauth/${name}.json`
  const refused: Record<string, unknown> = {
    'that speaks of another client': { ...document, redirect_uris: ['https://client.example/cb'] },
    'with a hostile redirect URI': { ...document, redirect_uris: ['http://evil.example/cb'], own: true },
    'with a secret': { ...document, own: true, client_secret: 'x' },
    'that is no JSON': '<html>',
    'that is a list': '[]',
    'that is null': 'null',
    'without redirect URIs': { client_name: 'x', own: true },
  }
  it.each(Object.keys(refused))('%s', async (name) => {
    const id = at(name.replaceAll(' ', '-'))
    const held = refused[name]
    const own = typeof held === 'object' && held !== null && 'own' in held
    server.web.set(id, own ? { ...held, client_id: id } : held)
    const shown = await page(id)
    expect([shown.status, shown.html.includes('not known here')]).toEqual([400, true])
  })

  it('that is somewhere else than its client says', async () => {
    const id = at('moved')
    server.web.set(id, {
      document: { ...document, client_id: id },
      movedTo: 'https://evil.example/client.json',
    })
    expect((await page(id)).html).toContain('somewhere else')
  })

  it('whose good copy is not used once a bad one stands in its place', async () => {
    const id = at('turned')
    server.web.set(id, { ...document, client_id: id })
    expect((await page(id)).status).toBe(200)
    server.web.set(id, { ...document, client_id: id, redirect_uris: ['javascript:alert(1)'] })
    server.pass(601)
    expect((await page(id)).status).toBe(400)
  })

  it.each([
    'http://client.example/oauth/client.json',
    'https://client.example',
    'https://client.example/',
    'https://client.example/a/../client.json',
    'https://user@client.example/client.json',
    'https://client.example/client.json#x',
    'https://CLIENT.example/client.json',
    'https://client.example:443/client.json',
  ])('without being fetched: %s', async (id) => {
    const before = server.fetched.length
    expect((await page(id, CALLBACK)).status).toBe(400)
    expect(server.fetched.length).toBe(before)
  })
})

it.each([
  'https://127.0.0.1/client.json',
  'https://[::1]/client.json',
  'https://169.254.169.254/latest/x',
  'https://inside.example/c',
])('no document is read at a private address: %s', async (id) => {
  const pages = createPages({ lookUp: async () => [{ address: '10.0.0.7', family: 4 }] })
  const client = await askClient({ ...server.accounts, pages }, id)
  expect(client).toEqual({ refused: 'its metadata document cannot be read' })
})
