import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oauth from 'oauth4webapi'
import { Failure } from '../../src/core/failure.ts'
import type { IdentityProvider } from '../../src/core/identity-provider.ts'
import type { Mail } from '../../src/core/mail.ts'
import type { FetchedPage, Pages } from '../../src/core/outside.ts'
import { openAccounts, type Accounts, type SignUpMode } from '../../src/features/accounts/accounts.ts'
import { authenticate } from '../../src/features/accounts/authenticate.ts'
import { setPassword } from '../../src/features/accounts/identity.ts'
import { ACCOUNT_LIMITS, type AccountLimits } from '../../src/features/accounts/limits.ts'
import { addReader, type Reader } from '../../src/features/accounts/reader-store.ts'
import { startSession } from '../../src/features/accounts/session-store.ts'
import { createOAuth } from '../../src/http/oauth/create-oauth.ts'
import { bearerChallenge } from '../../src/http/oauth/metadata.ts'
import { openAccountsDb } from '../support/server-database.ts'

export const http = { [oauth.allowInsecureRequests]: true } as const

/** The authorization server as a process would run it, with a clock and a web of the test's own. */
export interface TestServer {
  accounts: Accounts
  base: string
  resource: string
  /** What the web holds: JSON by address, a whole answer, or a failure. */
  web: Map<string, unknown>
  /** Addresses that were fetched. */
  fetched: string[]
  errors: unknown[]
  /** Moves the clock. */
  pass(seconds: number): void
  as: oauth.AuthorizationServer
  stop(): Promise<void>
}

export interface ServerOptions {
  file?: string
  limits?: Partial<AccountLimits>
  passwordCost?: number
  /** Stands behind the same public address as another. */
  base?: string
  /** Takes the place of the caller's address, by a header of the test's. */
  addressFromHeader?: boolean
  /** `localhost` where browsers would keep passkeys. */
  host?: '127.0.0.1' | 'localhost'
  signUp?: SignUpMode
  operators?: string[]
  mail?: Mail
  providers?: IdentityProvider[]
}

const NO_LIMITS = Object.fromEntries(
  Object.keys(ACCOUNT_LIMITS).map((name) => [name, { count: Infinity, seconds: 60 }]),
) as unknown as AccountLimits

export async function startOAuthServer(options: ServerOptions = {}): Promise<TestServer> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const own = `http://${options.host ?? '127.0.0.1'}:${port}`
  const base = options.base ?? own
  let skipped = 0
  const web = new Map<string, unknown>()
  const fetched: string[] = []
  const errors: unknown[] = []
  const { db, close: closeDb } = await openAccountsDb(options.file)
  const accounts = await openAccounts({
    db,
    base,
    pages: pagesOf(web, fetched),
    // Passwords are tried all the time here; how hard they are is a test of its own.
    passwordCost: options.passwordCost ?? 6,
    limits: { ...NO_LIMITS, ...options.limits },
    ...(options.signUp && { signUp: options.signUp }),
    ...(options.operators && { operators: options.operators }),
    ...(options.mail && { mail: options.mail }),
    ...(options.providers && { providers: options.providers }),
    onError: (error) => errors.push(error),
    now: () => new Date(Date.now() + skipped * 1_000),
  })
  const handle = createOAuth({
    accounts,
    onError: (error) => errors.push(error),
    ...(options.addressFromHeader && {
      addressOf: (req) => String(req.headers['x-test-address'] ?? '127.0.0.1'),
    }),
  })
  server.on('request', (req, res) => {
    void (async () => {
      if (await handle(req, res)) return
      // The protected resource: says who is calling.
      const who = await authenticate(accounts, req.headers.authorization)
      const challenge = bearerChallenge(accounts, req.url ?? '/', req.headers.authorization !== undefined)
      res.writeHead(who ? 200 : 401, {
        'content-type': 'application/json',
        ...(!who && { 'www-authenticate': challenge }),
      })
      res.end(JSON.stringify(who ? { ...who, scopes: [...who.scopes] } : { jsonrpc: '2.0', id: null }))
    })()
  })
  const issuer = new URL(own)
  const found = await fetch(new URL('/.well-known/oauth-authorization-server', issuer))
  return {
    accounts,
    base: own,
    resource: `${base}/mcp`,
    web,
    fetched,
    errors,
    pass: (seconds) => void (skipped += seconds),
    as: (await found.json()) as oauth.AuthorizationServer,
    async stop() {
      await close(server)
      await accounts.close()
      await closeDb()
    },
  }
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

function pagesOf(web: Map<string, unknown>, fetched: string[]): Pages {
  return {
    async fetch(url): Promise<FetchedPage> {
      fetched.push(url)
      const held = web.get(url)
      if (held instanceof Failure) throw held
      if (held === undefined)
        throw new Failure('page_not_found', 'It is not there.', { hint: 'Look elsewhere.' })
      const moved = held as { movedTo?: string; document?: unknown }
      return {
        url: moved.movedTo ?? url,
        status: 200,
        headers: { 'content-type': 'application/json' },
        bytes: Buffer.from(typeof held === 'string' ? held : JSON.stringify(moved.document ?? held)),
      }
    },
  }
}

