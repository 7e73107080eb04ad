import { createHook } from 'node:async_hooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authenticate } from '../../src/features/accounts/authenticate.ts'
import { ensureFirstReader, makeSignInLink, setPassword } from '../../src/features/accounts/identity.ts'
import {
  listPersonalTokens,
  makePersonalToken,
  revokePersonalToken,
} from '../../src/features/accounts/personal-token-store.ts'
import { addReader } from '../../src/features/accounts/reader-store.ts'
import {
  authorizeUrl,
  Browser,
  callResource,
  connect,
  formOf,
  newClient,
  newReader,
  pageOf,
  signInOn,
  startOAuthServer,
  statusOf,
  type TestReader,
  type TestServer,
} from './support.ts'

let server: TestServer
let reader: TestReader
beforeAll(async () => {
  server = await startOAuthServer()
  reader = await newReader(server, 'reader@example.org')
})
afterAll(async () => {
  expect(server.errors).toEqual([])
  await server.stop()
})

const signInPage = (browser: Browser) => browser.page(`${server.base}/sign-in`)
const sessionOf = (browser: Browser) => browser.jar.get('commonplace|/')

describe('a password', () => {
  it('signs in, whatever the case of the e-mail', async () => {
    const browser = new Browser(server)
    const page = await signInOn(browser, await signInPage(browser), {
      ...reader,
      email: ' Reader@Example.ORG ',
    })
    expect(page.html).toContain('You are signed in as <b>reader@example.org</b>')
    expect(sessionOf(browser)!.attributes).toBe('Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax')
  })

  it.each([
    ['wrong', 'reader@example.org', 'nope nope nope'],
    ['empty', 'reader@example.org', ''],
    ['of an unknown reader', 'nobody@example.org', 'nope nope nope'],
    ['of a reader without one', 'link-only@example.org', ''],
  ])('that is %s: the same page, and no session', async (_name, email, password) => {
    if (email.startsWith('link-only')) await addReader(server.accounts, { email })
    const browser = new Browser(server)
    const page = await signInOn(browser, await signInPage(browser), { email, password })
    expect([page.status, page.html.includes('E-mail or password is wrong.')]).toEqual([401, true])
    expect(sessionOf(browser)).toBeUndefined()
  })

  it('is guessed ten times and no more, right or wrong, from one address; the owner elsewhere gets in', async () => {
    const guarded = await startOAuthServer({
      limits: { signIn: { count: 10, seconds: 900 } },
      addressFromHeader: true,
    })
    try {
      const owner = await newReader(guarded, 'owner@example.org')
      const attempt = async (password: string, address: string) => {
        const browser = new Browser(guarded)
        const form = formOf(await browser.page(`${guarded.base}/sign-in`))
        const fields = [
          ['csrf', form.csrf],
          ['next', ''],
          ['email', owner.email],
          ['password', password],
        ] as const
        return pageOf(await browser.post(form.action, fields, { 'x-test-address': address }))
      }
      // At once: no guess slips by while others are being looked at.
      const guesses = await Promise.all(
        Array.from({ length: 14 }, (_, n) => attempt(`guess ${n}`, '192.0.2.1')),
      )
      const statuses = guesses.map(({ status }) => status).toSorted((a, b) => a - b)
      expect(statuses).toEqual([...Array(10).fill(401), ...Array(4).fill(429)])
      const refused = await attempt(owner.password, '192.0.2.1')
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([
        429,
        expect.stringMatching(/^\d+$/),
      ])
      expect((await attempt(owner.password, '192.0.2.2')).status).toBe(200)
      guarded.pass(901)
      expect((await attempt(owner.password, '192.0.2.1')).status).toBe(200)
    } finally {
      await guarded.stop()
    }
  })

  it('that is right costs no attempt', async () => {
    const guarded = await startOAuthServer({ limits: { signIn: { count: 1, seconds: 900 } } })
    try {
      const owner = await newReader(guarded, 'owner@example.org')
      for (let n = 0; n < 3; n++) {
        const browser = new Browser(guarded)
        const page = await signInOn(browser, await browser.page(`${guarded.base}/sign-in`), owner)
        expect(page.status).toBe(200)
      }
    } finally {
      await guarded.stop()
    }
  })

  it('of an unknown reader is stretched like any other', async () => {
    const usual = await startOAuthServer()
    try {
      const known = await newReader(usual, 'known@example.org')
      const costs: number[] = []
      const cost = usual.accounts.passwordCost
      Object.defineProperty(usual.accounts, 'passwordCost', {
        get: () => {
          costs.push(cost)
          return cost
        },
      })
      /** How often a password is stretched on the way: what the time of an answer goes by. */
      const stretches = async (email: string): Promise<number> => {
        const browser = new Browser(usual)
        const page = await browser.page(`${usual.base}/sign-in`)
        let count = 0
        const hook = createHook({ init: (_id, type) => void (type === 'SCRYPTREQUEST' && count++) }).enable()
        const answer = await signInOn(browser, page, { email, password: 'nope nope nope' })
        hook.disable()
        expect(answer.status).toBe(401)
        return count
      }
      expect(await stretches(known.email)).toBe(1)
      // A known reader's hash says its cost itself; an unknown one's is as hard as a new one would be.
      expect(costs).toEqual([])
      expect(await stretches('nobody@example.org')).toBe(1)
      expect(costs).toEqual([cost])
    } finally {
      await usual.stop()
    }
  })

  it('that is changed ends the sessions elsewhere and the links that were given', async () => {
    const someone = await newReader(server, 'changer@example.org')
    const here = await new Browser(server).signIn(someone)
    const elsewhere = await new Browser(server).signIn(someone)
    const link = await makeSignInLink(server.accounts, someone.id)
    const form = formOf(await here.page(`${server.base}/account`))
    const save = (current: string, password: string) =>
      here.postForPage(`${server.base}/account/password`, [
        ['csrf', form.csrf],
        ['current', current],
        ['password', password],
      ])
    expect((await save('not it', 'a whole new password')).status).toBe(403)
    expect((await save(someone.password, 'too short')).status).toBe(400)
    expect((await save(someone.password, 'a whole new password')).url).toBe(`${server.base}/account`)
    expect((await elsewhere.page(`${server.base}/account`)).url).toBe(`${server.base}/sign-in`)
    const visitor = new Browser(server)
    const used = formOf(await visitor.page(link))
    const secret = new URL(link).searchParams.get('link')!
    const page = await visitor.postForPage(used.action, [
      ['csrf', used.csrf],
      ['link', secret],
    ])
    expect(page.status).toBe(400)
  })
})

