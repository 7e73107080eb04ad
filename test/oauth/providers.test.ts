import { generateKeyPairSync } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { makeInvitation } from '../../src/features/accounts/invitation-store.ts'
import {
  findReader,
  findReaderByEmail,
  listReaders,
  setEmail,
} from '../../src/features/accounts/reader-store.ts'
import { createIdentityProviders } from '../../src/outside/identity-providers.ts'
import {
  appleShape,
  GOOGLE_SHAPE,
  newTeamKey,
  openIdp,
  type Answer,
  type LocalIdp,
} from './identity-provider.ts'
import {
  Browser,
  formOf,
  newReader,
  startOAuthServer,
  type Page,
  type ServerOptions,
  type TestReader,
  type TestServer,
} from './support.ts'

type Name = 'google' | 'apple' | 'oidc'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
})

const TEAM = newTeamKey()
const SHAPES = {
  google: GOOGLE_SHAPE,
  apple: appleShape({ id: 'key-1', teamId: 'TEAM', publicKey: TEAM.publicKey }),
  oidc: {},
}

interface Setting {
  server: TestServer
  idp: LocalIdp
  name: Name
}

async function setUp(name: Name, options: ServerOptions = {}, shape = SHAPES[name]): Promise<Setting> {
  const idp = await openIdp(shape)
  const { clientId, clientSecret, issuer, fetch } = idp
  const providers = createIdentityProviders({
    fetch,
    ...(name === 'google' && { google: { clientId, clientSecret } }),
    ...(name === 'apple' && {
      apple: { clientId, teamId: 'TEAM', keyId: 'key-1', privateKey: TEAM.pem },
    }),
    ...(name === 'oidc' && { oidc: { issuer, clientId, clientSecret, name: 'Our school' } }),
  })
  const server = await startOAuthServer({ providers, signUp: 'open', ...options })
  idp.serve(server.base, name)
  running.push(idp, server)
  return { server, idp, name }
}

/** Presses the provider's button and gives where the browser is sent. */
async function leave({ server, name }: Setting, browser: Browser, from = '/sign-in'): Promise<string> {
  const page = await browser.page(server.base + from)
  const invitation = /name="invitation" value="([^"]*)"/.exec(page.html)?.[1]
  const { csrf, next = '' } = formOf(page)
  return sentTo(
    await browser.postForPage(`${server.base}/sign-in/with/${name}`, [
      ['csrf', csrf],
      ['next', next],
      ...(invitation === undefined ? [] : [['invitation', invitation] as const]),
    ]),
  )
}

function sentTo(page: Page): string {
  const to = /^0; url=(.+)$/.exec(page.headers.get('refresh') ?? '')?.[1]
  if (to === undefined) throw new Error(`sent nowhere: ${page.status} ${page.html.slice(-300)}`)
  return to
}

/** Comes back as the provider sends the browser: an address, or a form from the provider's own page. */
async function comeBack({ idp }: Setting, browser: Browser, { to, form }: Answer): Promise<Page> {
  if (form === undefined) return browser.page(to.href)
  return browser.postForPage(to.href, form, { origin: idp.issuer, 'x-cross-site': 'yes' })
}

async function signIn(setting: Setting, browser = new Browser(setting.server), from?: string): Promise<Page> {
  return comeBack(setting, browser, await setting.idp.answer(await leave(setting, browser, from)))
}

const emailOf = (page: Page): string | undefined => /signed in as <b>([^<]+)</.exec(page.html)?.[1]
const titleOf = (page: Page): string => /<h1>([^<]+)/.exec(page.html)?.[1] ?? ''
const hasSession = (browser: Browser): boolean => browser.jar.has('commonplace|/')

async function proved({ server }: Setting, email: string): Promise<TestReader> {
  const reader = await newReader(server, email)
  await setEmail(server.accounts.db, reader.id, email, server.accounts.now().toISOString())
  return reader
}

/** Presses "Add" on the account page. */
async function add(setting: Setting, browser: Browser): Promise<string> {
  const { server, name } = setting
  const { csrf } = formOf(await browser.page(`${server.base}/account`))
  return sentTo(
    await browser.postForPage(`${server.base}/account/add-provider`, [
      ['csrf', csrf],
      ['provider', name],
    ]),
  )
}