export interface TestReader extends Reader {
  email: string
  password: string
}

/** A reader with a password. */
export async function newReader({ accounts }: TestServer, email: string): Promise<TestReader> {
  const reader = await addReader(accounts, { email })
  const password = `the password of ${email}`
  await setPassword(accounts, reader.id, password)
  return { ...reader, email, password }
}

export interface Page {
  url: string
  status: number
  headers: Headers
  html: string
  /** Where the browser was sent, outside of the server. */
  callback?: undefined
}

export interface Callback {
  callback: URL
  status?: undefined
  html?: undefined
}

interface Cookie {
  name: string
  value: string
  path: string
  attributes: string
}

/** A browser: keeps cookies by path, follows redirects inside the server, sends the origin with forms. */
export class Browser {
  jar = new Map<string, Cookie>()
  readonly #server: TestServer

  constructor(server: TestServer) {
    this.#server = server
  }

  /** Signs in without the page. */
  async signIn(reader: Reader): Promise<this> {
    const value = await startSession(this.#server.accounts, reader.id)
    this.jar.set('commonplace|/', { name: 'commonplace', value, path: '/', attributes: '' })
    return this
  }

  async request(url: string, init: RequestInit = {}): Promise<Response> {
    const { pathname } = new URL(url)
    const fits = ({ path }: Cookie): boolean =>
      pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`)
    // A form that another site sends brings only the cookies that may cross sites.
    const crosses = new Headers(init.headers).get('x-cross-site') === 'yes'
    const cookie = [...this.jar.values()]
      .filter(fits)
      .filter(({ attributes }) => !crosses || attributes.includes('SameSite=None'))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    const headers = {
      accept: 'text/html',
      ...(init.headers as Record<string, string>),
      ...(cookie && { cookie }),
    }
    const response = await fetch(url, { redirect: 'manual', ...init, headers })
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    return response
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/;\s*/)
    const at = pair.indexOf('=')
    const path = attributes.find((one) => one.startsWith('Path='))?.slice(5) ?? '/'
    const cookie = {
      name: pair.slice(0, at),
      value: pair.slice(at + 1),
      path,
      attributes: attributes.join('; '),
    }
    const key = `${cookie.name}|${path}`
    if (cookie.value === '' || attributes.includes('Max-Age=0')) this.jar.delete(key)
    else this.jar.set(key, cookie)
  }

  async follow(url: string, init?: RequestInit): Promise<Page | Callback> {
    let response = await this.request(url, init)
    let at = url
    for (let hop = 0; hop < 12; hop++) {
      const to = response.headers.get('location')
      if (to === null)
        return { url: at, status: response.status, headers: response.headers, html: await response.text() }
      at = new URL(to, at).href
      if (!at.startsWith(`${this.#server.base}/`)) return { callback: new URL(at) }
      response = await this.request(at)
    }
    throw new Error('a redirect loop')
  }

  /** A page that must be one. */
  async page(url: string, init?: RequestInit): Promise<Page> {
    return pageOf(await this.follow(url, init))
  }

  post(url: string, fields: Fields, headers: Record<string, string> = {}): Promise<Page | Callback> {
    return this.follow(url, {
      method: 'POST',
      body: new URLSearchParams(fields as [string, string][]),
      headers: { origin: this.#server.base, ...headers },
    })
  }

  async postForPage(url: string, fields: Fields, headers: Record<string, string> = {}): Promise<Page> {
    return pageOf(await this.post(url, fields, headers))
  }
}

type Fields = readonly (readonly [string, string])[]

export function pageOf(result: Page | Callback): Page {
  if (result.callback) throw new Error(`left for ${result.callback.href}`)
  return result
}

export function callbackOf(result: Page | Callback): URL {
  if (result.callback) return result.callback
  throw new Error(`stayed at ${result.status}: ${wordsOf(result.html)}`)
}

export const wordsOf = (html: string): string =>
  html
    .replaceAll(/<style>.*?<\/style>|<[^>]+>/gs, ' ')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 400)

export function formOf({ html, url }: Page) {
  const all = (pattern: RegExp): string[] => [...html.matchAll(pattern)].map((match) => match[1]!)
  return {
    action: new URL(all(/<form[^>]*action="([^"]+)"/g)[0]!, url).href,
    csrf: all(/name="csrf" value="([^"]+)"/g)[0]!,
    next: all(/name="next" value="([^"]*)"/g)[0],
    scopes: all(/name="scope" value="([^"]+)"/g),
    ticked: all(/name="scope" value="([^"]+)" checked/g),
  }
}

export interface Registered {
  status: number
  headers: Headers
  body: oauth.Client & Record<string, unknown>
}

