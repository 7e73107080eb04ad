import {
  mailSignInLink,
  readerOfSignInLink,
  signInWithPassword,
  useSignInLink,
} from '../../features/accounts/identity.ts'
import { beginSession, finishSession, isFromOurPage, readSession } from '../session.ts'
import { nameOf, sendRefused } from './consent.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { placeAfter, sendLimited, type Fault } from './entrance.ts'
import { sendLookIntoMail } from './letter-page.ts'
import { markup, sendPage, type Markup } from './page.ts'
import { scriptFor } from './passkeys-script.ts'
import { readForm } from './read-body.ts'
import { isVisitorsForm, visitorField } from './visitor.ts'
import { otherWays } from './other-ways.ts'

/** Where a reader says who they are: by password, passkey, a provider, or a link that works once. */
export const showSignIn: Endpoint = async (exchange) => {
  const { accounts, req, res, url } = exchange
  const link = url.searchParams.get('link')
  const next = placeAfter(url.searchParams.get('next'))
  if (link !== null) return sendLinkPage(exchange, link)
  // Asked anew before a reader changes how they sign in.
  const again = url.searchParams.has('again')
  if (!again && (await readSession(accounts, req))) return redirect(res, next)
  sendSignIn(exchange, next)
}

export const signIn: Endpoint = async (exchange) => {
  const { accounts, req, res, address } = exchange
  const form = await readForm(req)
  if (!isVisitorsForm(exchange, form.get('csrf'))) return sendRefused(exchange)
  const next = placeAfter(form.get('next'))
  const link = form.get('link')
  if (link !== null) {
    const reader = await useSignInLink(accounts, link)
    if (!reader) return sendUsedLink(exchange)
    await beginSession(accounts, req, res, { readerId: reader.id, address })
    return redirect(res, next)
  }
  try {
    const reader = await signInWithPassword(accounts, {
      email: form.get('email') ?? '',
      password: form.get('password') ?? '',
      address,
    })
    if (!reader) return sendSignIn(exchange, next, { status: 401, fault: 'E-mail or password is wrong.' })
    await beginSession(accounts, req, res, { readerId: reader.id, address })
    redirect(res, next)
  } catch (error) {
    await sendLimited(error, (fault) => sendSignIn(exchange, next, fault))
  }
}

/** Sends a link instead; the answer is the same whether there is such a reader or not. */
export const signInByMail: Endpoint = async (exchange) => {
  const { accounts, req, res, address } = exchange
  const form = await readForm(req)
  if (!isVisitorsForm(exchange, form.get('csrf'))) return sendRefused(exchange)
  const next = placeAfter(form.get('next'))
  const email = form.get('email') ?? ''
  if (!accounts.mail) return sendSignIn(exchange, next, { status: 400, fault: 'This server sends no mail.' })
  if (email.trim() === '')
    return sendSignIn(exchange, next, { status: 400, fault: 'Say which address the link should go to.' })
  try {
    await mailSignInLink(accounts, email, address)
    sendLookIntoMail(res, 'There is a link in it that signs you in.')
  } catch (error) {
    await sendLimited(error, (fault) => sendSignIn(exchange, next, fault))
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

/** The page itself, also for whoever did not get in another way. */
export function sendSignIn(exchange: Exchange, next: string, fault?: Fault): void {
  const { accounts, res } = exchange
  const why: Markup = next.startsWith('/consent/')
    ? markup`<p>to connect an assistant to your library.</p>`
    : markup``
  const { mail, signUp } = accounts
  const onward = next === '/account' ? '' : `?next=${encodeURIComponent(next)}`
  sendPage(
    res,
    'Sign in',
    markup`${why}${fault && markup`<p role="alert">${fault.fault}</p>`}
<form method="post" action="/sign-in">
${visitorField(exchange)}<input type="hidden" name="next" value="${next}">
<label>E-mail <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<p class="choices"><button>Sign in</button>${
      mail && markup` <button formaction="/sign-in/mail" formnovalidate>Send me a link</button>`
    }</p>
</form>
${otherWays(exchange, { next })}
<p><small><a href="/reset">Forgot your password?</a></small></p>
${signUp === 'open' && markup`<p><small>New here? <a href="/sign-up${onward}">Make an account</a></small></p>`}
<p><small>No password yet? Open the link that you were given; the first reader's is printed when the server starts.</small></p>`,
    { ...scriptFor(accounts), ...(fault && { status: fault.status, headers: fault.headers ?? {} }) },
  )
}

/**
 * The link alone signs nobody in: programs that look at links in messages would use it up. The page says as whom: a link may be
 * a stranger's, into whose library somebody would then save things.
 */
async function sendLinkPage(exchange: Exchange, link: string): Promise<void> {
  const reader = await readerOfSignInLink(exchange.accounts, link)
  const next = placeAfter(exchange.url.searchParams.get('next'))
  sendPage(
    exchange.res,
    'Sign in',
    markup`<form method="post" action="/sign-in">
${visitorField(exchange)}<input type="hidden" name="next" value="${next}">
<input type="hidden" name="link" value="${link}">
<p>This link signs you in on this browser. It works once.</p>
${reader && markup`<p>You will be <b>${nameOf({ reader })}</b>: go on only if that is you.</p>`}
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
