import { Failure } from '../../core/failure.ts'
import { signInWithPassword, useSignInLink } from '../../features/accounts/identity.ts'
import { LIFETIME } from '../../features/accounts/lifetimes.ts'
import { isSame, newSecret, sealOf } from '../../features/accounts/secrets.ts'
import {
  beginSession,
  finishSession,
  isFromOurOrigin,
  isFromOurPage,
  readCookie,
  readSession,
  setCookie,
} from '../session.ts'
import { sendRefused } from './consent.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { markup, sendPage, type Markup } from './page.ts'
import { readForm } from './read-body.ts'

/** Where a reader says who they are: by e-mail and password, or by a link that works once. */
export const showSignIn: Endpoint = async (exchange) => {
  const { accounts, req, res, url } = exchange
  const link = url.searchParams.get('link')
  const next = placeAfter(url.searchParams.get('next'))
  if (link !== null) return sendLinkPage(exchange, link)
  if (await readSession(accounts, req)) return redirect(res, next)
  sendSignIn(exchange, next)
}

export const signIn: Endpoint = async (exchange) => {
  const { accounts, req, res, address } = exchange
  const form = await readForm(req)
  if (!isFromOurOrigin(accounts, req) || !fitsBrowser(exchange, form.get('csrf')))
    return sendRefused(exchange)
  const next = placeAfter(form.get('next'))
  const link = form.get('link')
  if (link !== null) {
    const reader = await useSignInLink(accounts, link)
    if (!reader) return sendUsedLink(exchange)
    await beginSession(accounts, req, res, reader.id)
    return redirect(res, next)
  }
  try {
    const reader = await signInWithPassword(accounts, {
      email: form.get('email') ?? '',
      password: form.get('password') ?? '',
      address,
    })
    if (!reader) return sendSignIn(exchange, next, { status: 401, fault: 'E-mail or password is wrong.' })
    await beginSession(accounts, req, res, reader.id)
    redirect(res, next)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'rate_limited') throw error
    sendSignIn(exchange, next, {
      status: 429,
      fault: `Too many attempts. ${error.hint}`,
      headers: { 'retry-after': String(error.retryAfterSeconds) },
    })
  }
}

/** Asks before it signs out: a picture on another site must not do it. */
export const showSignOut: Endpoint = async ({ accounts, req, res }) => {
  const session = await readSession(accounts, req)
  if (!session) return redirect(res, '/sign-in')
  sendPage(
    res,
    'Sign out?',
    markup`<form method="post" action="/sign-out"><input type="hidden" name="csrf" value="${session.csrf}">
<button>Sign out</button></form>`,
  )
}

export const signOut: Endpoint = async (exchange) => {
  const { accounts, req, res } = exchange
  const form = await readForm(req)
  const session = await readSession(accounts, req)
  if (session && !isFromOurPage(accounts, req, session, form.get('csrf') ?? undefined))
    return sendRefused(exchange)
  await finishSession(accounts, req, res)
  redirect(res, '/sign-in')
}

/** Where to go after signing in: a path of this server and nothing that a browser takes for another host. */
export function placeAfter(next: string | null): string {
  const plain = next !== null && /^\/(?![/\\])[\w\-./~%?&=+]*$/.test(next)
  return plain && !next.startsWith('/sign-') ? next : '/account'
}

const FORM_COOKIE = 'sign-in'

/**
 * A sign-in form is for the browser that it was made for: else a foreign page could sign somebody in as another, who would then
 * save things into a stranger's library.
 */
function formToken({ accounts, req, res }: Exchange): string {
  let browser = readCookie(req, FORM_COOKIE)
  if (browser === undefined) {
    browser = newSecret()
    setCookie(accounts, res, {
      name: FORM_COOKIE,
      value: browser,
      maxAge: LIFETIME.request,
      path: '/sign-in',
    })
  }
  return sealOf(accounts.keys.forms, 'sign-in', browser)
}

function fitsBrowser({ accounts, req }: Exchange, csrf: string | null): boolean {
  const browser = readCookie(req, FORM_COOKIE)
  return browser !== undefined && isSame(csrf, sealOf(accounts.keys.forms, 'sign-in', browser))
}

interface Fault {
  status: number
  fault: string
  headers?: Record<string, string>
}

function sendSignIn(exchange: Exchange, next: string, fault?: Fault): void {
  const why: Markup = next.startsWith('/consent/')
    ? markup`<p>to connect an assistant to your library.</p>`
    : markup``
  sendPage(
    exchange.res,
    'Sign in',
    markup`${why}${fault && markup`<p role="alert">${fault.fault}</p>`}
<form method="post" action="/sign-in">
<input type="hidden" name="csrf" value="${formToken(exchange)}"><input type="hidden" name="next" value="${next}">
<label>E-mail <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<p><button>Sign in</button></p>
</form>
<p><small>No password yet? Open the link that you were given; the first reader's is printed when the server starts.</small></p>`,
    { ...(fault && { status: fault.status, headers: fault.headers ?? {} }) },
  )
}

/** The link alone signs nobody in: programs that look at links in messages would use it up. */
function sendLinkPage(exchange: Exchange, link: string): void {
  const next = placeAfter(exchange.url.searchParams.get('next'))
  sendPage(
    exchange.res,
    'Sign in',
    markup`<form method="post" action="/sign-in">
<input type="hidden" name="csrf" value="${formToken(exchange)}"><input type="hidden" name="next" value="${next}">
<input type="hidden" name="link" value="${link}">
<p>This link signs you in on this browser. It works once.</p>
<p><button>Sign in</button></p>
</form>`,
  )
}

const sendUsedLink = ({ res }: Exchange): void =>
  sendPage(
    res,
    'This link does not work any more',
    markup`<p>It was used or is too old. Sign in with your password, or ask for another link; the first reader gets one when the
server starts.</p><p><a href="/sign-in">Sign in</a></p>`,
    { status: 400 },
  )
