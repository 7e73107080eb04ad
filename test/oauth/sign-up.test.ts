import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  listInvitations,
  makeInvitation,
  withdrawInvitation,
} from '../../src/features/accounts/invitation-store.ts'
import { isOperator } from '../../src/features/accounts/operators.ts'
import {
  addReader,
  findReaderByEmail,
  listReaders,
  setEmail,
} from '../../src/features/accounts/reader-store.ts'
import { sweep } from '../../src/features/accounts/sweep.ts'
import { createMail } from '../../src/outside/mail.ts'
import { openMailbox, type Mailbox } from './mailbox.ts'
import {
  Browser,
  formOf,
  newReader,
  startOAuthServer,
  wordsOf,
  type Page,
  type ServerOptions,
  type TestServer,
} from './support.ts'

let mailbox: Mailbox
beforeAll(async () => {
  mailbox = await openMailbox()
})
afterAll(() => mailbox.stop())

let server: TestServer
const started: TestServer[] = []
const start = async (options: ServerOptions): Promise<TestServer> => {
  server = await startOAuthServer(options)
  started.push(server)
  return server
}
afterEach(async () => {
  for (const one of started.splice(0)) {
    expect(one.errors).toEqual([])
    await one.stop()
  }
})

const withMail = () => ({ mail: createMail({ url: mailbox.url, from: 'books@example.org' }) })
const at = (path: string): string => `${server.base}${path}`
const PASSWORD = 'a password of ten'