describe.each(['google', 'apple', 'oidc'] as const)('%s', (name) => {
  it('makes a reader, and signs them in again', async () => {
    const setting = await setUp(name)
    setting.idp.person = {
      sub: 's-1',
      email: 'Ada@Example.org',
      email_verified: name === 'apple' ? 'true' : true,
      ...(name === 'google' && { hd: 'example.org' }),
    }
    const first = await signIn(setting)
    expect([first.status, emailOf(first)]).toEqual([200, 'ada@example.org'])
    const reader = (await findReaderByEmail(setting.server.accounts.db, 'ada@example.org'))!
    expect(reader.emailVerifiedAt).not.toBeNull()
    // By issuer and subject, whatever the address has become.
    setting.idp.person = { sub: 's-1', email: 'moved@example.org', email_verified: true }
    expect(emailOf(await signIn(setting))).toBe('ada@example.org')
    expect(await listReaders(setting.server.accounts.db)).toHaveLength(1)
    expect(setting.server.errors).toEqual([])
  })

  it('is asked with a code, S256, a state, a nonce, and our exact address', async () => {
    const setting = await setUp(name)
    const url = new URL(await leave(setting, new Browser(setting.server)))
    const { response_type, redirect_uri, code_challenge_method, code_challenge, state, nonce, ...rest } =
      Object.fromEntries(url.searchParams)
    expect([response_type, redirect_uri, code_challenge_method]).toEqual([
      'code',
      `${setting.server.base}/sign-in/with/${name}/callback`,
      'S256',
    ])
    expect([code_challenge, state, nonce].map((value) => /^[\w-]{43}$/.test(value!))).toEqual([
      true,
      true,
      true,
    ])
    expect(new Set([code_challenge, state, nonce]).size).toBe(3)
    expect(rest['response_mode']).toBe(name === 'apple' ? 'form_post' : undefined)
    expect(rest['scope']!.split(' ')).toContain('email')
  })

  it('signs nobody in twice with one answer', async () => {
    const setting = await setUp(name)
    const browser = new Browser(setting.server)
    const answer = await setting.idp.answer(await leave(setting, browser))
    const pages = await Promise.all([1, 2, 3].map(() => comeBack(setting, browser, answer)))
    expect(pages.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400])
    expect((await comeBack(setting, browser, answer)).status).toBe(400)
  })

  it('counts in the browser that was sent, and nowhere else: nobody is signed in as another', async () => {
    const setting = await setUp(name)
    const attacker = new Browser(setting.server)
    const answer = await setting.idp.answer(await leave(setting, attacker))
    const victim = new Browser(setting.server)
    expect((await comeBack(setting, victim, answer)).status).toBe(400)
    // Nor where it left with a request of its own.
    await leave(setting, victim)
    expect((await comeBack(setting, victim, answer)).status).toBe(400)
    expect(hasSession(victim)).toBe(false)
  })

  it('declines on a page of ours', async () => {
    const setting = await setUp(name)
    setting.idp.declines = true
    const browser = new Browser(setting.server)
    const page = await signIn(setting, browser)
    expect([page.status, page.url.startsWith(setting.server.base)]).toEqual([403, true])
    expect(page.html).toContain('did not sign you in')
    expect(hasSession(browser)).toBe(false)
  })
})

