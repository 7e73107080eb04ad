import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureFirstReader } from '../../src/features/accounts/identity.ts'
import { passkeysWork } from '../../src/features/accounts/passkeys.ts'
import { Authenticator, type CreationOptions, type Deviation } from './authenticator.ts'
import {
  authorizeUrl,
  Browser,
  formOf,
  newClient,
  newReader,
  startOAuthServer,
  type Page,
  type TestReader,
  type TestServer,
} from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startOAuthServer({ host: 'localhost' })
})
afterAll(async () => {
  expect(server.errors).toEqual([])
  await server.stop()
})

let count = 0
const reader = (): Promise<TestReader> => newReader(server, `reader${count++}@example.org`)
const at = (path: string): string => `${server.base}${path}`
const emailOf = (page: Page): string | undefined => /signed in as <b>([^<]+)</.exec(page.html)?.[1]
const hasSession = (browser: Browser): boolean => browser.jar.has('commonplace|/')

interface Options extends CreationOptions {
  rpId: string
  allowCredentials?: { id: string }[]
}

/** What the script fetches before it asks the browser. */
async function optionsFor(browser: Browser, path: string, csrf: string) {
  const response = await browser.request(at(path), {
    method: 'POST',
    headers: { origin: server.base, 'x-csrf-token': csrf },
  })
  // Refused, there are none, and whoever uses them fails.
  const options = (response.status === 200 ? await response.json() : {}) as Options
  return { status: response.status, options }
}

async function add(
  browser: Browser,
  device: Authenticator,
  deviation: Deviation = {},
  name = 'My phone',
): Promise<Page> {
  const { csrf } = formOf(await browser.page(at('/account')))
  const { options } = await optionsFor(browser, '/account/passkey/options', csrf)
  return browser.postForPage(at('/account/passkey'), [
    ['csrf', csrf],
    ['name', name],
    ['credential', device.create(options, deviation)],
  ])
}

async function challenge(browser: Browser, path = '/sign-in?again=1') {
  const { csrf } = formOf(await browser.page(at(path)))
  return { csrf, ...(await optionsFor(browser, '/sign-in/passkey/options', csrf)) }
}

const send = (browser: Browser, csrf: string, credential: string, next = ''): Promise<Page> =>
  browser.postForPage(at('/sign-in/passkey'), [
    ['csrf', csrf],
    ['next', next],
    ['credential', credential],
  ])

async function signIn(device: Authenticator, browser = new Browser(server), deviation: Deviation = {}) {
  const { csrf, options } = await challenge(browser)
  return send(browser, csrf, device.get(options, deviation))
}

/** A reader with a passkey, and the browser that they made it in. */
async function withPasskey(counts = true) {
  const owner = await reader()
  const browser = await new Browser(server).signIn(owner)
  const device = new Authenticator(server.base, { counts })
  expect((await add(browser, device)).url).toBe(at('/account'))
  return { owner, browser, device }
}

