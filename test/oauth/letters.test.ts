import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureFirstReader, hasPassword } from '../../src/features/accounts/identity.ts'
import { makePersonalToken } from '../../src/features/accounts/personal-token-store.ts'
import {
  addReader,
  findReader,
  findReaderByEmail,
  setEmail,
} from '../../src/features/accounts/reader-store.ts'
import { makeResetLink } from '../../src/features/accounts/reset-password.ts'
import { createMail } from '../../src/outside/mail.ts'
import { openMailbox, type Mailbox } from './mailbox.ts'
import {
  Browser,
  formOf,
  newReader,
  signInOn,
  startOAuthServer,
  statusOf,
  type Page,
  type ServerOptions,
  type TestReader,
  type TestServer,
} from './support.ts'

let mailbox: Mailbox
let server: TestServer
const mail = () => createMail({ url: mailbox.url, from: 'books@example.org' })
beforeAll(async () => {
  mailbox = await openMailbox()
  server = await startOAuthServer({ mail: mail() })
})
afterAll(async () => {
  expect(server.errors).toEqual([])
  await server.stop()
  await mailbox.stop()
})

async function withServer(options: ServerOptions, work: (other: TestServer) => Promise<void>): Promise<void> {
  const other = await startOAuthServer(options)
  try {
    await work(other)
    expect(other.errors).toEqual([])
  } finally {
    await other.stop()
  }
}

const at = (path: string): string => `${server.base}${path}`

/** A reader with a password whose address is proved. */
async function provedReader(email: string, by: TestServer = server): Promise<TestReader> {
  const reader = await newReader(by, email)
  await setEmail(by.accounts.db, reader.id, email, by.accounts.now().toISOString())
  return reader
}

async function ask(path: string, email: string, by: TestServer = server, address?: string): Promise<Page> {
  const browser = new Browser(by)
  const { csrf } = formOf(await browser.page(`${by.base}${path === '/reset' ? '/reset' : '/sign-in'}`))
  return browser.postForPage(
    `${by.base}${path}`,
    [
      ['csrf', csrf],
      ['email', email],
    ],
    address === undefined ? {} : { 'x-test-address': address },
  )
}

/** Presses the button of the page that a link leads to. */
async function open(link: string, browser: Browser, fields: Record<string, string> = {}): Promise<Page> {
  const page = await browser.page(link)
  if (page.status !== 200) return page
  const { action, csrf } = formOf(page)
  return browser.postForPage(action, [
    ['csrf', csrf],
    ['link', new URL(link).searchParams.get('link') ?? ''],
    ...Object.entries(fields),
  ])
}

const sessionHolds = async (browser: Browser, by: TestServer = server): Promise<boolean> =>
  (await browser.page(`${by.base}/account`)).url === `${by.base}/account`