describe('an answer', () => {
  it('of another’s code is refused: PKCE holds it', async () => {
    const setting = await setUp('oidc')
    const attacker = new Browser(setting.server)
    const stolen = (await setting.idp.answer(await leave(setting, attacker))).to.searchParams.get('code')!
    const victim = new Browser(setting.server)
    const answer = await setting.idp.answer(await leave(setting, victim))
    answer.to.searchParams.set('code', stolen)
    expect((await comeBack(setting, victim, answer)).status).toBe(403)
    expect(hasSession(victim)).toBe(false)
  })

  it('of another’s code is refused where the provider knows no PKCE: the nonce holds it', async () => {
    const setting = await setUp('oidc')
    setting.idp.tamper.withoutPkce = true
    expect((await signIn(setting)).status).toBe(200)
    const attacker = new Browser(setting.server)
    const stolen = (await setting.idp.answer(await leave(setting, attacker))).to.searchParams.get('code')!
    const victim = new Browser(setting.server)
    const answer = await setting.idp.answer(await leave(setting, victim))
    answer.to.searchParams.set('code', stolen)
    const page = await comeBack(setting, victim, answer)
    expect([page.status, hasSession(victim)]).toEqual([403, false])
    expect(String(setting.server.errors[0])).toMatch(/nonce/)
  })

  it('with the state of another provider, an unknown one, or none is nobody’s', async () => {
    const one = await setUp('google')
    const browser = new Browser(one.server)
    const { to } = await one.idp.answer(await leave(one, browser))
    for (const state of [undefined, 'x', '']) {
      const changed = new URL(to)
      if (state === undefined) changed.searchParams.delete('state')
      else changed.searchParams.set('state', state)
      expect((await browser.page(changed.href)).status).toBe(400)
    }
    const other = new URL(to)
    other.pathname = '/sign-in/with/oidc/callback'
    expect((await browser.page(other.href)).status).toBe(404)
    expect((await browser.page(to.href)).status).toBe(200)
  })

  it('for one provider is none for another', async () => {
    const idp = await openIdp()
    const { clientId, clientSecret, issuer, fetch } = idp
    const [mine] = createIdentityProviders({ fetch, oidc: { issuer, clientId, clientSecret, name: 'Mine' } })
    const server = await startOAuthServer({
      signUp: 'open',
      providers: [mine!, { ...mine!, name: 'evil', issuer: 'https://evil.example' }],
    })
    running.push(idp, server)
    idp.serve(server.base, 'oidc')
    const setting: Setting = { server, idp, name: 'oidc' }
    const browser = new Browser(server)
    const { to } = await idp.answer(await leave(setting, browser))
    to.pathname = '/sign-in/with/evil/callback'
    expect((await browser.page(to.href)).status).toBe(400)
    expect(hasSession(browser)).toBe(false)
  })

  it('is over after ten minutes', async () => {
    const setting = await setUp('oidc')
    const browser = new Browser(setting.server)
    const answer = await setting.idp.answer(await leave(setting, browser))
    setting.server.pass(601)
    expect((await comeBack(setting, browser, answer)).status).toBe(400)
  })

  it('that names another issuer is refused (mix-up, RFC 9207)', async () => {
    const setting = await setUp('oidc')
    const browser = new Browser(setting.server)
    const answer = await setting.idp.answer(await leave(setting, browser))
    expect(answer.to.searchParams.get('iss')).toBe(setting.idp.issuer)
    answer.to.searchParams.set('iss', 'https://evil.example')
    expect((await comeBack(setting, browser, answer)).status).toBe(403)
  })

  it('comes the way that was asked for', async () => {
    const google = await setUp('google')
    const browser = new Browser(google.server)
    const { to } = await google.idp.answer(await leave(google, browser))
    const form = [...to.searchParams] as [string, string][]
    const page = await browser.postForPage(`${to.origin}${to.pathname}`, form, { origin: google.idp.issuer })
    expect(page.status).toBe(400)
    const apple = await setUp('apple')
    const other = new Browser(apple.server)
    const answer = await apple.idp.answer(await leave(apple, other))
    const query = new URLSearchParams(answer.form).toString()
    expect((await other.page(`${answer.to.href}?${query}`)).status).toBe(400)
  })

  it.each([
    ['of another issuer', { iss: 'https://evil.example' }],
    ['for another client', { aud: 'another' }],
    ['that is over', { exp: 1_000 }],
    ['without a nonce', { nonce: undefined }],
    ['with the nonce of another', { nonce: 'x'.repeat(43) }],
    ['without a subject', { sub: undefined }],
  ])('with an ID token %s is refused', async (_what, changed) => {
    const setting = await setUp('oidc')
    const { idp } = setting
    idp.tamper.tokens = (found) => {
      const claims = JSON.parse(
        Buffer.from(String(found['id_token']).split('.')[1]!, 'base64url').toString(),
      ) as object
      return { ...found, id_token: idp.mint({ ...claims, ...changed }) }
    }
    const browser = new Browser(setting.server)
    expect((await signIn(setting, browser)).status).toBe(403)
    expect(hasSession(browser)).toBe(false)
    expect(await listReaders(setting.server.accounts.db)).toEqual([])
    expect(setting.server.errors).toHaveLength(1)
  })

  it('with an ID token that another key signed, or none, is refused', async () => {
    const setting = await setUp('oidc')
    const { idp } = setting
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const claimsOf = (token: unknown) =>
      JSON.parse(Buffer.from(String(token).split('.')[1]!, 'base64url').toString()) as object
    idp.tamper.tokens = (found) => ({ ...found, id_token: idp.mint(claimsOf(found['id_token']), privateKey) })
    expect((await signIn(setting)).status).toBe(403)
    idp.tamper.tokens = (found) => {
      const none = Buffer.from('{"alg":"none"}').toString('base64url')
      const body = Buffer.from(JSON.stringify(claimsOf(found['id_token']))).toString('base64url')
      return { ...found, id_token: `${none}.${body}.` }
    }
    expect((await signIn(setting)).status).toBe(403)
    idp.tamper.tokens = ({ id_token: _gone, ...found }) => found
    expect((await signIn(setting)).status).toBe(403)
    idp.tamper = {}
    expect((await signIn(setting)).status).toBe(200)
  })
})

