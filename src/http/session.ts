import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Accounts } from '../features/accounts/accounts.ts'
import { LIFETIME } from '../features/accounts/lifetimes.ts'
import type { Reader } from '../features/accounts/reader-store.ts'
import { isSame, sealOf } from '../features/accounts/secrets.ts'
import { endSession, findSession, startSession } from '../features/accounts/session-store.ts'

/** A browser that a reader signed in with. */
export interface Session {
  /** Names the session at rest. */
  hash: string
  reader: Reader
  /** Has to come back with every request that changes something, as `csrf` in a form or `X-CSRF-Token`. */
  csrf: string
}

/** The session that a request carries, or undefined. */
export async function readSession(accounts: Accounts, req: IncomingMessage): Promise<Session | undefined> {
  const secret = readCookie(req, sessionCookie(accounts))
  const kept = secret === undefined ? undefined : await findSession(accounts, secret)
  return kept && { ...kept, csrf: sealOf(accounts.keys.forms, 'session', kept.hash) }
}

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

/** Signs the browser in; whatever session it had is over. */
export async function beginSession(
  accounts: Accounts,
  req: IncomingMessage,
  res: ServerResponse,
  readerId: string,
): Promise<void> {
  const earlier = readCookie(req, sessionCookie(accounts))
  if (earlier !== undefined) await endSession(accounts, earlier)
  const secret = await startSession(accounts, readerId)
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

// With the prefix a browser takes the cookie from this host over https alone: no other host of the domain can plant one.
const sessionCookie = (accounts: Accounts): string =>
  isSecure(accounts) ? '__Host-commonplace' : 'commonplace'

const isSecure = ({ base }: Accounts): boolean => base.startsWith('https:')

export interface Cookie {
  name: string
  value: string
  /** Seconds; 0 removes it. */
  maxAge: number
  path?: string
}

/** Out of reach of scripts, and not sent along where another site's form or picture leads here. */
export function setCookie(
  accounts: Accounts,
  res: ServerResponse,
  { name, value, maxAge, path = '/' }: Cookie,
): void {
  const secure = isSecure(accounts) ? '; Secure' : ''
  res.appendHeader(
    'set-cookie',
    `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`,
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