describe('a sign-in link', () => {
  const useLink = async (browser: Browser, link: string) => {
    const form = formOf(await browser.page(link))
    return browser.postForPage(form.action, [
      ['csrf', form.csrf],
      ['link', new URL(link).searchParams.get('link')!],
    ])
  }

  it('signs in once, and looking at it does not use it up', async () => {
    const link = await makeSignInLink(server.accounts, reader.id)
    await fetch(link)
    const browser = new Browser(server)
    expect((await useLink(browser, link)).html).toContain('reader@example.org')
    const second = new Browser(server)
    expect((await useLink(second, link)).status).toBe(400)
    expect(sessionOf(second)).toBeUndefined()
  })

  it('says whom it signs in: one that a stranger made for their own account is seen through', async () => {
    const stranger = await newReader(server, 'stranger@example.org')
    const link = await makeSignInLink(server.accounts, stranger.id)
    const victim = await new Browser(server).signIn(reader)
    const page = await victim.page(link)
    expect(page.html).toContain('You will be <b>stranger@example.org</b>')
    await useLink(new Browser(server), link)
    expect((await victim.page(link)).html).not.toContain('stranger@example.org')
  })

  it('used twice at once signs in once', async () => {
    const link = await makeSignInLink(server.accounts, reader.id)
    const both = await Promise.all([1, 2].map(() => useLink(new Browser(server), link)))
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400])
  })

  it('is over after a day', async () => {
    const link = await makeSignInLink(server.accounts, reader.id)
    server.pass(86_401)
    expect((await useLink(new Browser(server), link)).status).toBe(400)
  })

  it('of the first reader is given until they have a password, a new one at each start', async () => {
    const fresh = await startOAuthServer()
    try {
      const first = await ensureFirstReader(fresh.accounts)
      const again = await ensureFirstReader(fresh.accounts)
      expect(again.reader).toEqual(first.reader)
      expect(first.reader.library).toBe('local')
      const browser = new Browser(fresh)
      expect((await useLink(browser, first.link!)).status).toBe(400)
      const account = await useLink(browser, again.link!)
      expect(account.html).toContain('Set a password')
      // From here on by e-mail and password.
      const saved = await browser.postForPage(`${fresh.base}/account/password`, [
        ['csrf', formOf(account).csrf],
        ['email', 'first@example.org'],
        ['password', 'ten characters'],
      ])
      expect(saved.html).toContain('Change your password')
      expect((await ensureFirstReader(fresh.accounts)).link).toBeUndefined()
      const other = new Browser(fresh)
      const signedIn = await signInOn(other, await other.page(`${fresh.base}/sign-in`), {
        email: 'first@example.org',
        password: 'ten characters',
      })
      expect(signedIn.html).toContain('first@example.org')
    } finally {
      await fresh.stop()
    }
  })
})