describe('a provider', () => {
  it.each([
    ['names http for the browser', { authorization_endpoint: 'http://accounts.google.com/o/oauth2/v2/auth' }],
    ['names this machine', { authorization_endpoint: 'http://127.0.0.1:9/auth' }],
    ['names a script', { authorization_endpoint: 'javascript:alert(1)' }],
    ['names a password', { authorization_endpoint: 'https://a:b@accounts.google.com/auth' }],
    ['names nothing', { authorization_endpoint: undefined }],
    ['is another', { issuer: 'https://evil.example' }],
  ])('that %s is not gone to', async (_what, changed) => {
    const setting = await setUp('google')
    setting.idp.tamper.document = (found) => ({ ...found, ...changed })
    const browser = new Browser(setting.server)
    await expect(leave(setting, browser)).rejects.toThrow(/sent nowhere: 503/)
  })

  it.each([
    ['token_endpoint', 'http://oauth2.googleapis.com/token'],
    ['token_endpoint', 'http://127.0.0.1:9/token'],
    ['jwks_uri', 'http://www.googleapis.com/oauth2/v3/certs'],
  ])('that names %s at %s is not asked there', async (endpoint, address) => {
    const setting = await setUp('google')
    setting.idp.tamper.document = (found) => ({ ...found, [endpoint]: address })
    const page = await signIn(setting)
    expect(page.status).toBe(403)
    expect(setting.idp.asked.filter((line) => line.includes('http:'))).toEqual([])
  })

  it('on this machine may name this machine, and no http elsewhere', async () => {
    const setting = await setUp('oidc')
    expect(setting.idp.issuer).toMatch(/^http:/)
    setting.idp.tamper.document = (found) => ({
      ...found,
      authorization_endpoint: 'http://school.example/auth',
    })
    await expect(leave(setting, new Browser(setting.server))).rejects.toThrow(/503/)
    setting.idp.tamper.document = (found) => ({ ...found, token_endpoint: 'http://school.example/token' })
    expect((await signIn(setting)).status).toBe(403)
    expect(setting.idp.asked.filter((line) => line.includes('school.example'))).toEqual([])
  })

  it('that sends us elsewhere is not followed', async () => {
    const setting = await setUp('google')
    setting.idp.tamper.moved = true
    await expect(leave(setting, new Browser(setting.server))).rejects.toThrow(/503/)
    setting.idp.tamper = {}
    await leave(setting, new Browser(setting.server))
  })

  it('whose answer has no end is not read to it', async () => {
    const setting = await setUp('google')
    setting.idp.tamper.document = () => new Response('x'.repeat(300_000))
    await expect(leave(setting, new Browser(setting.server))).rejects.toThrow(/503/)
    expect(String(setting.server.errors[0])).toMatch(/no end/)
  })

  it('that is gone is a page that says so; known, it may be away for a while', async () => {
    const setting = await setUp('google')
    setting.idp.tamper.document = () => new Response('busy', { status: 500 })
    const browser = new Browser(setting.server)
    await expect(leave(setting, browser)).rejects.toThrow(/503/)
    setting.idp.tamper = {}
    const to = await leave(setting, browser)
    setting.idp.tamper.tokens = () => new Response('busy', { status: 503 })
    expect((await comeBack(setting, browser, await setting.idp.answer(to))).status).toBe(503)
  })

  it('that gives the address apart is asked for it', async () => {
    const setting = await setUp('oidc', {}, { ...SHAPES.oidc, emailInIdToken: false } as object)
    setting.idp.person = { sub: 's', email: 'apart@example.org', email_verified: true }
    expect([emailOf(await signIn(setting)), setting.server.errors]).toEqual(['apart@example.org', []])
  })

  it('is gone to by our own form alone', async () => {
    const setting = await setUp('google')
    const browser = new Browser(setting.server)
    await browser.page(`${setting.server.base}/sign-in`)
    const forged = await browser.postForPage(`${setting.server.base}/sign-in/with/google`, [['csrf', 'x']])
    expect(forged.status).toBe(403)
    const reader = await newReader(setting.server, 'r@example.org')
    const theirs = await new Browser(setting.server).signIn(reader)
    const linking = await theirs.postForPage(`${setting.server.base}/account/add-provider`, [
      ['csrf', 'x'],
      ['provider', 'google'],
    ])
    expect(linking.status).toBe(403)
  })

  it('is gone to a number of times, then waits', async () => {
    const setting = await setUp('google', { limits: { provider: { count: 2, seconds: 900 } } })
    const browser = new Browser(setting.server)
    await leave(setting, browser)
    await leave(setting, browser)
    await expect(leave(setting, browser)).rejects.toThrow(/429/)
  })

  it('leaves nothing usable at rest', async () => {
    const setting = await setUp('google')
    const url = new URL(await leave(setting, new Browser(setting.server)))
    const rows = JSON.stringify(
      await setting.server.accounts.db.selectFrom('provider_request').selectAll().execute(),
    )
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(rows).not.toContain(url.searchParams.get(name))
  })
})

