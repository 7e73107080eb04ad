import type { Client } from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listConnections } from '../../src/features/accounts/connection-store.ts'
import {
  approve,
  ASKED,
  authorizeUrl,
  Browser,
  CALLBACK,
  callbackOf,
  callResource,
  connect,
  formOf,
  newClient,
  newReader,
  pageOf,
  signInOn,
  startOAuthServer,
  statusOf,
  token,
  type Extra,
  type TestReader,
  type TestServer,
} from './support.ts'

let server: TestServer
let reader: TestReader
let other: TestReader
let client: Client
let browser: Browser
beforeAll(async () => {
  server = await startOAuthServer()
  reader = await newReader(server, 'reader@example.org')
  other = await newReader(server, 'other@example.org')
  client = await newClient(server)
  browser = await new Browser(server).signIn(reader)
  await connect(server, client, browser, reader)
})
afterAll(async () => {
  expect(server.errors).toEqual([])
  await server.stop()
})

/** The consent page of a new request. */
const consentPage = async (extra: Extra = {}, by = browser) =>
  by.page((await authorizeUrl(server, client, CALLBACK, extra)).url)

describe('the whole way', () => {
  it('signs in, allows a part, and gets an hour of just that', async () => {
    const { page, tokens } = await connect(server, client, new Browser(server), reader, {
      grant: ['highlights:read', 'notes:write'],
      extra: { scope: 'highlights:read notes:read notes:write library:private' },
    })
    expect(page.html).toContain('Connect Test?')
    expect(tokens).toMatchObject({
      scope: 'highlights:read notes:write',
      expires_in: 3600,
      token_type: 'bearer',
    })
    const { status, body } = await callResource(server, tokens.access_token)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      readerId: reader.id,
      scopes: ['highlights:read', 'notes:write'],
      connection: 'Test',
    })
  })

  it('leaves nothing usable at rest', async () => {
    const { tokens, code } = await connect(server, client, browser, reader)
    const tables = ['authorization_code', 'access_token', 'refresh_token', 'oauth_grant', 'session'] as const
    const rows = await Promise.all(
      tables.map((table) => server.accounts.db.selectFrom(table).selectAll().execute()),
    )
    const kept = JSON.stringify(rows)
    expect(kept.length).toBeGreaterThan(500)
    for (const secret of [
      tokens.access_token,
      tokens.refresh_token,
      code,
      browser.jar.get('commonplace|/')!.value,
    ])
      expect(kept).not.toContain(secret)
  })

  it('Deny tells the client, with state and iss', async () => {
    const form = formOf(await consentPage())
    const back = callbackOf(
      await browser.post(form.action, [
        ['csrf', form.csrf],
        ['decision', 'deny'],
        ['scope', 'mcp'],
      ]),
    )
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'st',
      iss: server.base,
    })
  })

  it('takes the request as a form too', async () => {
    const { url } = await authorizeUrl(server, client)
    const fields = [...new URL(url).searchParams]
    const page = await browser.postForPage(`${server.base}/oauth/authorize`, fields, {
      origin: 'https://client.example',
    })
    expect(formOf(page).scopes).toHaveLength(4)
  })
})