export async function register(
  server: TestServer,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Registered> {
  const response = await fetch(`${server.base}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Registered['body'],
  }
}

export const CALLBACK = 'http://127.0.0.1:33418/callback'
/** A plain registration. */
export const PLAIN = {
  client_name: 'Test',
  redirect_uris: [CALLBACK],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
}
export const ASKED = 'highlights:read sources:read notes:read mcp'

export const newClient = async (server: TestServer, body: object = {}): Promise<oauth.Client> =>
  (await register(server, { ...PLAIN, ...body })).body

/** Parameters of the authorization request that differ from the usual ones; undefined leaves one out. */
export type Extra = Record<string, string | undefined>

export async function authorizeUrl(
  server: TestServer,
  client: Pick<oauth.Client, 'client_id'>,
  redirectUri: string = CALLBACK,
  extra: Extra = {},
): Promise<{ url: string; verifier: string }> {
  const verifier = oauth.generateRandomCodeVerifier()
  const url = new URL(`${server.base}/oauth/authorize`)
  const parameters: Extra = {
    client_id: client.client_id,
    response_type: 'code',
    redirect_uri: redirectUri,
    state: 'st',
    scope: ASKED,
    resource: server.resource,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...extra,
  }
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value)
  return { url: url.href, verifier }
}

/** Signs in where asked, and allows `grant`, or what is ticked. */
export async function approve(
  browser: Browser,
  url: string,
  reader: TestReader,
  grant?: readonly string[],
): Promise<{ page: Page; callback: URL }> {
  let page = await browser.page(url)
  if (page.html.includes('name="password"')) page = await signInOn(browser, page, reader)
  const form = formOf(page)
  const result = await browser.post(form.action, [
    ['csrf', form.csrf],
    ['decision', 'allow'],
    ...(grant ?? form.ticked).map((scope) => ['scope', scope] as const),
  ])
  return { page, callback: callbackOf(result) }
}

export function signInOn(
  browser: Browser,
  page: Page,
  { email, password }: { email: string; password: string },
): Promise<Page> {
  const form = formOf(page)
  return browser.postForPage(form.action, [
    ['csrf', form.csrf],
    ['next', form.next ?? ''],
    ['email', email],
    ['password', password],
  ])
}

export interface Connected {
  tokens: oauth.TokenEndpointResponse & { refresh_token: string; scope: string }
  page: Page
  code: string
  verifier: string
}

export interface ConnectOptions {
  redirectUri?: string
  grant?: readonly string[]
  extra?: Extra
  /** `resource` at the token endpoint; null leaves it out. */
  tokenResource?: string | null
}

/** The whole way through a real client library: it checks `state` and `iss`, makes the PKCE pair, reads the answers. */
export async function connect(
  server: TestServer,
  client: oauth.Client,
  browser: Browser,
  reader: TestReader,
  {
    redirectUri = CALLBACK,
    grant = ['mcp'],
    extra = {},
    tokenResource = server.resource,
  }: ConnectOptions = {},
): Promise<Connected> {
  const { url, verifier } = await authorizeUrl(server, client, redirectUri, extra)
  const { page, callback } = await approve(browser, url, reader, grant)
  const parameters = oauth.validateAuthResponse(server.as, client, callback, 'st')
  const secret = client['client_secret']
  const authentication = typeof secret === 'string' ? oauth.ClientSecretPost(secret) : oauth.None()
  const response = await oauth.authorizationCodeGrantRequest(
    server.as,
    client,
    authentication,
    parameters,
    redirectUri,
    verifier,
    { ...http, ...(tokenResource !== null && { additionalParameters: { resource: tokenResource } }) },
  )
  const tokens = await oauth.processAuthorizationCodeResponse(server.as, client, response)
  const { refresh_token = '', scope = '' } = tokens
  return { tokens: { ...tokens, refresh_token, scope }, page, code: parameters.get('code') ?? '', verifier }
}

export interface TokenAnswer {
  status: number
  headers: Headers
  body: Record<string, string>
}

export async function token(
  { base }: Pick<TestServer, 'base'>,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const response = await fetch(`${base}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, string>,
  }
}

export const refresh = (
  server: Pick<TestServer, 'base'>,
  { client_id }: Pick<oauth.Client, 'client_id'>,
  refresh_token: string,
  extra: Record<string, string> = {},
): Promise<TokenAnswer> => token(server, { grant_type: 'refresh_token', client_id, refresh_token, ...extra })

export interface Called {
  status: number
  headers: Headers
  body: { readerId: string; scopes: string[]; connection: string }
}

/** A request to the protected resource. */
export async function callResource(
  { base }: Pick<TestServer, 'base'>,
  accessToken?: string,
  path = '/mcp',
): Promise<Called> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: accessToken === undefined ? {} : { authorization: `Bearer ${accessToken}` },
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Called['body'],
  }
}

export const statusOf = async (server: Pick<TestServer, 'base'>, accessToken: string): Promise<number> =>
  (await callResource(server, accessToken)).status
