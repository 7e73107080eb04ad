import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listConnections, revokeConnection } from '../../src/features/accounts/connection-store.ts'
import { deleteReader } from '../../src/features/accounts/reader-store.ts'
import { sweep } from '../../src/features/accounts/sweep.ts'
import {
  approve,
  authorizeUrl,
  Browser,
  CALLBACK,
  callResource,
  connect,
  formOf,
  http,
  newClient,
  newReader,
  pageOf,
  refresh,
  startOAuthServer,
  statusOf,
  token,
  type TestReader,
  type TestServer,
} from './support.ts'

const DAY = 86_400

let folder: string
let server: TestServer
let reader: TestReader
let client: oauth.Client
let browser: Browser
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-oauth-'))
  server = await startOAuthServer({ file: join(folder, 'server.db') })
  reader = await newReader(server, 'reader@example.org')
  client = await newClient(server)
  browser = await new Browser(server).signIn(reader)
})
afterAll(async () => {
  expect(server.errors).toEqual([])
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const fresh = async (grant: readonly string[] = ['mcp']) =>
  (await connect(server, client, browser, reader, { grant })).tokens

/** A code as it came back, with all that is needed to redeem it. */
async function newCode(of: oauth.Client = client): Promise<Record<string, string>> {
  const { url, verifier } = await authorizeUrl(server, of)
  const { callback } = await approve(browser, url, reader, ['mcp'])
  return {
    grant_type: 'authorization_code',
    client_id: of.client_id,
    redirect_uri: CALLBACK,
    code: callback.searchParams.get('code')!,
    code_verifier: verifier,
  }
}

describe('a code', () => {
  it.each([
    ['another verifier', { code_verifier: 'a'.repeat(43) }, 'invalid_grant'],
    ['no verifier', { code_verifier: '' }, 'invalid_grant'],
    ['another redirect URI', { redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    ['another code', { code: 'x'.repeat(43) }, 'invalid_grant'],
    ['no code', { code: '' }, 'invalid_request'],
    ['no grant type', { grant_type: '' }, 'invalid_request'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['the resource of another server', { resource: 'https://evil.example/' }, 'invalid_target'],
  ])('with %s is refused, and still good for its owner', async (_name, change, error) => {
    const code = await newCode()
    const { status, body } = await token(server, { ...code, ...change })
    expect([status, body['error']]).toEqual([400, error])
    expect((await token(server, code)).status).toBe(200)
  })

  it('of one client is nothing to another', async () => {
    const code = await newCode()
    const stranger = await newClient(server)
    const { status, body } = await token(server, { ...code, client_id: stranger.client_id })
    expect([status, body['error']]).toEqual([400, 'invalid_grant'])
    expect((await token(server, code)).status).toBe(200)
  })

  it('is good without the redirect URI, as newer clients send it: the verifier binds it', async () => {
    const { redirect_uri: _left, ...code } = await newCode()
    expect((await token(server, code)).status).toBe(200)
  })

  it('used again ends what it gave', async () => {
    const { tokens, code, verifier } = await connect(server, client, browser, reader)
    server.pass(120)
    const { status, body } = await token(server, {
      grant_type: 'authorization_code',
      client_id: client.client_id,
      redirect_uri: CALLBACK,
      code,
      code_verifier: verifier,
    })
    expect([status, body['error']]).toEqual([400, 'invalid_grant'])
    expect(await statusOf(server, tokens.access_token)).toBe(401)
    expect((await refresh(server, client, tokens.refresh_token)).status).toBe(400)
  })

  it('redeemed six times at once is redeemed once', async () => {
    const code = await newCode()
    const all = await Promise.all(Array.from({ length: 6 }, () => token(server, code)))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('redeemed at once by two replicas is redeemed once', async () => {
    const second = await startOAuthServer({ file: join(folder, 'server.db'), base: server.base })
    try {
      for (let round = 0; round < 5; round++) {
        const code = await newCode()
        const all = await Promise.all(
          Array.from({ length: 4 }, (_, n) => token(n % 2 ? server : second, code)),
        )
        expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
      }
    } finally {
      await second.stop()
    }
  })

  it('is over after a minute', async () => {
    const code = await newCode()
    server.pass(61)
    expect((await token(server, code)).body['error']).toBe('invalid_grant')
  })
})

describe('clients at the token endpoint', () => {
  it('one that is unknown gets invalid_client 401, so that it registers again', async () => {
    for (const fields of [
      { grant_type: 'refresh_token', refresh_token: 'x' },
      { grant_type: 'authorization_code', code: 'x', redirect_uri: CALLBACK, code_verifier: 'x' },
    ]) {
      const { status, body } = await token(server, { client_id: 'gone', ...fields })
      expect([status, body['error']]).toEqual([401, 'invalid_client'])
    }
  })

  it('one with a secret proves itself by it, in the form or the header', async () => {
    const secret = await newClient(server, { token_endpoint_auth_method: 'client_secret_basic' })
    const right = String(secret['client_secret'])
    const kept = await server.accounts.db.selectFrom('oauth_client').selectAll().execute()
    expect(JSON.stringify(kept)).not.toContain(right)
    const code = await newCode(secret)
    const { client_id, ...anonymous } = code
    const basic = (word: string) => ({
      authorization: `Basic ${Buffer.from(`${client_id!}:${word}`).toString('base64')}`,
    })
    expect((await token(server, code)).status).toBe(401)
    expect((await token(server, { ...code, client_secret: 'wrong' })).status).toBe(401)
    const wrong = await token(server, anonymous, basic('wrong'))
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="oauth"'])
    expect((await token(server, { ...code, client_secret: right }, basic(right))).status).toBe(400)
    const { status, body } = await token(server, anonymous, basic(right))
    expect(status).toBe(200)
    expect((await refresh(server, secret, body['refresh_token']!)).status).toBe(401)
    expect((await refresh(server, secret, body['refresh_token']!, { client_secret: right })).status).toBe(200)
  })

  it('one without a secret that sends one takes itself for another', async () => {
    const tokens = await fresh()
    expect((await refresh(server, client, tokens.refresh_token, { client_secret: 'stray' })).status).toBe(401)
  })

  it('say each thing once, as a form', async () => {
    const code = await newCode()
    const response = await fetch(`${server.base}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams([...Object.entries(code), ['code', 'x']]),
    })
    expect(response.status).toBe(400)
    const json = await fetch(`${server.base}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(code),
    })
    expect(json.status).toBe(400)
  })

  it('that are refused too often wait, and others from the same address do not', async () => {
    const limited = await startOAuthServer({ limits: { refusedTokens: { count: 3, seconds: 60 } } })
    try {
      const [one, two] = [await newClient(limited), await newClient(limited)]
      const guess = async (of: oauth.Client) =>
        (await refresh(limited, of, randomBytes(8).toString('hex'))).status
      expect([await guess(one), await guess(one), await guess(one), await guess(one)]).toEqual([
        400, 400, 400, 429,
      ])
      expect(await guess(two)).toBe(400)
      // A right one among the guesses tells nothing either.
      const owner = await newReader(limited, 'owner@example.org')
      const { tokens } = await connect(limited, two, new Browser(limited), owner)
      for (let n = 0; n < 3; n++) await guess(two)
      expect((await refresh(limited, two, tokens.refresh_token)).status).toBe(429)
      limited.pass(61)
      expect(await guess(one)).toBe(400)
      expect((await refresh(limited, two, tokens.refresh_token)).status).toBe(200)
    } finally {
      await limited.stop()
    }
  })
})

describe('refreshing', () => {
  it('rotates, keeps what was allowed, and holds for sixty days more each time', async () => {
    const tokens = await fresh(['mcp', 'notes:read'])
    server.pass(59 * DAY)
    expect(await statusOf(server, tokens.access_token)).toBe(401)
    const first = await refresh(server, client, tokens.refresh_token, { resource: server.resource })
    expect(first).toMatchObject({ status: 200, body: { scope: 'notes:read mcp', expires_in: 3600 } })
    expect(first.body['refresh_token']).not.toBe(tokens.refresh_token)
    expect(await statusOf(server, first.body['access_token']!)).toBe(200)
    server.pass(59 * DAY)
    const second = await refresh(server, client, first.body['refresh_token']!)
    expect(second.status).toBe(200)
    server.pass(61 * DAY)
    expect((await refresh(server, client, second.body['refresh_token']!)).status).toBe(400)
    await browser.signIn(reader)
  })

  it('of another client is refused and harms nothing', async () => {
    const tokens = await fresh()
    const stranger = await newClient(server)
    expect((await refresh(server, stranger, tokens.refresh_token)).body['error']).toBe('invalid_grant')
    expect((await refresh(server, client, tokens.refresh_token)).status).toBe(200)
  })

  it('asks for no more than was allowed', async () => {
    const tokens = await fresh(['mcp'])
    const more = await refresh(server, client, tokens.refresh_token, { scope: 'mcp library:private' })
    expect([more.status, more.body['error']]).toEqual([400, 'invalid_scope'])
    const same = await refresh(server, client, tokens.refresh_token, { scope: 'mcp offline_access' })
    expect([same.status, same.body['scope']]).toEqual([200, 'mcp'])
  })

  it.each([4, 20])(
    '%i times at once gives one and the same successor, and the family lives',
    async (count) => {
      const tokens = await fresh()
      const all = await Promise.all(
        Array.from({ length: count }, () => refresh(server, client, tokens.refresh_token)),
      )
      expect(all.map(({ status }) => status)).toEqual(Array(count).fill(200))
      expect(new Set(all.map(({ body }) => body['refresh_token'])).size).toBe(1)
      for (const { body } of all) expect(await statusOf(server, body['access_token']!)).toBe(200)
      const next = await refresh(server, client, all[0]!.body['refresh_token']!)
      expect(next.status).toBe(200)
      const late = await refresh(server, client, tokens.refresh_token)
      expect([late.status, late.body['refresh_token']]).toEqual([200, all[0]!.body['refresh_token']])
      expect((await refresh(server, client, next.body['refresh_token']!)).status).toBe(200)
    },
  )

  it('eight times at once over two replicas gives one successor; what one revokes the other refuses', async () => {
    const second = await startOAuthServer({ file: join(folder, 'server.db'), base: server.base })
    try {
      const tokens = await fresh()
      const shift = Math.round((server.accounts.now().getTime() - Date.now()) / 1_000)
      second.pass(shift)
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, n) => refresh(n % 2 ? server : second, client, tokens.refresh_token)),
      )
      expect(all.map(({ status }) => status)).toEqual(Array(8).fill(200))
      expect(new Set(all.map(({ body }) => body['refresh_token'])).size).toBe(1)
      const access = all[0]!.body['access_token']!
      expect([await statusOf(server, access), await statusOf(second, access)]).toEqual([200, 200])
      await oauth.revocationRequest(server.as, client, oauth.None(), all[0]!.body['refresh_token']!, http)
      expect([await statusOf(server, access), await statusOf(second, access)]).toEqual([401, 401])
    } finally {
      await second.stop()
    }
  })

  it('again after a minute is theft: the family dies at once', async () => {
    const tokens = await fresh()
    const { body } = await refresh(server, client, tokens.refresh_token)
    server.pass(59)
    expect((await refresh(server, client, tokens.refresh_token)).status).toBe(200)
    server.pass(2)
    const late = await refresh(server, client, tokens.refresh_token)
    expect([late.status, late.body['error']]).toEqual([400, 'invalid_grant'])
    expect(await statusOf(server, body['access_token']!)).toBe(401)
    expect((await refresh(server, client, body['refresh_token']!)).status).toBe(400)
  })

  it('again within the minute, but after a revocation, is refused', async () => {
    const tokens = await fresh()
    const { body } = await refresh(server, client, tokens.refresh_token)
    await oauth.revocationRequest(server.as, client, oauth.None(), body['refresh_token']!, http)
    expect((await refresh(server, client, tokens.refresh_token)).status).toBe(400)
    expect((await refresh(server, client, body['refresh_token']!)).status).toBe(400)
    expect(await statusOf(server, body['access_token']!)).toBe(401)
  })

  it('an access token is no refresh token, nor the other way round', async () => {
    const tokens = await fresh()
    expect((await refresh(server, client, tokens.access_token)).status).toBe(400)
    expect(await statusOf(server, tokens.refresh_token)).toBe(401)
  })

  it('needs no session of the browser', async () => {
    const tokens = await fresh()
    await server.accounts.db.deleteFrom('session').execute()
    expect((await refresh(server, client, tokens.refresh_token)).status).toBe(200)
    await browser.signIn(reader)
  })
})

describe('revoking', () => {
  it.each(['refresh_token', 'access_token'] as const)('by the %s bites at the next request', async (kind) => {
    const tokens = await fresh()
    expect(await statusOf(server, tokens.access_token)).toBe(200)
    const response = await oauth.revocationRequest(server.as, client, oauth.None(), tokens[kind], http)
    await oauth.processRevocationResponse(response)
    expect(await statusOf(server, tokens.access_token)).toBe(401)
    expect((await refresh(server, client, tokens.refresh_token)).status).toBe(400)
  })

  it('is not for other clients, and says nothing of unknown tokens', async () => {
    const tokens = await fresh()
    const stranger = await newClient(server)
    for (const [of, what] of [
      [stranger, tokens.refresh_token],
      [client, 'unknown'],
    ] as const) {
      const { status } = await oauth.revocationRequest(server.as, of, oauth.None(), what, http)
      expect(status).toBe(200)
    }
    expect(await statusOf(server, tokens.access_token)).toBe(200)
  })

  it('by the reader bites too; another reader cannot', async () => {
    const tokens = await fresh()
    const [mine] = await listConnections(server.accounts, reader.id)
    expect(mine).toMatchObject({ clientId: client.client_id, name: 'Test', scopes: ['mcp'] })
    const other = await newReader(server, 'revoker@example.org')
    expect(await listConnections(server.accounts, other.id)).toEqual([])
    expect(await revokeConnection(server.accounts, other.id, mine!.id)).toBe(false)
    expect(await statusOf(server, tokens.access_token)).toBe(200)
    expect(await revokeConnection(server.accounts, reader.id, mine!.id)).toBe(true)
    expect(await statusOf(server, tokens.access_token)).toBe(401)
  })

  it('comes with a new grant of the same client and reader, and with no other', async () => {
    const first = await fresh()
    const second = await newReader(server, 'second@example.org')
    const theirs = (await connect(server, client, new Browser(server), second)).tokens
    const again = await fresh(['notes:read'])
    expect(await statusOf(server, first.access_token)).toBe(401)
    expect((await refresh(server, client, first.refresh_token)).status).toBe(400)
    expect([await statusOf(server, again.access_token), await statusOf(server, theirs.access_token)]).toEqual(
      [200, 200],
    )
    const mine = await listConnections(server.accounts, reader.id)
    expect(mine.filter(({ clientId }) => clientId === client.client_id)).toHaveLength(1)
  })
})

describe('the audience', () => {
  const at = (resource: string | null | undefined): string | null | undefined =>
    typeof resource === 'string' ? server.base + resource : resource

  it.each([
    ['/mcp', '/mcp/'],
    ['/mcp/', '/mcp'],
    ['', '/mcp'],
    ['/', ''],
    ['/mcp', null],
    [undefined, null],
    ['/mcp/', '/'],
    ['/mcp?tools=library', '/mcp?tools=library,highlights'],
  ])('%s when asking and %s for the token is this server', async (asked, given) => {
    const { tokens } = await connect(server, client, browser, reader, {
      extra: { resource: at(asked) ?? undefined },
      tokenResource: at(given) ?? null,
    })
    expect(await statusOf(server, tokens.access_token)).toBe(200)
    expect((await callResource(server, tokens.access_token, '/')).status).toBe(200)
    const more = typeof given === 'string' ? { resource: server.base + given } : {}
    expect((await refresh(server, client, tokens.refresh_token, more)).status).toBe(200)
  })

  it.each(['/other', '/mcp/more', '/mcp#x'])('%s is not', async (path) => {
    const tokens = await fresh()
    const answer = await refresh(server, client, tokens.refresh_token, { resource: server.base + path })
    expect(answer.body['error']).toBe('invalid_target')
  })

  it('of a token that was made for another server is refused', async () => {
    const tokens = await fresh()
    await server.accounts.db
      .updateTable('oauth_grant')
      .set({ resource: 'https://evil.example/mcp' })
      .where('client_id', '=', client.client_id)
      .execute()
    expect(await statusOf(server, tokens.access_token)).toBe(401)
  })
})

describe('an access token', () => {
  it('is over after an hour', async () => {
    const tokens = await fresh()
    server.pass(3_599)
    expect(await statusOf(server, tokens.access_token)).toBe(200)
    server.pass(2)
    const { status, headers } = await callResource(server, tokens.access_token)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  it('goes in the header, as a bearer token and nothing else', async () => {
    const { access_token } = await fresh()
    for (const authorization of [
      access_token,
      `Basic ${access_token}`,
      `Bearer ${access_token} x`,
      'Bearer',
      'Bearer ',
    ]) {
      const response = await fetch(server.resource, { method: 'POST', headers: { authorization } })
      expect(response.status).toBe(401)
    }
    const inAddress = await fetch(`${server.resource}?access_token=${access_token}`, { method: 'POST' })
    expect(inAddress.status).toBe(401)
  })

  it('is counted, and its reader sees when it was last used', async () => {
    const { access_token } = await fresh()
    await statusOf(server, access_token)
    await statusOf(server, access_token)
    const [mine] = await listConnections(server.accounts, reader.id)
    expect(mine).toMatchObject({ calls: 2, lastUsedAt: expect.stringMatching(/^\d{4}-/) as string })
  })
})

it('a sweep takes what is over and leaves clients and live connections alone', async () => {
  const live = await fresh()
  const clients = async () =>
    (await server.accounts.db.selectFrom('oauth_client').select('id').execute()).length
  const before = await clients()
  server.pass(50 * DAY)
  await sweep(server.accounts)
  expect((await refresh(server, client, live.refresh_token)).status).toBe(200)
  server.pass(61 * DAY)
  await sweep(server.accounts)
  expect(await listConnections(server.accounts, reader.id)).toEqual([])
  expect(await clients()).toBe(before)
  await browser.signIn(reader)
})

it('a restart keeps clients, connections, sessions and a consent page that is open', async () => {
  const file = join(folder, 'restarted.db')
  const before = await startOAuthServer({ file })
  const someone = await newReader(before, 'someone@example.org')
  const app = await newClient(before)
  const old = new Browser(before)
  const { tokens } = await connect(before, app, old, someone)
  const open = formOf(await old.page((await authorizeUrl(before, app)).url))
  await before.stop()
  const after = await startOAuthServer({ file, base: before.base })
  try {
    expect(await statusOf(after, tokens.access_token)).toBe(200)
    expect((await refresh(after, app, tokens.refresh_token)).status).toBe(200)
    const cookies = [...old.jar.values()].map(({ name, value }) => `${name}=${value}`).join('; ')
    const response = await fetch(open.action.replace(before.base, after.base), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: cookies, origin: before.base },
      body: new URLSearchParams({ csrf: open.csrf, decision: 'allow', scope: 'mcp' }),
    })
    expect(new URL(response.headers.get('location')!).searchParams.get('code')).toBeTruthy()
  } finally {
    await after.stop()
  }
})

it('deleting a reader ends everything at once, and nobody else’s', async () => {
  const gone = await newReader(server, 'gone@example.org')
  const theirs = await new Browser(server).signIn(gone)
  const { tokens } = await connect(server, client, theirs, gone)
  const open = formOf(await theirs.page((await authorizeUrl(server, client)).url))
  const kept = await fresh()
  expect(await deleteReader(server.accounts.db, gone.id)).toBe(true)
  expect(await statusOf(server, tokens.access_token)).toBe(401)
  expect((await refresh(server, client, tokens.refresh_token)).status).toBe(400)
  const answered = await theirs.post(open.action, [
    ['csrf', open.csrf],
    ['decision', 'allow'],
    ['scope', 'mcp'],
  ])
  expect(pageOf(answered).status).toBe(400)
  const { db } = server.accounts
  for (const table of ['session', 'credential', 'oauth_grant', 'personal_token'] as const)
    expect(await db.selectFrom(table).select('reader_id').where('reader_id', '=', gone.id).execute()).toEqual(
      [],
    )
  expect(await statusOf(server, kept.access_token)).toBe(200)
})