/** Fills the sign-up form of a page in. */
function fill(browser: Browser, page: Page, fields: Record<string, string>): Promise<Page> {
  const hidden = [...page.html.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
  const form = new Map<string, string>()
  for (const [, name = '', value = ''] of hidden) if (!form.has(name)) form.set(name, value)
  return browser.postForPage(at('/sign-up'), [...form, ...Object.entries(fields)])
}

const signUp = async (browser: Browser, path: string, fields: Record<string, string>): Promise<Page> =>
  fill(browser, await browser.page(at(path)), fields)

const emailOf = (page: Page): string | undefined => /signed in as <b>([^<]+)</.exec(page.html)?.[1]

describe('closed', () => {
  it('lets nobody in, not with an invitation either', async () => {
    await start({})
    const { link } = await makeInvitation(server.accounts)
    const browser = new Browser(server)
    expect((await browser.page(at('/sign-up'))).status).toBe(403)
    expect((await browser.page(link!)).status).toBe(403)
    const { csrf } = formOf(await browser.page(at('/sign-in')))
    const secret = new URL(link!).searchParams.get('invitation')!
    const page = await browser.postForPage(at('/sign-up'), [
      ['csrf', csrf],
      ['email', 'a@example.org'],
      ['password', PASSWORD],
      ['invitation', secret],
    ])
    expect(page.status).toBe(403)
    expect(await listReaders(server.accounts.db)).toEqual([])
    expect((await browser.page(at('/sign-in'))).html).not.toContain('/sign-up')
  })
})

describe('open, without mail', () => {
  beforeEach(() => start({ signUp: 'open' }))

  it('makes a reader with a library of their own, whose address nobody confirmed', async () => {
    const browser = new Browser(server)
    const page = await signUp(browser, '/sign-up', { email: ' New@Example.org', password: PASSWORD })
    expect([page.url, emailOf(page)]).toEqual([at('/account'), 'new@example.org'])
    expect(page.html).toContain('Nobody has confirmed yet that it is yours.')
    const reader = await findReaderByEmail(server.accounts.db, 'new@example.org')
    expect(reader).toMatchObject({ emailVerifiedAt: null, library: reader!.id })
  })

  it('goes on to where it was asked for', async () => {
    const browser = new Browser(server)
    const page = await browser.page(at('/sign-in?next=%2Faccount%3Fx%3D1'))
    expect(page.html).toContain('href="/sign-up?next=%2Faccount%3Fx%3D1"')
    const made = await signUp(browser, '/sign-up?next=%2Faccount%3Fx%3D1', {
      email: 'n@example.org',
      password: PASSWORD,
    })
    expect(made.url).toBe(at('/account?x=1'))
    const elsewhere = await signUp(new Browser(server), '/sign-up?next=https%3A%2F%2Fevil.example', {
      email: 'o@example.org',
      password: PASSWORD,
    })
    expect(elsewhere.url).toBe(at('/account'))
  })

  it('gives nobody an address that somebody has, and no session', async () => {
    await newReader(server, 'taken@example.org')
    const browser = new Browser(server)
    const page = await signUp(browser, '/sign-up', { email: 'TAKEN@example.org', password: PASSWORD })
    expect(page.status).toBe(409)
    expect((await browser.page(at('/account'))).url).toBe(at('/sign-in'))
  })

  it('for one address at once makes one reader', async () => {
    const pages = await Promise.all(
      Array.from({ length: 6 }, () =>
        signUp(new Browser(server), '/sign-up', { email: 'race@example.org', password: PASSWORD }),
      ),
    )
    expect(pages.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 409, 409, 409, 409, 409,
    ])
    expect(await listReaders(server.accounts.db)).toHaveLength(1)
  })

  it.each([
    ['no address', { email: 'nobody', password: PASSWORD }],
    ['two addresses', { email: 'a@example.org,b@example.org', password: PASSWORD }],
    ['an address with a name', { email: 'A<a@example.org>', password: PASSWORD }],
    ['a short password', { email: 'a@example.org', password: 'too short' }],
  ])('takes no %s', async (_name, fields) => {
    const page = await signUp(new Browser(server), '/sign-up', fields)
    expect([page.status, page.html.includes('role="alert"')]).toEqual([400, true])
    expect(await listReaders(server.accounts.db)).toEqual([])
  })

  it('takes its own form, in its own browser, from its own origin', async () => {
    const browser = new Browser(server)
    const { csrf } = formOf(await browser.page(at('/sign-up')))
    const fields = (token: string) =>
      [
        ['csrf', token],
        ['email', 'a@example.org'],
        ['password', PASSWORD],
      ] as const
    const statuses = [
      await browser.postForPage(at('/sign-up'), fields('x')),
      await browser.postForPage(at('/sign-up'), fields(csrf), { origin: 'https://evil.example' }),
      await new Browser(server).postForPage(at('/sign-up'), fields(csrf)),
    ].map(({ status }) => status)
    expect(statuses).toEqual([403, 403, 403])
    expect(await listReaders(server.accounts.db)).toEqual([])
  })

  it('ends the session that the browser had: a planted one is worth nothing', async () => {
    const browser = new Browser(server)
    const page = await browser.page(at('/sign-up'))
    const planted = 'p'.repeat(43)
    browser.jar.set('commonplace|/', { name: 'commonplace', value: planted, path: '/', attributes: '' })
    await fill(browser, page, { email: 'a@example.org', password: PASSWORD })
    expect(browser.jar.get('commonplace|/')!.value).not.toBe(planted)
  })

  it('runs no script and stands in no frame', async () => {
    const { headers } = await new Browser(server).page(at('/sign-up'))
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    )
  })
})

it('too many from one network wait, and too many from everywhere', async () => {
  await start({
    signUp: 'open',
    addressFromHeader: true,
    limits: { signUp: { count: 2, seconds: 3_600 }, signUpInAll: { count: 4, seconds: 3_600 } },
  })
  let n = 0
  const attempt = async (address: string): Promise<number> => {
    const browser = new Browser(server)
    const { csrf } = formOf(await browser.page(at('/sign-up')))
    const fields = [
      ['csrf', csrf],
      ['email', `r${n++}@example.org`],
      ['password', PASSWORD],
    ] as const
    return (await browser.postForPage(at('/sign-up'), fields, { 'x-test-address': address })).status
  }
  expect([await attempt('192.0.2.1'), await attempt('192.0.2.1'), await attempt('192.0.2.1')]).toEqual([
    200, 200, 429,
  ])
  expect([await attempt('192.0.2.2'), await attempt('192.0.2.3'), await attempt('192.0.2.4')]).toEqual([
    200, 200, 429,
  ])
  server.pass(3_601)
  expect(await attempt('192.0.2.1')).toBe(200)
})