describe('a new password', () => {
  it('comes by a link in a letter, once, and every session is over', async () => {
    const reader = await provedReader('forgot@example.org')
    const elsewhere = await new Browser(server).signIn(reader)
    const signInLink = ask('/sign-in/mail', reader.email)
    await signInLink
    const other = await mailbox.linkTo(reader.email)
    expect((await ask('/reset', ' FORGOT@example.org')).html).toContain('Look into your mail')
    const link = await mailbox.linkTo(reader.email)
    await fetch(link)
    const browser = new Browser(server)
    expect((await open(link, browser, { password: 'short' })).status).toBe(400)
    expect((await open(link, browser, { password: 'a brand new one' })).html).toContain(
      'Your password is changed',
    )
    expect(await sessionHolds(elsewhere)).toBe(false)
    expect((await open(link, browser, { password: 'another new one' })).status).toBe(400)
    // Whatever else lay in the mailbox is over too.
    expect((await open(other, new Browser(server))).status).toBe(400)
    const signedIn = await signInOn(browser, await browser.page(at('/sign-in')), {
      email: reader.email,
      password: 'a brand new one',
    })
    expect(signedIn.url).toBe(at('/account'))
  })

  it('by one link six times at once is one of the six', async () => {
    const reader = await provedReader('six@example.org')
    await ask('/reset', reader.email)
    const link = await mailbox.linkTo(reader.email)
    const pages = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        open(link, new Browser(server), { password: `the password ${n} of six` }),
      ),
    )
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  it('is over after an hour', async () => {
    const reader = await provedReader('hour@example.org')
    await ask('/reset', reader.email)
    const link = await mailbox.linkTo(reader.email)
    server.pass(3_601)
    expect((await open(link, new Browser(server), { password: 'a brand new one' })).status).toBe(400)
  })

  it('says the same of an address that nobody has, and sends nothing', async () => {
    await provedReader('somebody@example.org')
    const known = await ask('/reset', 'somebody@example.org')
    const unknown = await ask('/reset', 'nobody@example.org')
    expect(known.html).toBe(unknown.html)
    await mailbox.letterTo('somebody@example.org')
    await server.accounts.background.settled()
    expect(mailbox.letters.filter(({ to }) => to.includes('nobody@example.org'))).toEqual([])
  })

  it('has answered before it is known whether there is such a reader', async () => {
    // The mail server is not there: a known reader's letter takes long and fails, and the page does not wait for it.
    const dead = createMail({ url: 'smtp://127.0.0.1:1', from: 'books@example.org' })
    const other = await startOAuthServer({ mail: dead })
    await provedReader('known@example.org', other)
    const work: string[] = []
    const { run } = other.accounts.background
    other.accounts.background.run = (where, done) => {
      work.push(where)
      run.call(other.accounts.background, where, done)
    }
    expect((await ask('/reset', 'known@example.org', other)).status).toBe(200)
    expect((await ask('/reset', 'unknown@example.org', other)).status).toBe(200)
    // The same is left for afterwards, whoever it is.
    expect(work).toEqual(['mail', 'mail'])
    await other.stop()
    expect(other.errors).toMatchObject([{ code: 'unavailable' }])
  })

  it('proves the mailbox, and throws out whoever made the account without it', async () => {
    const squatter = await newReader(server, 'victim@example.org')
    const { token } = await makePersonalToken(server.accounts, squatter.id, { name: 'x', scopes: ['mcp'] })
    await server.accounts.db
      .insertInto('external_identity')
      .values({
        issuer: 'https://idp.example',
        subject: 'squatter',
        reader_id: squatter.id,
        email: null,
        created_at: '',
        last_used_at: '',
      })
      .execute()
    await ask('/reset', 'victim@example.org')
    await open(await mailbox.linkTo('victim@example.org'), new Browser(server), {
      password: 'mine from now on',
    })
    expect(await statusOf(server, token)).toBe(401)
    expect(await server.accounts.db.selectFrom('external_identity').selectAll().execute()).toEqual([])
    expect((await findReader(server.accounts.db, squatter.id))!.emailVerifiedAt).not.toBeNull()
  })

  it('of a proved address leaves the assistants connected', async () => {
    const reader = await provedReader('keeps@example.org')
    const { token } = await makePersonalToken(server.accounts, reader.id, { name: 'x', scopes: ['mcp'] })
    await ask('/reset', reader.email)
    await open(await mailbox.linkTo(reader.email), new Browser(server), { password: 'a brand new one' })
    expect(await statusOf(server, token)).toBe(200)
  })

  it('without mail comes from the operator', async () => {
    await withServer({}, async (other) => {
      const reader = await newReader(other, 'reader@example.org')
      const page = await new Browser(other).page(`${other.base}/reset`)
      expect(page.html).toContain('Ask whoever runs it for a link')
      expect((await new Browser(other).page(`${other.base}/sign-in`)).html).not.toContain('/sign-in/mail')
      const link = await makeResetLink(other.accounts, reader.id)
      const done = await open(link, new Browser(other), { password: 'from the operator' })
      expect(done.html).toContain('Your password is changed')
      // It was passed on by hand and proves no mailbox.
      expect((await findReader(other.accounts.db, reader.id))!.emailVerifiedAt).toBeNull()
    })
  })

  it('takes its own form, in its own browser', async () => {
    const reader = await provedReader('forms@example.org')
    await ask('/reset', reader.email)
    const link = await mailbox.linkTo(reader.email)
    const { csrf } = formOf(await new Browser(server).page(link))
    const fields = [
      ['csrf', csrf],
      ['link', new URL(link).searchParams.get('link')!],
      ['password', 'a brand new one'],
    ] as const
    expect((await new Browser(server).postForPage(at('/reset'), fields)).status).toBe(403)
  })
})