describe('a session', () => {
  it('is new with every sign-in: one that was planted before is worth nothing', async () => {
    const browser = new Browser(server)
    const planted = 'p'.repeat(43)
    browser.jar.set('commonplace|/', { name: 'commonplace', value: planted, path: '/', attributes: '' })
    await signInOn(browser, await signInPage(browser), reader)
    expect(sessionOf(browser)!.value).not.toBe(planted)
    const thief = new Browser(server)
    thief.jar.set('commonplace|/', { name: 'commonplace', value: planted, path: '/', attributes: '' })
    expect((await thief.page(`${server.base}/account`)).url).toBe(`${server.base}/sign-in`)
  })

  it('that another signs in over is over', async () => {
    const attacker = await newReader(server, 'attacker@example.org')
    const browser = await new Browser(server).signIn(attacker)
    const before = sessionOf(browser)!.value
    const page = await browser.page(await makeSignInLink(server.accounts, reader.id))
    const link = /name="link" value="([^"]+)"/.exec(page.html)![1]!
    await browser.post(formOf(page).action, [
      ['csrf', formOf(page).csrf],
      ['link', link],
    ])
    expect(sessionOf(browser)!.value).not.toBe(before)
    const old = new Browser(server)
    old.jar.set('commonplace|/', { name: 'commonplace', value: before, path: '/', attributes: '' })
    expect((await old.page(`${server.base}/account`)).url).toBe(`${server.base}/sign-in`)
  })

  it('is over after thirty days, and when its reader signs out', async () => {
    const browser = await new Browser(server).signIn(reader)
    const form = formOf(await browser.page(`${server.base}/sign-out`))
    expect(pageOf(await browser.post(form.action, [['csrf', 'x']])).status).toBe(403)
    expect((await browser.page(`${server.base}/account`)).url).toBe(`${server.base}/account`)
    const before = sessionOf(browser)!.value
    await browser.post(form.action, [['csrf', form.csrf]])
    expect(sessionOf(browser)).toBeUndefined()
    const old = new Browser(server)
    old.jar.set('commonplace|/', { name: 'commonplace', value: before, path: '/', attributes: '' })
    expect((await old.page(`${server.base}/account`)).url).toBe(`${server.base}/sign-in`)
    const later = await new Browser(server).signIn(reader)
    server.pass(31 * 86_400)
    expect((await later.page(`${server.base}/account`)).url).toBe(`${server.base}/sign-in`)
  })

  it('of a server on https is for this host and https alone', async () => {
    const secure = await startOAuthServer({ base: 'https://library.example' })
    try {
      const response = await fetch(`${secure.base}/sign-in?link=x`)
      const csrf = /name="csrf" value="([^"]+)"/.exec(await response.text())![1]!
      const owner = await addReader(secure.accounts, { email: 'owner@example.org' })
      const link = new URL(await makeSignInLink(secure.accounts, owner.id))
      expect(link.origin).toBe('https://library.example')
      const cookie = response.headers.getSetCookie()[0]!
      expect(cookie).toContain('; Secure')
      const signedIn = await fetch(`${secure.base}/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: cookie.split(';')[0]!, origin: 'https://library.example' },
        body: new URLSearchParams({ csrf, link: link.searchParams.get('link')! }),
      })
      expect(signedIn.headers.getSetCookie()[0]).toMatch(
        /^__Host-commonplace=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
      )
    } finally {
      await secure.stop()
    }
  })
})

describe('a sign-in form', () => {
  const fields = (csrf: string, next = '') =>
    [
      ['csrf', csrf],
      ['next', next],
      ['email', reader.email],
      ['password', reader.password],
    ] as const

  it('is taken from our own page in the same browser only: nobody signs a reader in as another', async () => {
    const browser = new Browser(server)
    const form = formOf(await signInPage(browser))
    expect(
      pageOf(await browser.post(form.action, fields(form.csrf), { origin: 'https://evil.example' })).status,
    ).toBe(403)
    expect(pageOf(await browser.post(form.action, fields('x'))).status).toBe(403)
    expect(pageOf(await new Browser(server).post(form.action, fields(form.csrf))).status).toBe(403)
    const stranger = new Browser(server)
    const theirs = formOf(await signInPage(stranger))
    expect(pageOf(await browser.post(form.action, fields(theirs.csrf))).status).toBe(403)
    expect(sessionOf(browser)).toBeUndefined()
  })

  it.each([
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/sign-out',
    '/"><script>',
  ])('leads nowhere else: %s', async (next) => {
    const browser = await new Browser(server).signIn(reader)
    const page = await browser.page(`${server.base}/sign-in?next=${encodeURIComponent(next)}`)
    expect(page.url).toBe(`${server.base}/account`)
    const fresh = new Browser(server)
    const form = formOf(await fresh.page(`${server.base}/sign-in?next=${encodeURIComponent(next)}`))
    expect(form.next).toBe('/account')
    expect(pageOf(await fresh.post(form.action, fields(form.csrf, next))).url).toBe(`${server.base}/account`)
  })

  it('stands in no frame and runs no script', async () => {
    const { headers, html } = await signInPage(new Browser(server))
    expect(headers.get('content-security-policy')).toContain(
      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(html).not.toContain('<script')
  })
})

describe('the account page', () => {
  it('shows what the reader let in, and ends it', async () => {
    const browser = await new Browser(server).signIn(reader)
    const client = await newClient(server, { client_name: 'My assistant' })
    const { tokens } = await connect(server, client, browser, reader)
    const page = await browser.page(`${server.base}/account`)
    expect(page.html).toContain('<b>My assistant</b> at <code>127.0.0.1:33418</code>')
    const id = /end-connection"><input[^>]+><input type="hidden" name="id" value="([^"]+)"/.exec(
      page.html,
    )![1]!
    const end = (fields: [string, string][], by = browser) =>
      by.post(`${server.base}/account/end-connection`, fields)
    expect(pageOf(await end([['id', id]])).status).toBe(403)
    const other = await newReader(server, 'meddler@example.org')
    const meddler = await new Browser(server).signIn(other)
    const { csrf } = formOf(await meddler.page(`${server.base}/account`))
    await end(
      [
        ['csrf', csrf],
        ['id', id],
      ],
      meddler,
    )
    expect(await statusOf(server, tokens.access_token)).toBe(200)
    await end([
      ['csrf', formOf(page).csrf],
      ['id', id],
    ])
    expect(await statusOf(server, tokens.access_token)).toBe(401)
  })

  it('makes a token of the reader’s own, shown once', async () => {
    const browser = await new Browser(server).signIn(reader)
    const { csrf } = formOf(await browser.page(`${server.base}/account`))
    const made = await browser.postForPage(`${server.base}/account/make-token`, [
      ['csrf', csrf],
      ['name', 'My <script>'],
      ['days', ''],
      ['scope', 'mcp'],
    ])
    const token = /<code>(cpl_[\w-]{43})<\/code>/.exec(made.html)![1]!
    expect((await callResource(server, token)).body).toMatchObject({ readerId: reader.id, scopes: ['mcp'] })
    const after = await browser.page(`${server.base}/account`)
    expect(after.html).not.toContain(token)
    expect(after.html).toContain('My &#60;script&#62;')
    const empty = await browser.postForPage(`${server.base}/account/make-token`, [
      ['csrf', csrf],
      ['name', 'x'],
    ])
    expect(empty.status).toBe(400)
  })
})

describe('a personal token', () => {
  const principal = (token: string) => authenticate(server.accounts, `Bearer ${token}`)

  it('does what it was made for until it ends or is ended', async () => {
    const made = await makePersonalToken(server.accounts, reader.id, {
      name: 'Backup',
      scopes: ['sources:read', 'highlights:read'],
      days: 2,
    })
    expect(await principal(made.token)).toEqual({
      readerId: reader.id,
      tokenId: made.id,
      connection: 'Backup',
      scopes: new Set(['highlights:read', 'sources:read']),
    })
    const kept = await server.accounts.db.selectFrom('personal_token').selectAll().execute()
    expect(JSON.stringify(kept)).not.toContain(made.token.slice(4))
    const listed = await listPersonalTokens(server.accounts, reader.id)
    expect(listed.find(({ id }) => id === made.id)).toMatchObject({ name: 'Backup', calls: 1 })
    server.pass(2 * 86_400)
    expect(await principal(made.token)).toBeUndefined()
  })

  it('is ended by its reader and nobody else', async () => {
    const { id, token } = await makePersonalToken(server.accounts, reader.id, { name: 'x', scopes: ['mcp'] })
    const other = await newReader(server, 'token-thief@example.org')
    expect(await revokePersonalToken(server.accounts, other.id, id)).toBe(false)
    server.pass(400 * 86_400)
    expect(await principal(token)).toBeDefined()
    expect(await revokePersonalToken(server.accounts, reader.id, id)).toBe(true)
    expect(await principal(token)).toBeUndefined()
  })

  it.each([
    { name: ' ', scopes: ['mcp'] as const },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['mcp'] as const, days: 0 },
    { name: 'x', scopes: ['mcp'] as const, days: 1.5 },
  ])('needs a name, a scope and whole days: %j', async (given) => {
    await expect(makePersonalToken(server.accounts, reader.id, given)).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })
})

it('a password of nine characters is too short, in characters and not in bytes', async () => {
  await expect(setPassword(server.accounts, reader.id, '🔒'.repeat(9))).rejects.toMatchObject({
    code: 'invalid_input',
  })
})

it('a browser that signs in on the way goes on to the consent page', async () => {
  const browser = new Browser(server)
  const client = await newClient(server)
  const page = await browser.page((await authorizeUrl(server, client)).url)
  expect(page.html).toContain('to connect an assistant to your library')
  expect((await signInOn(browser, page, reader)).html).toContain('Connect Test?')
})