describe('what is offered', () => {
  it('is what was asked for, ticked but for what is private, in groups', async () => {
    const page = await consentPage({
      scope: 'library:private mcp highlights:read reflections:read notes:write',
    })
    const form = formOf(page)
    expect(form.scopes).toEqual([
      'highlights:read',
      'notes:write',
      'mcp',
      'reflections:read',
      'library:private',
    ])
    expect(form.ticked).toEqual(['highlights:read', 'notes:write', 'mcp'])
    const legends = [...page.html.matchAll(/<legend>(\w+)<\/legend>/g)].map((match) => match[1])
    expect(legends).toEqual(['Read', 'Change', 'Private'])
  })

  it.each([undefined, 'claudeai openid'])(
    'is everything, with reading ticked, for scope %s',
    async (scope) => {
      const form = formOf(await consentPage({ scope }))
      expect(form.scopes).toHaveLength(14)
      expect(form.ticked).toEqual([
        'highlights:read',
        'sources:read',
        'notes:read',
        'themes:read',
        'practices:read',
      ])
    },
  )

  it('cannot be stretched by a forged form', async () => {
    const { tokens } = await connect(server, client, browser, reader, {
      grant: ['mcp', 'library:private', 'x'],
    })
    expect(tokens.scope).toBe('mcp')
  })

  it('with nothing ticked Allow does nothing, and the page can be answered again', async () => {
    const form = formOf(await consentPage())
    const again = await browser.postForPage(form.action, [
      ['csrf', form.csrf],
      ['decision', 'allow'],
    ])
    expect([again.status, again.html.includes('Nothing was ticked')]).toEqual([400, true])
    const back = await browser.post(form.action, [
      ['csrf', formOf(again).csrf],
      ['decision', 'allow'],
      ['scope', 'mcp'],
    ])
    expect(callbackOf(back).searchParams.get('code')).toBeTruthy()
  })

  it('Allow and Deny weigh the same', async () => {
    const { html } = await consentPage()
    const buttons = [...html.matchAll(/<button([^>]*)>(Allow|Deny)<\/button>/g)]
    expect(buttons.map(([, attributes]) => attributes!.replace(/value="\w+"/, ''))).toEqual([
      ' name="decision" ',
      ' name="decision" ',
    ])
  })

  it('says who asks, where it leads and who is signed in; nothing of it is markup', async () => {
    const evil = await newClient(server, { client_name: '<script>alert(1)</script>"\'' })
    const page = await browser.page((await authorizeUrl(server, evil)).url)
    expect(page.html).not.toMatch(/<script|"'/i)
    expect(page.html).toContain('&#60;script&#62;alert(1)')
    expect(page.html).toContain('127.0.0.1:33418')
    expect(page.html).toContain('reader@example.org')
  })
})

describe('a redirect URI', () => {
  it('on loopback has a free port, and nothing else of it is free', async () => {
    await connect(server, client, browser, reader, { redirectUri: 'http://127.0.0.1:50001/callback' })
    const local = await newClient(server, { redirect_uris: ['http://localhost/callback'] })
    await connect(server, local, browser, reader, { redirectUri: 'http://localhost:61000/callback' })
    for (const uri of [
      'http://127.0.0.1:50001/other',
      'http://127.0.0.1:99999/callback',
      'http://127.0.0.1:50001/callback?x=1',
      'http://localhost:50001/callback',
      'https://127.0.0.1:33418/callback',
      'http://x@127.0.0.1:33418/callback',
      'http://127.0.0.1:33418@evil.example/callback',
      'https://evil.example/cb',
    ]) {
      const page = await browser.page((await authorizeUrl(server, client, uri)).url)
      expect([uri, page.status, page.html.includes('redirect_uri is not registered')]).toEqual([
        uri,
        400,
        true,
      ])
    }
  })

  it('of a web client has no free port', async () => {
    const web = await newClient(server, { redirect_uris: ['https://a.example/cb'] })
    const page = await browser.page((await authorizeUrl(server, web, 'https://a.example:8443/cb')).url)
    expect(page.status).toBe(400)
  })

  it('keeps the query that it was registered with', async () => {
    const uri = 'https://a.example/cb?tenant=7'
    const { callback } = await approve(
      browser,
      (await authorizeUrl(server, await newClient(server, { redirect_uris: [uri] }), uri)).url,
      reader,
    )
    expect([...callback.searchParams.keys()]).toEqual(['tenant', 'code', 'state', 'iss'])
  })
})

const FAULTS: readonly (readonly [name: string, extra: Extra, error: string])[] = [
  ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['a PKCE method left out, which means plain', { code_challenge_method: undefined }, 'invalid_request'],
  ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
  ['a challenge that is none', { code_challenge: 'short' }, 'invalid_request'],
  ['a challenge of odd characters', { code_challenge: '!'.repeat(43) }, 'invalid_request'],
  ['response_type token', { response_type: 'token' }, 'unsupported_response_type'],
  ['no response_type', { response_type: undefined }, 'unsupported_response_type'],
  ['response_mode form_post', { response_mode: 'form_post' }, 'invalid_request'],
  ['a request object', { request: 'x.y.z' }, 'request_not_supported'],
  ['a request_uri', { request_uri: 'urn:x' }, 'request_uri_not_supported'],
  ['the resource of another server', { resource: 'https://evil.example/mcp' }, 'invalid_target'],
  ['prompt none', { prompt: 'none' }, 'interaction_required'],
]

describe('what is refused', () => {
  it.each(FAULTS)(
    '%s: the client hears of it where this reader let it in before',
    async (_name, extra, error) => {
      const { url } = await authorizeUrl(server, client, CALLBACK, extra)
      const back = callbackOf(await browser.follow(url))
      expect(Object.fromEntries(back.searchParams)).toMatchObject({ error, state: 'st', iss: server.base })
      expect(back.searchParams.has('code')).toBe(false)
    },
  )

  it.each(FAULTS)(
    '%s: a page and no redirect for a client that nobody here let in',
    async (_name, extra, error) => {
      const stranger = await newClient(server, { redirect_uris: ['https://phishing.example/'] })
      const { url } = await authorizeUrl(server, stranger, 'https://phishing.example/', extra)
      for (const by of [browser, new Browser(server)]) {
        const page = await by.page(url)
        expect([page.status, page.html.includes(error)]).toEqual([400, true])
      }
    },
  )

  it('an error is a page for a browser that is not signed in, whatever client', async () => {
    const { url } = await authorizeUrl(server, client, CALLBACK, { prompt: 'none' })
    expect((await new Browser(server).page(url)).status).toBe(400)
    expect((await (await new Browser(server).signIn(other)).page(url)).status).toBe(400)
  })

  it('an unknown client: a page that a person can read', async () => {
    const page = await browser.page((await authorizeUrl(server, { client_id: 'gone' })).url)
    expect(page.status).toBe(400)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.html).toContain('Remove the connection in the assistant and add')
  })

  it.each(['client_id', 'redirect_uri', 'code_challenge', 'state', 'scope'])('%s twice', async (name) => {
    const { url } = await authorizeUrl(server, client)
    expect((await browser.page(`${url}&${name}=x`)).status).toBe(400)
  })
})