describe('a sign-in link by mail', () => {
  it('signs in once, for an hour, and says the same to everybody', async () => {
    const reader = await provedReader('link@example.org')
    const known = await ask('/sign-in/mail', reader.email)
    expect((await ask('/sign-in/mail', 'nobody@example.org')).html).toBe(known.html)
    const link = await mailbox.linkTo(reader.email)
    const browser = new Browser(server)
    expect((await open(link, browser)).url).toBe(at('/account'))
    expect((await open(link, new Browser(server))).status).toBe(400)
    await ask('/sign-in/mail', reader.email)
    const late = await mailbox.linkTo(reader.email)
    server.pass(3_601)
    expect((await open(late, new Browser(server))).status).toBe(400)
  })

  it('of an address that nobody proved asks for a new password instead', async () => {
    await newReader(server, 'unproved@example.org')
    await ask('/sign-in/mail', 'unproved@example.org')
    expect(await mailbox.linkTo('unproved@example.org')).toContain('/reset?link=')
  })

  it('needs an address, and a server that sends mail', async () => {
    expect((await ask('/sign-in/mail', ' ')).status).toBe(400)
    await withServer({}, async (other) => {
      expect((await ask('/sign-in/mail', 'a@example.org', other)).status).toBe(400)
    })
  })

  it('is no link for a new password, nor the other way round', async () => {
    const reader = await provedReader('purpose@example.org')
    await ask('/sign-in/mail', reader.email)
    const signIn = new URL(await mailbox.linkTo(reader.email)).searchParams.get('link')!
    expect((await new Browser(server).page(at(`/reset?link=${signIn}`))).status).toBe(400)
    const signedIn = await new Browser(server).signIn(reader)
    expect((await signedIn.page(at(`/confirm?link=${signIn}`))).status).toBe(400)
    await ask('/reset', reader.email)
    const reset = await mailbox.linkTo(reader.email)
    const asSignIn = reset.replace('/reset?', '/sign-in?')
    expect((await open(asSignIn, new Browser(server))).status).toBe(400)
  })
})

describe('letters that anybody can ask for', () => {
  it.each(['/reset', '/sign-in/mail'])(
    'are few to one address, from one network, and in all, whoever is known: %s',
    async (path) => {
      await withServer(
        {
          mail: mail(),
          addressFromHeader: true,
          limits: {
            mailTo: { count: 2, seconds: 3_600 },
            mailByAddress: { count: 3, seconds: 3_600 },
            mailInAll: { count: 5, seconds: 3_600 },
          },
        },
        async (other) => {
          await provedReader('known@example.org', other)
          const status = async (email: string, address: string) =>
            (await ask(path, email, other, address)).status
          for (const email of ['known@example.org', 'unknown@example.org']) {
            const from = email === 'known@example.org' ? '192.0.2.1' : '192.0.2.2'
            expect([await status(email, from), await status(email, from), await status(email, from)]).toEqual(
              [200, 200, 429],
            )
            expect(await status('fresh@example.org', from)).toBe(429)
          }
          expect(await status('fresh@example.org', '192.0.2.3')).toBe(200)
          expect(await status('other@example.org', '192.0.2.4')).toBe(429)
          other.pass(3_601)
          expect(await status('known@example.org', '192.0.2.1')).toBe(200)
        },
      )
    },
  )

  it('are plain, short, with one link of ours and nothing that tells when they are read', async () => {
    const reader = await provedReader('plain@example.org')
    await ask('/reset', reader.email)
    const { text, headers } = await mailbox.letterTo(reader.email)
    expect(text.match(/https?:/g)).toHaveLength(1)
    expect(text).toContain(`\n${server.base}/reset?link=`)
    expect(text.length).toBeLessThan(500)
    expect(headers).toMatch(/^content-type: text\/plain/im)
    expect(headers).not.toMatch(/disposition-notification|return-receipt|list-unsubscribe|multipart/i)
  })
})