describe('a passkey', () => {
  it('is made on the account page and signs in without a name', async () => {
    const { owner, browser, device } = await withPasskey()
    expect((await browser.page(at('/account'))).html).toContain('<b>My phone</b>')
    const page = await signIn(device)
    expect([page.url, emailOf(page)]).toEqual([at('/account'), owner.email])
    expect((await signIn(device)).status).toBe(200)
  })

  it('asks the device to know its person and the reader, and says nothing of them', async () => {
    const owner = await reader()
    const browser = await new Browser(server).signIn(owner)
    const { csrf } = formOf(await browser.page(at('/account')))
    const { options } = await optionsFor(browser, '/account/passkey/options', csrf)
    expect(options).toMatchObject({
      rp: { id: 'localhost' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    expect(Buffer.from(options.user.id, 'base64url').toString()).toBe(owner.id)
    const { options: signing } = await challenge(new Browser(server))
    expect(signing).toMatchObject({ rpId: 'localhost', userVerification: 'required' })
    expect(signing.allowCredentials ?? []).toEqual([])
    // A device that has one already is not asked for another.
    await add(browser, new Authenticator(server.base))
    const again = await optionsFor(browser, '/account/passkey/options', csrf)
    expect(again.options.excludeCredentials).toHaveLength(1)
  })

  it('of an authenticator that counts nothing signs in again and again', async () => {
    const { device } = await withPasskey(false)
    expect((await signIn(device)).status).toBe(200)
    expect((await signIn(device)).status).toBe(200)
  })

  it('that was copied is noticed by its count', async () => {
    const { device } = await withPasskey()
    await signIn(device)
    await signIn(device)
    const browser = new Browser(server)
    expect((await signIn(device, browser, { counter: 2 })).status).toBe(401)
    expect((await signIn(device, browser, { counter: 0 })).status).toBe(401)
    expect(hasSession(browser)).toBe(false)
    expect((await signIn(device)).status).toBe(200)
  })

  it('with one count used twice at once signs in once', async () => {
    const { device } = await withPasskey()
    const browsers = [new Browser(server), new Browser(server)]
    const asked = await Promise.all(browsers.map((browser) => challenge(browser)))
    const pages = await Promise.all(
      asked.map(({ csrf, options }, n) => send(browsers[n]!, csrf, device.get(options, { counter: 50 }))),
    )
    expect(pages.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401])
  })

  it.each<[string, Deviation]>([
    ['for another origin', { origin: 'https://evil.example' }],
    ['for a look-alike of ours', { origin: 'http://localhost.evil.example' }],
    ['for another domain', { rpId: 'evil.example' }],
    ['of the making of a passkey', { type: 'webauthn.create' }],
    ['without the person checked', { userVerified: false }],
    ['without a person there', { userPresent: false }],
    ['by another key', { otherKey: true }],
    ['for another reader', { userHandle: Buffer.from('somebody else').toString('base64url') }],
    ['for nobody', { userHandle: null }],
    ['of a challenge that we never gave', { challenge: Buffer.from('x'.repeat(43)).toString('base64url') }],
  ])('signature %s signs nobody in', async (_what, deviation) => {
    const { device } = await withPasskey()
    const browser = new Browser(server)
    expect((await signIn(device, browser, deviation)).status).toBe(401)
    expect(hasSession(browser)).toBe(false)
  })

  it.each<[string, Deviation]>([
    ['for another origin', { origin: 'https://evil.example' }],
    ['for another domain', { rpId: 'evil.example' }],
    ['of a sign-in', { type: 'webauthn.get' }],
    ['without the person checked', { userVerified: false }],
    ['of a challenge that we never gave', { challenge: Buffer.from('x'.repeat(43)).toString('base64url') }],
  ])('made %s is not kept', async (_what, deviation) => {
    const owner = await reader()
    const browser = await new Browser(server).signIn(owner)
    expect((await add(browser, new Authenticator(server.base), deviation)).status).toBe(400)
    expect((await browser.page(at('/account'))).html).not.toContain('<b>My phone</b>')
  })

  it.each(['', 'x', '{}', '[]', 'null', '{"id":"x","rawId":"x","type":"public-key","response":{}}'])(
    'that is none is refused without a fault of ours: %s',
    async (credential) => {
      const browser = new Browser(server)
      const { csrf } = await challenge(browser)
      expect((await send(browser, csrf, credential)).status).toBe(401)
    },
  )

  it('that nobody here has signs nobody in', async () => {
    const browser = new Browser(server)
    const { csrf, options } = await challenge(browser)
    const unknown = new Authenticator(server.base)
    unknown.userHandle = 'x'
    expect((await send(browser, csrf, unknown.get(options))).status).toBe(401)
  })

  it('of another reader is not taken over by registering its id', async () => {
    const { device, owner } = await withPasskey()
    const thief = await new Browser(server).signIn(await reader())
    const copy = new Authenticator(server.base)
    Object.assign(copy, { id: device.id })
    expect((await add(thief, copy)).status).toBe(400)
    expect(emailOf(await signIn(device))).toBe(owner.email)
  })

  it('is named and removed by its reader and nobody else', async () => {
    const { browser, device } = await withPasskey()
    const id = device.id.toString('base64url')
    const change = async (by: Browser, action: string, fields: [string, string][] = []) => {
      const { csrf } = formOf(await by.page(at('/account')))
      return by.postForPage(at(`/account/${action}`), [['csrf', csrf], ['id', id], ...fields])
    }
    const meddler = await new Browser(server).signIn(await reader())
    await change(meddler, 'rename-passkey', [['name', 'stolen']])
    await change(meddler, 'end-passkey')
    expect((await signIn(device)).status).toBe(200)
    expect((await browser.page(at('/account'))).html).toContain('<b>My phone</b>')
    await change(browser, 'rename-passkey', [['name', 'Old <b>phone']])
    expect((await browser.page(at('/account'))).html).toContain('<b>Old &#60;b&#62;phone</b>')
    await change(browser, 'end-passkey')
    expect((await signIn(device)).status).toBe(401)
  })

  it('is neither added nor removed in a browser that was left open', async () => {
    const { browser, device } = await withPasskey()
    server.pass(3_601)
    const { csrf } = formOf(await browser.page(at('/account')))
    expect((await optionsFor(browser, '/account/passkey/options', csrf)).status).toBe(403)
    const removed = await browser.postForPage(at('/account/end-passkey'), [
      ['csrf', csrf],
      ['id', device.id.toString('base64url')],
    ])
    expect([removed.status, removed.html.includes('sign in again')]).toEqual([403, true])
    expect((await signIn(device, browser)).status).toBe(200)
    const fresh = await browser.postForPage(at('/account/end-passkey'), [
      ['csrf', formOf(await browser.page(at('/account'))).csrf],
      ['id', device.id.toString('base64url')],
    ])
    expect(fresh.url).toBe(at('/account'))
  })

  it('that is the last way in stays, though two are removed at once', async () => {
    const { browser, device, owner } = await withPasskey()
    const second = new Authenticator(server.base)
    await add(browser, second)
    await server.accounts.db.deleteFrom('credential').where('reader_id', '=', owner.id).execute()
    const { csrf } = formOf(await browser.page(at('/account')))
    const pages = await Promise.all(
      [device, second].map(({ id }) =>
        browser.postForPage(at('/account/end-passkey'), [
          ['csrf', csrf],
          ['id', id.toString('base64url')],
        ]),
      ),
    )
    expect(pages.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400])
  })
})

it('the first reader needs no link at the start once they have a passkey', async () => {
  const { reader: first, link } = await ensureFirstReader(server.accounts)
  expect(link).toBeDefined()
  const browser = await new Browser(server).signIn(first)
  await add(browser, new Authenticator(server.base))
  expect((await ensureFirstReader(server.accounts)).link).toBeUndefined()
})

describe('a challenge', () => {
  it('is answered once', async () => {
    const { device } = await withPasskey()
    const browser = new Browser(server)
    const { csrf, options } = await challenge(browser)
    const credential = device.get(options)
    expect((await send(browser, csrf, credential)).status).toBe(200)
    expect((await send(browser, csrf, credential)).status).toBe(401)
    expect((await send(browser, csrf, device.get(options))).status).toBe(401)
  })

  it('is for the browser that asked: nobody is signed in as another', async () => {
    const { device } = await withPasskey()
    const attacker = new Browser(server)
    const { options } = await challenge(attacker)
    const credential = device.get(options)
    const victim = new Browser(server)
    const { csrf } = await challenge(victim)
    expect((await send(victim, csrf, credential)).status).toBe(401)
    expect(hasSession(victim)).toBe(false)
  })

  it('is over after five minutes', async () => {
    const { device } = await withPasskey()
    const browser = new Browser(server)
    const { csrf, options } = await challenge(browser)
    server.pass(301)
    expect((await send(browser, csrf, device.get(options))).status).toBe(401)
  })

  it('for adding signs nobody in, even where one browser has both', async () => {
    const { browser, device, owner } = await withPasskey()
    const { csrf } = formOf(await browser.page(at('/account')))
    const adding = (await optionsFor(browser, '/account/passkey/options', csrf)).options
    const { hash } = await server.accounts.db
      .selectFrom('session')
      .select('hash')
      .where('reader_id', '=', owner.id)
      .executeTakeFirstOrThrow()
    // What a challenge for adding is bound to is nothing secret to its reader, who could make it a cookie.
    const visitor = new Browser(server)
    const cookie = { name: 'commonplace-visitor', value: hash, path: '/', attributes: '' }
    visitor.jar.set('commonplace-visitor|/', cookie)
    expect((await signIn(device, visitor, { challenge: adding.challenge })).status).toBe(401)
    expect((await signIn(device, visitor)).status).toBe(200)
  })

  it('for signing in adds no passkey', async () => {
    const { browser } = await withPasskey()
    const signing = await challenge(new Browser(server))
    const page = await add(browser, new Authenticator(server.base), { challenge: signing.options.challenge })
    expect(page.status).toBe(400)
  })

  it('of one reader’s browser adds none to another', async () => {
    const one = await new Browser(server).signIn(await reader())
    const two = await new Browser(server).signIn(await reader())
    const { csrf } = formOf(await one.page(at('/account')))
    const { options } = await optionsFor(one, '/account/passkey/options', csrf)
    const page = await two.postForPage(at('/account/passkey'), [
      ['csrf', formOf(await two.page(at('/account'))).csrf],
      ['credential', new Authenticator(server.base).create(options)],
    ])
    expect(page.status).toBe(400)
  })

  it('is given to our own page alone', async () => {
    const browser = new Browser(server)
    const { csrf } = formOf(await browser.page(at('/sign-in')))
    expect((await optionsFor(browser, '/sign-in/passkey/options', 'x')).status).toBe(403)
    expect((await optionsFor(new Browser(server), '/sign-in/passkey/options', csrf)).status).toBe(403)
    expect((await optionsFor(browser, '/account/passkey/options', csrf)).status).toBe(403)
    const { device } = await withPasskey()
    const { options } = await challenge(browser)
    expect((await send(browser, 'x', device.get(options))).status).toBe(403)
  })

  it('lies in the database as a hash', async () => {
    const { options } = await challenge(new Browser(server))
    const rows = JSON.stringify(
      await server.accounts.db.selectFrom('passkey_challenge').selectAll().execute(),
    )
    expect(rows).not.toContain(options.challenge)
    expect(rows).not.toContain(Buffer.from(options.challenge, 'base64url').toString())
  })
})

it('answers are counted by network: guessing waits', async () => {
  const guarded = await startOAuthServer({
    host: 'localhost',
    limits: { passkey: { count: 3, seconds: 900 } },
  })
  try {
    const browser = new Browser(guarded)
    const { csrf } = formOf(await browser.page(`${guarded.base}/sign-in`))
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) {
      const page = await browser.postForPage(`${guarded.base}/sign-in/passkey`, [
        ['csrf', csrf],
        ['credential', '{}'],
      ])
      statuses.push(page.status)
    }
    expect(statuses).toEqual([401, 401, 401, 429])
    const options = await browser.request(`${guarded.base}/sign-in/passkey/options`, {
      method: 'POST',
      headers: { origin: guarded.base, 'x-csrf-token': csrf },
    })
    expect(options.status).toBe(429)
  } finally {
    await guarded.stop()
  }
})