describe('open, with mail', () => {
  beforeEach(() => start({ signUp: 'open', ...withMail() }))

  it('makes the reader once the letter is read; the password is chosen by whoever reads it', async () => {
    const asking = new Browser(server)
    const asked = await signUp(asking, '/sign-up', { email: 'ada@example.org' })
    expect(asked.html).toContain('Look into your mail')
    expect(await listReaders(server.accounts.db)).toEqual([])
    const link = await mailbox.linkTo('ada@example.org')
    const browser = new Browser(server)
    const page = await browser.page(link)
    expect(page.html).toContain('Your address is <b>ada@example.org</b>')
    expect((await fill(browser, page, { password: 'short' })).status).toBe(400)
    const account = await fill(browser, page, { password: PASSWORD })
    expect(emailOf(account)).toBe('ada@example.org')
    expect(account.html).toContain('It is confirmed.')
    // Once, in whatever browser.
    expect((await fill(browser, page, { password: PASSWORD })).status).toBe(400)
    expect((await new Browser(server).page(link)).status).toBe(400)
  })

  it('says and does the same for an address that somebody has; only its owner reads the difference', async () => {
    await newReader(server, 'known@example.org')
    const known = await signUp(new Browser(server), '/sign-up', { email: 'known@example.org' })
    const unknown = await signUp(new Browser(server), '/sign-up', { email: 'unknown@example.org' })
    expect(known.html).toBe(unknown.html)
    expect((await mailbox.letterTo('known@example.org')).text).toContain('You have one already.')
    expect(await mailbox.linkTo('unknown@example.org')).toContain('/sign-up?link=')
  })

  it('is over after a day', async () => {
    await signUp(new Browser(server), '/sign-up', { email: 'late@example.org' })
    const link = await mailbox.linkTo('late@example.org')
    const browser = new Browser(server)
    const page = await browser.page(link)
    server.pass(86_401)
    expect((await new Browser(server).page(link)).status).toBe(400)
    expect((await fill(browser, page, { password: PASSWORD })).status).toBe(400)
    expect(await listReaders(server.accounts.db)).toEqual([])
  })

  it('used six times at once makes one reader', async () => {
    await signUp(new Browser(server), '/sign-up', { email: 'six@example.org' })
    const link = await mailbox.linkTo('six@example.org')
    const browsers = Array.from({ length: 6 }, () => new Browser(server))
    const pages = await Promise.all(browsers.map((browser) => browser.page(link)))
    const made = await Promise.all(
      pages.map((page, n) => fill(browsers[n]!, page, { password: `${PASSWORD} ${n}` })),
    )
    expect(made.filter(({ url }) => url === at('/account'))).toHaveLength(1)
  })

  it('keeps nothing usable at rest', async () => {
    await signUp(new Browser(server), '/sign-up', { email: 'rest@example.org' })
    const link = await mailbox.linkTo('rest@example.org')
    const rows = await server.accounts.db.selectFrom('sign_up').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(new URL(link).searchParams.get('link'))
  })
})