describe('a reader who is there already', () => {
  it('is signed in by address only where both sides proved it; then by identity', async () => {
    const setting = await setUp('google')
    const reader = await proved(setting, 'both@example.org')
    setting.idp.person = { sub: 's-1', email: 'Both@example.org', email_verified: true, hd: 'example.org' }
    expect(emailOf(await signIn(setting))).toBe('both@example.org')
    await setEmail(setting.server.accounts.db, reader.id, 'elsewhere@example.org', null)
    expect(emailOf(await signIn(setting))).toBe('elsewhere@example.org')
  })

  it.each([
    ['the provider did not check the address', false, true],
    ['the provider says nothing of it', undefined, true],
    ['the provider says it in a word that is none', 'yes', true],
    ['nobody proved it here', true, false],
  ])('is not where %s', async (_what, verified, provedHere) => {
    const setting = await setUp('oidc')
    const reader = provedHere
      ? await proved(setting, 'victim@example.org')
      : await newReader(setting.server, 'victim@example.org')
    setting.idp.person = {
      sub: 'attacker',
      email: 'victim@example.org',
      ...(verified !== undefined && { email_verified: verified }),
    }
    const browser = new Browser(setting.server)
    const page = await signIn(setting, browser)
    expect([page.status, hasSession(browser)]).toEqual([409, false])
    expect(page.html).toContain('Sign in another\nway first')
    expect(await listReaders(setting.server.accounts.db)).toEqual([
      expect.objectContaining({ id: reader.id }),
    ])
  })

  it('is not where Google once checked an address of another mail server: it may have changed hands', async () => {
    const setting = await setUp('google')
    const { db } = setting.server.accounts
    for (const [email, hd, status] of [
      ['ada@example.org', undefined, 409],
      ['ada@gmail.com.example.org', undefined, 409],
      ['ada@example.org', '', 409],
      ['Ada@Gmail.com', undefined, 200],
      ['ada@school.example', 'school.example', 200],
    ] as const) {
      const known = await findReaderByEmail(db, email)
      if (!known) await proved(setting, email.toLowerCase())
      const sub = `of ${email}`
      setting.idp.person = { sub, email, email_verified: true, ...(hd !== undefined && { hd }) }
      const browser = new Browser(setting.server)
      expect([email, (await signIn(setting, browser)).status, hasSession(browser)]).toEqual([
        email,
        status,
        status === 200,
      ])
    }
    // Nor does whoever comes first by it have it for their own.
    setting.idp.person = { sub: 'new', email: 'new@example.org', email_verified: true }
    expect((await signIn(setting)).status).toBe(200)
    expect(await findReaderByEmail(db, 'new@example.org')).toBeUndefined()
  })

  it('adds a provider on the account page, and is signed in by it from then on', async () => {
    const setting = await setUp('google')
    const reader = await newReader(setting.server, 'mine@example.org')
    const browser = await new Browser(setting.server).signIn(reader)
    setting.idp.person = { sub: 'g', email: 'other@gmail.example', email_verified: true }
    const page = await comeBack(setting, browser, await setting.idp.answer(await add(setting, browser)))
    expect(page.url).toBe(`${setting.server.base}/account`)
    expect(page.html).toContain('<b>Google</b> as other@gmail.example')
    expect(emailOf(await signIn(setting))).toBe('mine@example.org')
  })

  it('adds one by form too, though the session’s cookie does not come along', async () => {
    const setting = await setUp('apple')
    const reader = await newReader(setting.server, 'apple@example.org')
    const browser = await new Browser(setting.server).signIn(reader)
    const answer = await setting.idp.answer(await add(setting, browser))
    const page = await comeBack(setting, browser, answer)
    expect(page.html).toContain('<b>Apple</b>')
  })

  it('does not get what is another’s', async () => {
    const setting = await setUp('google')
    await signIn(setting)
    const reader = await newReader(setting.server, 'second@example.org')
    const browser = await new Browser(setting.server).signIn(reader)
    const page = await comeBack(setting, browser, await setting.idp.answer(await add(setting, browser)))
    expect([page.status, titleOf(page)]).toEqual([409, 'This belongs to another reader'])
  })

  it('who signed out meanwhile adds nothing, nor does a session that was ended elsewhere', async () => {
    const setting = await setUp('google')
    const reader = await newReader(setting.server, 'gone@example.org')
    const browser = await new Browser(setting.server).signIn(reader)
    const answer = await setting.idp.answer(await add(setting, browser))
    await setting.server.accounts.db.deleteFrom('session').execute()
    expect((await comeBack(setting, browser, answer)).status).toBe(400)
    expect(await setting.server.accounts.db.selectFrom('external_identity').selectAll().execute()).toEqual([])
  })

  it('adds no way in from a browser that was left open', async () => {
    const setting = await setUp('google')
    const reader = await newReader(setting.server, 'open@example.org')
    const browser = await new Browser(setting.server).signIn(reader)
    setting.server.pass(3_601)
    await expect(add(setting, browser)).rejects.toThrow(/403/)
  })

  it('keeps the last way in', async () => {
    const setting = await setUp('google')
    const browser = new Browser(setting.server)
    const account = await signIn(setting, browser)
    const remove = async () => {
      const page = await browser.page(`${setting.server.base}/account`)
      const [, issuer, subject] =
        /name="issuer" value="([^"]+)"><input type="hidden" name="subject" value="([^"]+)"/.exec(page.html)!
      return browser.postForPage(`${setting.server.base}/account/end-provider`, [
        ['csrf', formOf(page).csrf],
        ['issuer', issuer!],
        ['subject', subject!],
      ])
    }
    const kept = await remove()
    expect([kept.status, kept.html.includes('your last way to sign in')]).toEqual([400, true])
    await browser.post(`${setting.server.base}/account/password`, [
      ['csrf', formOf(account).csrf],
      ['password', 'a password of ten'],
    ])
    expect((await remove()).status).toBe(200)
    expect(await setting.server.accounts.db.selectFrom('external_identity').selectAll().execute()).toEqual([])
  })

  it('is taken away by its reader and nobody else', async () => {
    const setting = await setUp('google')
    await signIn(setting)
    const other = await newReader(setting.server, 'meddler@example.org')
    const browser = await new Browser(setting.server).signIn(other)
    const { csrf } = formOf(await browser.page(`${setting.server.base}/account`))
    await browser.post(`${setting.server.base}/account/end-provider`, [
      ['csrf', csrf],
      ['issuer', setting.idp.issuer],
      ['subject', setting.idp.person.sub],
    ])
    expect(
      await setting.server.accounts.db.selectFrom('external_identity').selectAll().execute(),
    ).toHaveLength(1)
  })
})

