import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addReader } from '../../src/features/accounts/reader-store.ts'
import { listSessions } from '../../src/features/accounts/session-store.ts'
import {
  Browser,
  formOf,
  newReader,
  startOAuthServer,
  type Page,
  type TestReader,
  type TestServer,
} from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startOAuthServer({ addressFromHeader: true })
})
afterAll(async () => {
  expect(server.errors).toEqual([])
  await server.stop()
})

const at = (path: string): string => `${server.base}${path}`
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0'

async function signedIn(reader: TestReader, address: string, agent: string): Promise<Browser> {
  const browser = new Browser(server)
  const form = formOf(await browser.page(at('/sign-in')))
  await browser.post(
    form.action,
    [
      ['csrf', form.csrf],
      ['email', reader.email],
      ['password', reader.password],
    ],
    { 'x-test-address': address, 'user-agent': agent },
  )
  return browser
}

const post = async (browser: Browser, action: string, fields: [string, string][] = []): Promise<Page> => {
  const { csrf } = formOf(await browser.page(at('/account')))
  return browser.postForPage(at(`/account/${action}`), [['csrf', csrf], ...fields])
}

const holds = async (browser: Browser): Promise<boolean> =>
  (await browser.page(at('/account'))).url === at('/account')

describe('sessions', () => {
  it('are listed with when and where from, and each can be ended', async () => {
    const reader = await newReader(server, 'sessions@example.org')
    const here = await signedIn(reader, '192.0.2.1', FIREFOX)
    const there = await signedIn(reader, '2001:db8:1:2:3:4:5:6', 'curl/8.0 <b>')
    const other = await signedIn(await newReader(server, 'meddles@example.org'), '192.0.2.9', FIREFOX)
    const page = await here.page(at('/account'))
    expect(page.html).toContain('<b>Firefox on Linux</b> at <code>192.0.2.1</code>')
    // A household, not a machine; and nothing that a browser says of itself beyond what is known.
    expect(page.html).toContain('<b>A browser</b> at <code>2001:db8:1:2</code>')
    expect(page.html).not.toContain('curl')
    expect(page.html.match(/This one\./g)).toHaveLength(1)
    const id = /end-session"><input[^>]+><input type="hidden" name="id" value="([^"]+)"/.exec(page.html)![1]!
    expect(page.html.match(/\/account\/end-session"/g)).toHaveLength(1)
    await post(other, 'end-session', [['id', id]])
    expect(await holds(there)).toBe(true)
    await post(here, 'end-session', [['id', id]])
    expect([await holds(there), await holds(here)]).toEqual([false, true])
  })

  it('are ended all but this one', async () => {
    const reader = await newReader(server, 'all@example.org')
    const bystander = await signedIn(await newReader(server, 'bystander@example.org'), '192.0.2.3', FIREFOX)
    const [here, one, two] = [
      await signedIn(reader, '192.0.2.1', FIREFOX),
      await signedIn(reader, '192.0.2.2', FIREFOX),
      await signedIn(reader, '192.0.2.3', FIREFOX),
    ]
    const forged = await here.postForPage(at('/account/end-sessions'), [['csrf', 'x']])
    expect([forged.status, await holds(one)]).toEqual([403, true])
    await post(here, 'end-sessions')
    expect([await holds(here), await holds(one), await holds(two), await holds(bystander)]).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  it('say when they were used last, to the hour', async () => {
    const reader = await newReader(server, 'used@example.org')
    const browser = await signedIn(reader, '192.0.2.1', FIREFOX)
    const last = async () => (await listSessions(server.accounts, reader.id))[0]!.lastUsedAt!
    const begun = await last()
    await browser.page(at('/account'))
    expect(await last()).toBe(begun)
    server.pass(2 * 3_600)
    await browser.page(at('/account'))
    expect(Date.parse(await last()) - Date.parse(begun)).toBeGreaterThan(7_000_000)
  })

  it('are named on the page by what signs nobody in', async () => {
    const reader = await newReader(server, 'named@example.org')
    const browser = await signedIn(reader, '192.0.2.1', FIREFOX)
    await signedIn(reader, '192.0.2.2', FIREFOX)
    const page = await browser.page(at('/account'))
    expect(page.html).not.toContain(browser.jar.get('commonplace|/')!.value)
    const id = /end-session"><input[^>]+><input type="hidden" name="id" value="([^"]+)"/.exec(page.html)![1]!
    const thief = new Browser(server)
    thief.jar.set('commonplace|/', { name: 'commonplace', value: id, path: '/', attributes: '' })
    expect(await holds(thief)).toBe(false)
  })
})

describe('a browser that was left open', () => {
  it('sets no first password, until the reader signs in again', async () => {
    const reader = await addReader(server.accounts, { email: 'nopass@example.org' })
    const browser = await new Browser(server).signIn(reader)
    server.pass(3_601)
    const page = await post(browser, 'password', [['password', 'a password of ten']])
    expect([page.status, page.html.includes('/sign-in?again=1')]).toEqual([403, true])
    const email = await post(browser, 'email', [['email', 'thief@example.org']])
    expect(email.status).toBe(403)
    // The page is shown though there is a session.
    expect((await browser.page(at('/sign-in?again=1'))).html).toContain('name="password"')
    const fresh = await new Browser(server).signIn(reader)
    expect((await post(fresh, 'password', [['password', 'a password of ten']])).url).toBe(at('/account'))
  })

  it('changes a password only by the one before, however fresh', async () => {
    const reader = await newReader(server, 'old-password@example.org')
    const browser = await new Browser(server).signIn(reader)
    expect((await post(browser, 'password', [['password', 'a password of ten']])).status).toBe(403)
    server.pass(3_601)
    const changed = await post(browser, 'password', [
      ['current', reader.password],
      ['password', 'a password of ten'],
    ])
    expect(changed.url).toBe(at('/account'))
  })
})

it('the account page has its sections, in plain forms, and fits a phone', async () => {
  const reader = await newReader(server, 'page@example.org')
  const browser = await new Browser(server).signIn(reader)
  const { html } = await browser.page(at('/account'))
  expect([...html.matchAll(/<h2>([^<]+)/g)].map(([, title]) => title)).toEqual([
    'Connected assistants',
    'Tokens of your own',
    'Your e-mail address',
    'Ways to sign in',
    'Where you are signed in',
    'Your data',
  ])
  expect(html).toContain('name="viewport" content="width=device-width, initial-scale=1"')
  // Every change is a form of its own, which carries the session's token.
  const forms = html.match(/<form[^>]*>[\s\S]*?<\/form>/g)!
  expect(forms.length).toBeGreaterThan(2)
  for (const form of forms) {
    expect(form).toMatch(/method="post" action="\/account\//)
    expect(form).toContain('name="csrf"')
  }
})