describe('an invitation', () => {
  beforeEach(() => start({ signUp: 'invite' }))

  const use = (link: string, fields: Record<string, string>, browser = new Browser(server)) =>
    signUp(browser, new URL(link).pathname + new URL(link).search, fields)

  it('makes one reader, and nobody without one gets in', async () => {
    const operator = await newReader(server, 'operator@example.org')
    const { link, id } = await makeInvitation(server.accounts, { invitedBy: operator.id })
    expect((await new Browser(server).page(at('/sign-up'))).status).toBe(403)
    expect((await new Browser(server).page(at('/sign-up?invitation=x'))).status).toBe(403)
    const made = await use(link!, { email: 'guest@example.org', password: PASSWORD })
    expect(emailOf(made)).toBe('guest@example.org')
    const second = new Browser(server)
    expect((await second.page(link!)).status).toBe(403)
    expect(await listInvitations(server.accounts)).toMatchObject([
      { id, invitedBy: 'operator@example.org', usedBy: 'guest@example.org' },
    ])
  })

  it('used six times at once makes one reader', async () => {
    const { link } = await makeInvitation(server.accounts)
    const browsers = Array.from({ length: 6 }, () => new Browser(server))
    const pages = await Promise.all(browsers.map((browser) => browser.page(link!)))
    const made = await Promise.all(
      pages.map((page, n) =>
        fill(browsers[n]!, page, { email: `guest${n}@example.org`, password: PASSWORD }),
      ),
    )
    expect(made.filter(({ url }) => url === at('/account'))).toHaveLength(1)
    expect(await listReaders(server.accounts.db)).toHaveLength(1)
  })

  it('is not used up by somebody who does not get in', async () => {
    await newReader(server, 'taken@example.org')
    const { link } = await makeInvitation(server.accounts)
    expect((await use(link!, { email: 'taken@example.org', password: PASSWORD })).status).toBe(409)
    expect((await use(link!, { email: 'free@example.org', password: 'short' })).status).toBe(400)
    expect(emailOf(await use(link!, { email: 'free@example.org', password: PASSWORD }))).toBe(
      'free@example.org',
    )
  })

  it('for one address is for no other, whatever the form says', async () => {
    const { link } = await makeInvitation(server.accounts, { email: 'Guest@example.org' })
    const browser = new Browser(server)
    const page = await browser.page(link!)
    expect(page.html).toContain('The invitation is for <b>guest@example.org</b>')
    const made = await fill(browser, page, { email: 'other@example.org', password: PASSWORD })
    expect(emailOf(made)).toBe('guest@example.org')
    // It was passed on by hand, which proves no mailbox.
    expect((await findReaderByEmail(server.accounts.db, 'guest@example.org'))!.emailVerifiedAt).toBeNull()
  })

  it('is over after seven days, and when it is taken back', async () => {
    const old = await makeInvitation(server.accounts)
    const browser = new Browser(server)
    const page = await browser.page(old.link!)
    server.pass(7 * 86_400 + 1)
    expect((await fill(browser, page, { email: 'a@example.org', password: PASSWORD })).status).toBe(403)
    expect(await listInvitations(server.accounts)).toEqual([])
    const back = await makeInvitation(server.accounts)
    expect(await withdrawInvitation(server.accounts, back.id)).toBe(true)
    expect((await new Browser(server).page(back.link!)).status).toBe(403)
    expect(await withdrawInvitation(server.accounts, back.id)).toBe(false)
  })

  it('that was used is not taken back', async () => {
    const { link, id } = await makeInvitation(server.accounts)
    await use(link!, { email: 'guest@example.org', password: PASSWORD })
    expect(await withdrawInvitation(server.accounts, id)).toBe(false)
    expect(await listInvitations(server.accounts)).toHaveLength(1)
  })

  it('that nobody used is swept when it is over, one that was used is kept', async () => {
    const { link } = await makeInvitation(server.accounts)
    await use(link!, { email: 'guest@example.org', password: PASSWORD })
    await makeInvitation(server.accounts)
    await makeInvitation(server.accounts, { email: 'never@example.org' })
    const kept = async () =>
      (await server.accounts.db.selectFrom('invitation').select('used_at').execute()).length
    await sweep(server.accounts)
    expect(await kept()).toBe(3)
    server.pass(7 * 86_400 + 1)
    await sweep(server.accounts)
    expect(await kept()).toBe(1)
  })

  it('is kept as a hash', async () => {
    const { link } = await makeInvitation(server.accounts)
    const rows = await server.accounts.db.selectFrom('invitation').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(new URL(link!).searchParams.get('invitation'))
  })

  it('goes by mail only where there is mail and an address', async () => {
    await expect(
      makeInvitation(server.accounts, { email: 'a@example.org', byMail: true }),
    ).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(makeInvitation(server.accounts, { email: 'nobody' })).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })
})