describe('the consent page', () => {
  const allow = (csrf: string) =>
    [
      ['csrf', csrf],
      ['decision', 'allow'],
      ['scope', 'mcp'],
    ] as const

  it('runs no script, stands in no frame, and its form leads to us and this client alone', async () => {
    const { headers, html } = await consentPage()
    const policy = headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("base-uri 'none'")
    expect(policy).toContain("form-action 'self' http://127.0.0.1:33418;")
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(html).not.toMatch(/<script| on\w+=/i)
  })

  it.each([
    ['cursor://anysphere.cursor-mcp/oauth/callback', 'cursor:'],
    ['http://[::1]:9/cb', 'http:'],
    ['https://claude.ai/api/mcp/auth_callback', 'https://claude.ai'],
  ])('of %s lets the browser go on to %s', async (uri, target) => {
    const page = await browser.page(
      (await authorizeUrl(server, await newClient(server, { redirect_uris: [uri] }), uri)).url,
    )
    expect(page.headers.get('content-security-policy')).toContain(`form-action 'self' ${target};`)
  })

  it('takes only its own form, from its own origin, in its own browser', async () => {
    const form = formOf(await consentPage())
    const statusOf = async (fields: Parameters<Browser['post']>[1], origin?: string, by = browser) =>
      pageOf(await by.post(form.action, fields, origin === undefined ? {} : { origin })).status
    expect(await statusOf(allow('x'))).toBe(403)
    expect(await statusOf(allow(form.csrf).slice(1))).toBe(403)
    expect(await statusOf(allow(form.csrf), 'https://evil.example')).toBe(403)
    expect(await statusOf(allow(form.csrf), 'null')).toBe(403)
    expect(await statusOf(allow(form.csrf), undefined, new Browser(server))).toBe(400)
    expect(await statusOf(allow(formOf(await consentPage()).csrf))).toBe(403)
    callbackOf(await browser.post(form.action, allow(form.csrf)))
  })

  it('without an origin is taken where the browser says that it is ours', async () => {
    const form = formOf(await consentPage())
    const send = (site: string) => {
      const body = new URLSearchParams(allow(form.csrf) as unknown as [string, string][])
      return browser.follow(form.action, { method: 'POST', body, headers: { 'sec-fetch-site': site } })
    }
    expect(pageOf(await send('cross-site')).status).toBe(403)
    expect(pageOf(await send('same-site')).status).toBe(403)
    callbackOf(await send('same-origin'))
  })

  it('cannot be opened by another browser, not even with a cookie of its own moved there', async () => {
    const { action } = formOf(await consentPage())
    const thief = await new Browser(server).signIn(other)
    await consentPage({}, thief)
    for (const [key, cookie] of Array.from(thief.jar))
      if (cookie.name === 'request')
        thief.jar.set(`moved ${key}`, { ...cookie, path: new URL(action).pathname })
    expect((await thief.page(action)).status).toBe(400)
  })

  it('of one reader is not another reader’s to answer', async () => {
    const shared = await new Browser(server).signIn(reader)
    const form = formOf(await consentPage({}, shared))
    await shared.signIn(other)
    expect(pageOf(await shared.post(form.action, allow(form.csrf))).status).toBe(403)
  })

  it('is answered once, with old cookies too', async () => {
    const form = formOf(await consentPage())
    const kept = new Map(browser.jar)
    callbackOf(await browser.post(form.action, allow(form.csrf)))
    expect(pageOf(await browser.post(form.action, allow(form.csrf))).status).toBe(400)
    browser.jar = kept
    expect(pageOf(await browser.post(form.action, allow(form.csrf))).status).toBe(400)
  })

  it('answered twice at once gives one code that works', async () => {
    const { url, verifier } = await authorizeUrl(server, client)
    const form = formOf(await browser.page(url))
    const both = await Promise.all([1, 2].map(() => browser.post(form.action, allow(form.csrf))))
    const codes = both.flatMap(({ callback }) => callback?.searchParams.get('code') ?? [])
    expect(codes).toHaveLength(1)
    const { body } = await token(server, {
      grant_type: 'authorization_code',
      client_id: client.client_id,
      redirect_uri: CALLBACK,
      code: codes[0]!,
      code_verifier: verifier,
    })
    expect(await statusOf(server, body['access_token']!)).toBe(200)
    const mine = await listConnections(server.accounts, reader.id)
    expect(mine.filter(({ clientId }) => clientId === client.client_id)).toHaveLength(1)
  })

  it('is over after an hour', async () => {
    const form = formOf(await consentPage())
    server.pass(3_601)
    expect(pageOf(await browser.post(form.action, allow(form.csrf))).status).toBe(400)
  })
})