describe('somebody new', () => {
  it('does not come in where nobody does', async () => {
    const setting = await setUp('google', { signUp: 'closed' })
    const browser = new Browser(setting.server)
    expect((await signIn(setting, browser)).status).toBe(403)
    expect(await listReaders(setting.server.accounts.db)).toEqual([])
  })

  it.each(['google', 'apple'] as const)(
    'brings an invitation through %s, which is used once',
    async (name) => {
      const setting = await setUp(name, { signUp: 'invite' })
      expect((await signIn(setting)).status).toBe(403)
      const { link } = await makeInvitation(setting.server.accounts, { email: 'one@example.org' })
      const path = link!.slice(setting.server.base.length)
      setting.idp.person = { sub: 'two', email: 'two@example.org', email_verified: true }
      expect((await signIn(setting, new Browser(setting.server), path)).status).toBe(403)
      setting.idp.person = { sub: 'one', email: 'one@example.org', email_verified: false }
      expect((await signIn(setting, new Browser(setting.server), path)).status).toBe(403)
      setting.idp.person = { sub: 'one', email: 'one@example.org', email_verified: true, hd: 'example.org' }
      expect(emailOf(await signIn(setting, new Browser(setting.server), path))).toBe('one@example.org')
      setting.idp.person = { sub: 'three', email: 'one@example.org', email_verified: true }
      const again = new Browser(setting.server)
      expect((await again.page(link!)).status).toBe(403)
    },
  )

  it('whose address is not proved has none here: it stays free for its owner', async () => {
    const setting = await setUp('oidc')
    setting.idp.person = {
      sub: 's',
      email: 'not-mine@example.org',
      email_verified: false,
      name: 'Some\nbody',
    }
    const page = await signIn(setting)
    expect(emailOf(page)).toBe('Some body')
    expect(await findReaderByEmail(setting.server.accounts.db, 'not-mine@example.org')).toBeUndefined()
  })

  it('who comes twice at once is one reader', async () => {
    const setting = await setUp('oidc')
    const browsers = [new Browser(setting.server), new Browser(setting.server)]
    const answers = await Promise.all(
      browsers.map(async (browser) => setting.idp.answer(await leave(setting, browser))),
    )
    const pages = await Promise.all(answers.map((answer, n) => comeBack(setting, browsers[n]!, answer)))
    expect(pages.map(emailOf)).toEqual(['one@example.org', 'one@example.org'])
    expect(await listReaders(setting.server.accounts.db)).toHaveLength(1)
  })

  it('is counted among those who sign up', async () => {
    const setting = await setUp('oidc', { limits: { signUp: { count: 1, seconds: 3_600 } } })
    expect((await signIn(setting)).status).toBe(200)
    setting.idp.person = { sub: 'other', email: 'other@example.org', email_verified: true }
    expect((await signIn(setting)).status).toBe(429)
    setting.idp.person = { sub: 'one' }
    expect((await signIn(setting)).status).toBe(200)
  })
})