describe('an e-mail address', () => {
  const change = async (browser: Browser, email: string, current: string): Promise<Page> => {
    const { csrf } = formOf(await browser.page(at('/account')))
    return browser.postForPage(at('/account/email'), [
      ['csrf', csrf],
      ['email', email],
      ['current', current],
    ])
  }
  const current = async (reader: TestReader) => (await findReader(server.accounts.db, reader.id))!

  it('changes once the new one is proved, and the old one is told', async () => {
    const reader = await provedReader('old@example.org')
    const browser = await new Browser(server).signIn(reader)
    await ask('/reset', 'old@example.org')
    const reset = await mailbox.linkTo('old@example.org')
    expect((await change(browser, 'New@example.org', reader.password)).html).toContain('Look into your mail')
    expect((await current(reader)).email).toBe('old@example.org')
    const link = await mailbox.linkTo('new@example.org')
    expect(link).toContain('/confirm?link=')
    expect((await open(link, browser)).html).toContain('Your address is confirmed')
    const after = await current(reader)
    expect([after.email, after.emailVerifiedAt]).toEqual(['new@example.org', expect.any(String)])
    expect((await mailbox.letterTo('old@example.org')).subject).toContain('was changed')
    // What lies in the old mailbox opens nothing.
    expect((await open(reset, new Browser(server), { password: 'a brand new one' })).status).toBe(400)
    expect((await open(link, browser)).status).toBe(400)
  })

  it('is proved for the account that asked, by whoever is signed in there, and for no stranger’s', async () => {
    const attacker = await newReader(server, 'attacker@example.org')
    const theirs = await new Browser(server).signIn(attacker)
    await change(theirs, 'prey@example.org', attacker.password)
    const link = await mailbox.linkTo('prey@example.org')
    const prey = await newReader(server, 'prey-other@example.org')
    const browser = new Browser(server)
    // The letter alone leads to the sign-in page, and there to the prey's own account.
    const page = await browser.page(link)
    expect(new URL(page.url).pathname).toBe('/sign-in')
    expect((await signInOn(browser, page, prey)).status).toBe(400)
    const { csrf } = formOf(await browser.page(at('/account')))
    const secret = new URL(link).searchParams.get('link')!
    const forced = await browser.postForPage(at('/confirm'), [
      ['csrf', csrf],
      ['link', secret],
    ])
    expect(forced.status).toBe(400)
    expect((await current(attacker)).email).toBe('attacker@example.org')
    expect((await open(link, theirs)).status).toBe(200)
  })

  it('is confirmed by a form of our own page alone', async () => {
    const reader = await newReader(server, 'csrf@example.org')
    const browser = await new Browser(server).signIn(reader)
    await change(browser, 'csrf-new@example.org', reader.password)
    const secret = new URL(await mailbox.linkTo('csrf-new@example.org')).searchParams.get('link')!
    const forged = await browser.postForPage(at('/confirm'), [
      ['csrf', 'x'],
      ['link', secret],
    ])
    expect(forged.status).toBe(403)
    expect((await current(reader)).email).toBe('csrf@example.org')
  })

  it('is changed by whoever knows the password, not by whoever found the browser', async () => {
    const reader = await provedReader('left-open@example.org')
    const browser = await new Browser(server).signIn(reader)
    expect((await change(browser, 'thief@example.org', 'not it at all')).status).toBe(403)
    await server.accounts.background.settled()
    expect(mailbox.letters.filter(({ to }) => to.includes('thief@example.org'))).toEqual([])
  })

  it('of another reader is not given, and not told of', async () => {
    await provedReader('theirs@example.org')
    const reader = await provedReader('wants@example.org')
    const browser = await new Browser(server).signIn(reader)
    const page = await change(browser, 'theirs@example.org', reader.password)
    expect(page.html).toContain('Look into your mail')
    await server.accounts.background.settled()
    expect(mailbox.letters.filter(({ to }) => to.includes('theirs@example.org'))).toEqual([])
    // Nor where it was free when the letter went out.
    await change(browser, 'contested@example.org', reader.password)
    const link = await mailbox.linkTo('contested@example.org')
    const owner = await provedReader('contested@example.org')
    expect((await open(link, browser)).status).toBe(400)
    expect((await findReaderByEmail(server.accounts.db, 'contested@example.org'))!.id).toBe(owner.id)
  })

  it('that nobody proved can be, by a link', async () => {
    const reader = await newReader(server, 'maybe@example.org')
    const browser = await new Browser(server).signIn(reader)
    const page = await browser.page(at('/account'))
    expect(page.html).toContain('/account/confirm-email')
    await browser.post(at('/account/confirm-email'), [['csrf', formOf(page).csrf]])
    await open(await mailbox.linkTo('maybe@example.org'), browser)
    expect((await browser.page(at('/account'))).html).toContain('It is confirmed.')
    expect((await browser.page(at('/account'))).html).not.toContain('/account/confirm-email')
  })

  it('waits a day for its letter to be read', async () => {
    const reader = await newReader(server, 'day@example.org')
    const browser = await new Browser(server).signIn(reader)
    const { csrf } = formOf(await browser.page(at('/account')))
    await browser.post(at('/account/confirm-email'), [['csrf', csrf]])
    const link = await mailbox.linkTo('day@example.org')
    server.pass(86_401)
    expect((await open(link, browser)).status).toBe(400)
  })

  it('without mail counts at once, as one that nobody proved', async () => {
    await withServer({}, async (other) => {
      const reader = await newReader(other, 'before@example.org')
      await setEmail(other.accounts.db, reader.id, reader.email, '2026-01-01T00:00:00.000Z')
      const browser = await new Browser(other).signIn(reader)
      const { csrf } = formOf(await browser.page(`${other.base}/account`))
      await browser.post(`${other.base}/account/email`, [
        ['csrf', csrf],
        ['email', 'after@example.org'],
        ['current', reader.password],
      ])
      expect(await findReader(other.accounts.db, reader.id)).toMatchObject({
        email: 'after@example.org',
        emailVerifiedAt: null,
      })
    })
  })

  it('of a first reader who sets a password is proved by a letter', async () => {
    const first = await addReader(server.accounts, { library: 'local' })
    const browser = await new Browser(server).signIn(first)
    const { csrf } = formOf(await browser.page(at('/account')))
    const page = await browser.postForPage(at('/account/password'), [
      ['csrf', csrf],
      ['email', 'first@example.org'],
      ['password', 'ten characters'],
    ])
    expect(page.html).toContain('Look into your mail')
    expect(await hasPassword(server.accounts, first.id)).toBe(true)
    const link = await mailbox.linkTo('first@example.org')
    // Until then the password goes with no address, and the link at the start is the way in.
    expect((await ensureFirstReader(server.accounts)).link).toBeDefined()
    await open(link, browser)
    expect((await findReader(server.accounts.db, first.id))!.email).toBe('first@example.org')
  })
})

it('links are kept as hashes', async () => {
  const reader = await provedReader('atrest@example.org')
  await ask('/reset', reader.email)
  const link = await mailbox.linkTo(reader.email)
  const rows = await server.accounts.db.selectFrom('one_time_link').selectAll().execute()
  expect(rows.length).toBeGreaterThan(0)
  expect(JSON.stringify(rows)).not.toContain(new URL(link).searchParams.get('link'))
})