describe('more than one at once', () => {
  it('two tabs of a browser that is not signed in both finish', async () => {
    const tabs = new Browser(server)
    const second = await newClient(server)
    const one = await tabs.page((await authorizeUrl(server, client)).url)
    const two = await tabs.page((await authorizeUrl(server, second)).url)
    const signedIn = await signInOn(tabs, one, reader)
    const reloaded = await tabs.page(new URL(formOf(two).next!, server.base).href)
    for (const page of [signedIn, reloaded]) {
      const form = formOf(page)
      const fields = [
        ['csrf', form.csrf],
        ['decision', 'allow'],
        ['scope', 'mcp'],
      ] as const
      expect(callbackOf(await tabs.post(form.action, fields)).searchParams.get('code')).toBeTruthy()
    }
  })

  it('two readers of one browser are not mixed up', async () => {
    const shared = new Browser(server)
    await connect(server, client, shared, other)
    shared.jar.delete('commonplace|/')
    const { tokens } = await connect(server, client, shared, reader)
    expect((await callResource(server, tokens.access_token)).body.readerId).toBe(reader.id)
  })
})

it('asking is counted by address', async () => {
  const limited = await startOAuthServer({ limits: { authorize: { count: 1, seconds: 60 } } })
  try {
    const one = await newClient(limited)
    const { url } = await authorizeUrl(limited, one, CALLBACK, { scope: ASKED })
    expect((await new Browser(limited).page(url)).status).toBe(200)
    expect((await new Browser(limited).page(url)).status).toBe(429)
  } finally {
    await limited.stop()
  }
})