describe('the session', () => {
  it.each(['google', 'apple'] as const)('is new, and the one before is over, by %s', async (name) => {
    const setting = await setUp(name)
    const attacker = await newReader(setting.server, 'attacker@example.org')
    const browser = await new Browser(setting.server).signIn(attacker)
    const planted = browser.jar.get('commonplace|/')!.value
    const page = await signIn(setting, browser, '/sign-in?again=1')
    expect(emailOf(page)).toBe('one@example.org')
    const old = new Browser(setting.server)
    old.jar.set('commonplace|/', { name: 'commonplace', value: planted, path: '/', attributes: '' })
    expect((await old.page(`${setting.server.base}/account`)).url).toBe(`${setting.server.base}/sign-in`)
  })

  it('leads where it was meant to, and nowhere else', async () => {
    const setting = await setUp('google')
    const page = await signIn(setting, new Browser(setting.server), '/sign-in?next=%2Faccount%3Fx')
    expect(page.url).toBe(`${setting.server.base}/account?x`)
    const elsewhere = await signIn(
      setting,
      new Browser(setting.server),
      '/sign-in?next=https%3A%2F%2Fevil.example',
    )
    expect(elsewhere.url).toBe(`${setting.server.base}/account`)
  })

  it('of a suspended reader does not begin', async () => {
    const setting = await setUp('google')
    await signIn(setting)
    const [reader] = await listReaders(setting.server.accounts.db)
    await setting.server.accounts.db.updateTable('reader').set({ suspended_at: 'now' }).execute()
    const browser = new Browser(setting.server)
    expect((await signIn(setting, browser)).status).toBe(403)
    expect(hasSession(browser)).toBe(false)
    expect(await findReader(setting.server.accounts.db, reader!.id)).toBeDefined()
  })
})

it('the cookie for the way back crosses sites only where a form comes from another, and over https alone', async () => {
  const cookieOf = async (name: Name) => {
    const setting = await setUp(name)
    const browser = new Browser(setting.server)
    await leave(setting, browser)
    return browser.jar.get('commonplace-crossing|/')!.attributes
  }
  expect(await cookieOf('google')).toBe('Path=/; Max-Age=600; HttpOnly; SameSite=Lax')
  expect(await cookieOf('apple')).toBe('Path=/; Max-Age=600; HttpOnly; SameSite=None; Secure')
})