describe('the session', () => {
  it('is new, and the one before is over', async () => {
    const { device, owner } = await withPasskey()
    const browser = await new Browser(server).signIn(await reader())
    const planted = browser.jar.get('commonplace|/')!.value
    const { csrf, options } = await challenge(browser, '/sign-in?again=1')
    expect(emailOf(await send(browser, csrf, device.get(options)))).toBe(owner.email)
    const old = new Browser(server)
    old.jar.set('commonplace|/', { name: 'commonplace', value: planted, path: '/', attributes: '' })
    expect((await old.page(at('/account'))).url).toBe(at('/sign-in'))
  })

  it('leads where it was meant to, and nowhere else', async () => {
    const { device } = await withPasskey()
    const browser = new Browser(server)
    const { csrf, options } = await challenge(browser)
    expect((await send(browser, csrf, device.get(options), 'https://evil.example/')).url).toBe(at('/account'))
    const other = new Browser(server)
    const again = await challenge(other)
    expect((await send(other, again.csrf, device.get(again.options), '/account?x')).url).toBe(
      at('/account?x'),
    )
  })
})

describe('the script', () => {
  const policyOf = async (url: string, browser = new Browser(server)) => {
    const { headers, html } = await browser.page(url)
    return { policy: headers.get('content-security-policy')!, html }
  }

  it('is a file of ours, on the pages where one signs in and of the account alone', async () => {
    const signedIn = await new Browser(server).signIn(await reader())
    for (const { policy, html } of [
      await policyOf(at('/sign-in')),
      await policyOf(at('/account'), signedIn),
    ]) {
      expect(policy).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      )
      expect(html.match(/<script[^>]*>/g)).toEqual(['<script defer src="/passkeys.js">'])
    }
    const client = await newClient(server)
    const consent = await policyOf((await authorizeUrl(server, client)).url, signedIn)
    expect(consent.html).toContain('Connect Test?')
    for (const { policy, html } of [
      consent,
      await policyOf(at('/reset')),
      await policyOf(at('/sign-out'), signedIn),
    ]) {
      expect(policy).not.toContain('script-src')
      expect(html).not.toContain('<script')
    }
  })

  it('is served as one, and once', async () => {
    const served = await fetch(at('/passkeys.js'))
    expect(served.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(served.headers.get('x-content-type-options')).toBe('nosniff')
    const text = await served.text()
    expect(() => new Function(text)).not.toThrow()
    expect(text).not.toMatch(/innerHTML|eval\(|https?:/)
    const again = await fetch(at('/passkeys.js'), {
      headers: { 'if-none-match': served.headers.get('etag')! },
    })
    expect(again.status).toBe(304)
  })

  it('brings what the browser needs, and sends what the device signed as the form that it found', async () => {
    const owner = await reader()
    const browser = await new Browser(server).signIn(owner)
    const device = new Authenticator(server.base)
    const made = await runScript(browser, device, '/account', 'create')
    const added = await browser.postForPage(at('/account/passkey'), [...made, ['name', 'By script']])
    expect(added.html).toContain('<b>By script</b>')
    const visitor = new Browser(server)
    const signed = await runScript(visitor, device, '/sign-in', 'get')
    expect(emailOf(await visitor.postForPage(at('/sign-in/passkey'), signed))).toBe(owner.email)
    // What goes wrong is told where the form is, and nothing is sent.
    await expect(runScript(visitor, device, '/sign-in?again=1', 'get', 'x')).rejects.toThrow(
      'That did not work. Try again, or take another way.',
    )
  })

  it('shows its forms; without it they are hidden and the others stand', async () => {
    const { html } = await policyOf(at('/sign-in'))
    expect(html).toMatch(
      /<form class="ways" method="post" action="\/sign-in\/passkey" hidden data-passkey="get"/,
    )
    expect(html).toMatch(/<form method="post" action="\/sign-in">/)
  })
})

/** A page with the script in it: presses the button, and gives the fields that are sent. */
async function runScript(
  browser: Browser,
  device: Authenticator,
  path: string,
  which: 'get' | 'create',
  csrf?: string,
): Promise<[string, string][]> {
  const { html } = await browser.page(at(path))
  const [form = ''] = new RegExp(`<form[^>]*data-passkey="${which}"[\\s\\S]*?</form>`).exec(html) ?? []
  const value = (name: string): string => new RegExp(`name="${name}" value="([^"]*)"`).exec(form)?.[1] ?? ''
  const fields = { csrf: { value: csrf ?? value('csrf') }, credential: { value: value('credential') } }
  const told = { textContent: '' }
  const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
  const buffers = (record: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(record).map(([name, text]) => [
        name,
        new Uint8Array(Buffer.from(text, 'base64url')).buffer,
      ]),
    )
  const answer = (credential: string) => {
    const { rawId, type, response } = JSON.parse(credential)
    const { transports = [], ...rest } = response
    return {
      rawId: buffers({ rawId })['rawId'],
      type,
      response: { ...buffers(rest), getTransports: () => transports },
    }
  }
  return new Promise((resolve, reject) => {
    let press: ((event: { preventDefault(): void }) => Promise<void>) | undefined
    const element = {
      hidden: true,
      dataset: { passkey: which, options: /data-options="([^"]+)"/.exec(form)?.[1] },
      elements: fields,
      querySelector: () => told,
      addEventListener: (_event: string, listener: typeof press) => void (press = listener),
      submit: () =>
        resolve(Object.entries(fields).map(([name, field]): [string, string] => [name, field.value])),
    }
    const navigator = {
      credentials: {
        get: async ({ publicKey }: { publicKey: Options & { challenge: Uint8Array } }) =>
          answer(device.get({ ...publicKey, challenge: base64url(publicKey.challenge) })),
        create: async ({
          publicKey,
        }: {
          publicKey: Options & { challenge: Uint8Array; user: { id: Uint8Array } }
        }) =>
          answer(
            device.create({
              ...publicKey,
              challenge: base64url(publicKey.challenge),
              user: { id: base64url(publicKey.user.id) },
            }),
          ),
      },
    }
    const run = async (): Promise<void> => {
      const script = await (await fetch(at('/passkeys.js'))).text()
      runInNewContext(script, {
        window: { PublicKeyCredential: () => {} },
        navigator,
        document: { querySelectorAll: () => [element] },
        fetch: (to: string, init: RequestInit) =>
          browser.request(at(to), { ...init, headers: { ...init.headers, origin: server.base } }),
        atob,
        btoa,
        Uint8Array,
        JSON,
      })
      expect(element.hidden).toBe(false)
      let stayed = false
      await press?.({ preventDefault: () => (stayed = true) })
      expect(stayed).toBe(true)
      reject(new Error(told.textContent))
    }
    run().catch(reject)
  })
}

it.each([
  ['https://books.example.org', true],
  ['https://books.example.org:8443', true],
  ['http://localhost:3210', true],
  ['http://books.example.org', false],
  ['http://127.0.0.1:3210', false],
  ['https://192.0.2.1', false],
  ['https://[2001:db8::1]', false],
])('browsers keep passkeys for %s: %s', (base, works) => {
  expect(passkeysWork({ base })).toBe(works)
})

it('a server without a domain has neither passkeys nor a script', async () => {
  const numbered = await startOAuthServer()
  try {
    const browser = new Browser(numbered)
    const page = await browser.page(`${numbered.base}/sign-in`)
    expect(page.html).not.toMatch(/passkey|<script/)
    const response = await browser.request(`${numbered.base}/sign-in/passkey/options`, {
      method: 'POST',
      headers: { origin: numbered.base, 'x-csrf-token': formOf(page).csrf },
    })
    expect(response.status).toBe(404)
  } finally {
    await numbered.stop()
  }
})