describe('an invitation by mail', () => {
  beforeEach(() => start({ signUp: 'invite', ...withMail() }))

  it('proves the mailbox, and is shown to nobody else', async () => {
    const made = await makeInvitation(server.accounts, { email: 'invited@example.org', byMail: true })
    expect(made.link).toBeUndefined()
    const link = await mailbox.linkTo('invited@example.org')
    const browser = new Browser(server)
    const page = await browser.page(link)
    const account = await fill(browser, page, { password: PASSWORD })
    expect(account.html).toContain('It is confirmed.')
  })

  it('that was passed on by hand still asks for the mailbox', async () => {
    const { link } = await makeInvitation(server.accounts, { email: 'byhand@example.org' })
    const browser = new Browser(server)
    const page = await fill(browser, await browser.page(link!), {})
    expect(page.html).toContain('Look into your mail')
    expect(await listReaders(server.accounts.db)).toEqual([])
    const letter = await mailbox.linkTo('byhand@example.org')
    const account = await fill(browser, await browser.page(letter), { password: PASSWORD })
    expect(emailOf(account)).toBe('byhand@example.org')
    expect((await listInvitations(server.accounts))[0]).toMatchObject({ usedBy: 'byhand@example.org' })
  })

  it('that ends before the letter is read lets nobody in', async () => {
    const { link } = await makeInvitation(server.accounts)
    server.pass(7 * 86_400 - 3_600)
    const browser = new Browser(server)
    await fill(browser, await browser.page(link!), { email: 'slow@example.org' })
    const letter = await browser.page(await mailbox.linkTo('slow@example.org'))
    server.pass(3_601)
    expect((await fill(browser, letter, { password: PASSWORD })).status).toBe(403)
    expect(await listReaders(server.accounts.db)).toEqual([])
  })

  it('of two who asked with one, the first who reads their letter gets in', async () => {
    const { link } = await makeInvitation(server.accounts)
    const ask = async (email: string) => {
      const browser = new Browser(server)
      await fill(browser, await browser.page(link!), { email })
      return { browser, link: await mailbox.linkTo(email) }
    }
    const one = await ask('one@example.org')
    const two = await ask('two@example.org')
    const finish = async ({ browser, link: letter }: typeof one) =>
      fill(browser, await browser.page(letter), { password: PASSWORD })
    expect(emailOf(await finish(two))).toBe('two@example.org')
    expect((await finish(one)).status).toBe(403)
  })
})

describe('an operator', () => {
  beforeEach(() => start({ signUp: 'invite', operators: ['boss@example.org'] }))

  it('is the first reader, or who proved one of the configured addresses', async () => {
    const { accounts } = server
    const first = await addReader(accounts, { library: 'local' })
    const boss = await addReader(accounts, { email: 'boss@example.org' })
    const other = await addReader(accounts, { email: 'other@example.org' })
    expect([first, boss, other].map((reader) => isOperator(accounts, reader))).toEqual([true, false, false])
    await setEmail(accounts.db, boss.id, 'boss@example.org', accounts.now().toISOString())
    expect(isOperator(accounts, (await findReaderByEmail(accounts.db, 'boss@example.org'))!)).toBe(true)
    await setEmail(accounts.db, other.id, 'other@example.org', accounts.now().toISOString())
    expect(isOperator(accounts, (await findReaderByEmail(accounts.db, 'other@example.org'))!)).toBe(false)
  })

  it('invites on the account page, and nobody else does', async () => {
    const first = await addReader(server.accounts, { library: 'local', name: 'First' })
    const other = await newReader(server, 'other@example.org')
    const invite = async (browser: Browser) => {
      const { csrf } = formOf(await browser.page(at('/account')))
      return browser.postForPage(at('/account/invite'), [
        ['csrf', csrf],
        ['email', ''],
      ])
    }
    const theirs = await new Browser(server).signIn(other)
    expect((await theirs.page(at('/account'))).html).not.toContain('/account/invite')
    expect((await invite(theirs)).status).toBe(403)
    const browser = await new Browser(server).signIn(first)
    const link = /<code>([^<]+)<\/code>/.exec((await invite(browser)).html)![1]!
    expect(wordsOf((await new Browser(server).page(link)).html)).toContain('Make an account')
    const page = await browser.page(at('/account'))
    const id = /withdraw-invitation"><input[^>]+><input type="hidden" name="id" value="([^"]+)"/.exec(
      page.html,
    )![1]!
    const withdraw = (by: Browser, csrf: string) =>
      by.post(at('/account/withdraw-invitation'), [
        ['csrf', csrf],
        ['id', id],
      ])
    await withdraw(theirs, formOf(await theirs.page(at('/account'))).csrf)
    expect((await new Browser(server).page(link)).status).toBe(200)
    await withdraw(browser, formOf(page).csrf)
    expect((await new Browser(server).page(link)).status).toBe(403)
  })
})
