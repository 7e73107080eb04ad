import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Accounts } from '../features/accounts/accounts.ts'
import { after, LIFETIME } from '../features/accounts/lifetimes.ts'
import type { Reader } from '../features/accounts/reader-store.ts'
import { isSame, sealOf } from '../features/accounts/secrets.ts'
import { networkOf } from '../features/accounts/rate-counter-store.ts'
import { endSession, findSession, startSession } from '../features/accounts/session-store.ts'
import { browserName } from './browser-name.ts'

/** A browser that a reader signed in with. */
export interface Session {
  /** Names the session at rest. */
  hash: string
  reader: Reader
  /** When the reader signed in, ISO 8601. */
  createdAt: string
  /** Has to come back with every request that changes something, as `csrf` in a form or `X-CSRF-Token`. */
  csrf: string
}

/** The session that a request carries, or undefined. */
export async function readSession(accounts: Accounts, req: IncomingMessage): Promise<Session | undefined> {
  const secret = readCookie(req, sessionCookie(accounts))
  const kept = secret === undefined ? undefined : await findSession(accounts, secret)
  return kept && { ...kept, csrf: sealOf(accounts.keys.forms, 'session', kept.hash) }
}

/** Whether the reader signed in a moment ago: a browser left open must not be enough to change how they sign in. */
export const isFresh = ({ now }: Accounts, { createdAt }: Pick<Session, 'createdAt'>): boolean =>
  createdAt > after(now(), -LIFETIME.freshSession)

/**
 * Whether a state-changing request comes from a page of ours that was made for this session: a foreign page can make the
 * browser send the cookie, but neither knows the token nor can it name our origin.
 */
export function isFromOurPage(
  accounts: Accounts,
  req: IncomingMessage,
  session: Pick<Session, 'csrf'>,
  csrf: string | undefined = header(req, 'x-csrf-token'),
): boolean {
  return isFromOurOrigin(accounts, req) && isSame(csrf, session.csrf)
}

/** Browsers say the origin with every POST; one that does not may still say that it is the same site's. */
export function isFromOurOrigin({ base }: Accounts, req: IncomingMessage): boolean {
  const origin = header(req, 'origin')
  return origin === undefined ? header(req, 'sec-fetch-site') === 'same-origin' : origin === base
}

export interface SignedIn {
  readerId: string
  /** Network address of the browser. */
  address: string
}

/** Signs the browser in; whatever session it had is over. Throws `account_suspended`. */
export async function beginSession(
  accounts: Accounts,
  req: IncomingMessage,
  res: ServerResponse,
  { readerId, address }: SignedIn,
): Promise<void> {
  const earlier = readCookie(req, sessionCookie(accounts))
  if (earlier !== undefined) await endSession(accounts, earlier)
  const agent = browserName(req.headers['user-agent'])
  const secret = await startSession(accounts, readerId, {
    ...(agent !== undefined && { agent }),
    network: networkOf(address),
  })
  setCookie(accounts, res, { name: sessionCookie(accounts), value: secret, maxAge: LIFETIME.session })
}

export async function finishSession(
  accounts: Accounts,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const secret = readCookie(req, sessionCookie(accounts))
  if (secret !== undefined) await endSession(accounts, secret)
  setCookie(accounts, res, { name: sessionCookie(accounts), value: '', maxAge: 0 })
}

/** Whether the answer begins a session. */
export function beginsSession(res: ServerResponse): boolean {
  const cookies = res.getHeader('set-cookie')
  const first = (cookie: string): boolean => /^(__Host-)?commonplace=[^;]/.test(cookie)
  return Array.isArray(cookies) ? cookies.some(first) : typeof cookies === 'string' && first(cookies)
}

const sessionCookie = (accounts: Accounts): string => ownCookie(accounts, 'commonplace')

/** With the prefix a browser takes a cookie from this host over https alone: no other host of the domain can plant one. */
export const ownCookie = (accounts: Accounts, name: string): string =>
  isSecure(accounts) ? `__Host-${name}` : name

const isSecure = ({ base }: Accounts): boolean => base.startsWith('https:')

export interface Cookie {
  name: string
  value: string
  /** Seconds; 0 removes it. */
  maxAge: number
  path?: string
  /** Has to come along with a form that another site sends here. */
  crossSite?: boolean
}

/** Out of reach of scripts, and not sent along where another site's form or picture leads here. */
export function setCookie(
  accounts: Accounts,
  res: ServerResponse,
  { name, value, maxAge, path = '/', crossSite = false }: Cookie,
): void {
  // A browser takes what may cross sites over https alone, and from this machine.
  const secure = isSecure(accounts) || crossSite ? '; Secure' : ''
  const site = crossSite ? 'None' : 'Lax'
  res.appendHeader(
    'set-cookie',
    `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=${site}${secure}`,
  )
}

export function readCookie(req: IncomingMessage, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

function header(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name]
  return Array.isArray(value) ? value[0] : value
}
