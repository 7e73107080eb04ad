import {
  addressToSignUp,
  entranceFor,
  finishSignUp,
  signUp as enter,
} from '../../features/accounts/sign-up.ts'
import type { Refusal } from '../../features/accounts/become-reader.ts'
import type { Reader } from '../../features/accounts/reader-store.ts'
import { beginSession, readSession } from '../session.ts'
import { sendRefused } from './consent.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { placeAfter, sendLimited, type Fault } from './entrance.ts'
import { sendLookIntoMail } from './letter-page.ts'
import { otherWays } from './other-ways.ts'
import { markup, sendPage } from './page.ts'
import { readForm } from './read-body.ts'
import { isVisitorsForm, visitorField } from './visitor.ts'

/** Where somebody becomes a reader, as far as the server lets them. */
export const showSignUp: Endpoint = async (exchange) => {
  const { accounts, req, res, url } = exchange
  const link = url.searchParams.get('link')
  if (link !== null) return sendFinish(exchange, link)
  if (await readSession(accounts, req)) return redirect(res, '/account')
  await sendSignUp(exchange, {
    invitation: url.searchParams.get('invitation') ?? undefined,
    next: placeAfter(url.searchParams.get('next')),
  })
}

export const signUp: Endpoint = async (exchange) => {
  const { accounts, req, res, address } = exchange
  const form = await readForm(req)
  if (!isVisitorsForm(exchange, form.get('csrf'))) return sendRefused(exchange)
  const link = form.get('link')
  const password = form.get('password') ?? ''
  const next = placeAfter(form.get('next'))
  if (link !== null) {
    try {
      const made = await finishSignUp(accounts, link, password)
      return made === undefined ? sendUsed(exchange) : await welcome(exchange, made, next)
    } catch (error) {
      return sendLimited(error, (fault) => sendFinish(exchange, link, fault))
    }
  }
  const invitation = form.get('invitation') ?? undefined
  try {
    const made = await enter(accounts, { email: form.get('email') ?? '', password, invitation, address })
    if (made === 'mailed') return sendLookIntoMail(res, 'Open the link in it to go on.')
    await welcome(exchange, made, next)
  } catch (error) {
    await sendLimited(error, (fault) => sendSignUp(exchange, { invitation, next }, fault))
  }
}

async function welcome(exchange: Exchange, made: Reader | Refusal, next: string): Promise<void> {
  const { accounts, req, res, address } = exchange
  if (typeof made !== 'object') return sendNoEntrance(exchange, made)
  await beginSession(accounts, req, res, { readerId: made.id, address })
  redirect(res, next)
}

const WORDS: Record<Refusal, readonly [title: string, what: string]> = {
  closed: ['No new readers here', 'This server takes no new readers. Ask whoever runs it.'],
  invitation: [
    'You need an invitation',
    'This server takes readers who were invited, and this invitation was used, is too old, or is for another address. Ask for a new one.',
  ],
  taken: [
    'There is a reader with this address',
    'Sign in, or take another address. If you forgot your password, ask for a new one on the sign-in page.',
  ],
}

/** Why somebody did not become a reader. */
export function sendNoEntrance({ res }: Exchange, why: Refusal): void {
  const [title, what] = WORDS[why]
  sendPage(res, title, markup`<p>${what}</p><p><a href="/sign-in">Sign in</a></p>`, {
    status: why === 'taken' ? 409 : 403,
  })
}

interface Shown {
  invitation: string | undefined
  next: string
}

async function sendSignUp(exchange: Exchange, { invitation, next }: Shown, fault?: Fault): Promise<void> {
  const { accounts, res } = exchange
  const entrance = await entranceFor(accounts, invitation)
  if ('refused' in entrance) return sendNoEntrance(exchange, entrance.refused)
  const { asks, email } = entrance
  sendPage(
    res,
    'Make an account',
    markup`${fault && markup`<p role="alert">${fault.fault}</p>`}
<p>You get a reading library of your own on this server.</p>
<form method="post" action="/sign-up">
${visitorField(exchange)}<input type="hidden" name="next" value="${next}">
${invitation !== undefined && markup`<input type="hidden" name="invitation" value="${invitation}">`}
${
  email === null
    ? markup`<label>E-mail <input name="email" type="email" autocomplete="username" required></label>`
    : markup`<p>The invitation is for <b>${email}</b>.</p>`
}
${asks !== 'address' && newPassword}
<p><button>${asks === 'address' ? 'Send me a link' : 'Make an account'}</button></p>
</form>
${otherWays(exchange, { next, invitation: invitation ?? '' })}
<p><small>Here before? <a href="/sign-in">Sign in</a></small></p>`,
    { ...(fault && { status: fault.status, headers: fault.headers ?? {} }) },
  )
}

export const newPassword = markup`<label>Password, 10 characters or more <input name="password" type="password" autocomplete="new-password" minlength="10" required></label>`

async function sendFinish(exchange: Exchange, link: string, fault?: Fault): Promise<void> {
  const email = await addressToSignUp(exchange.accounts, link)
  if (email === undefined) return sendUsed(exchange)
  sendPage(
    exchange.res,
    'Make an account',
    markup`${fault && markup`<p role="alert">${fault.fault}</p>`}
<form method="post" action="/sign-up">
${visitorField(exchange)}<input type="hidden" name="link" value="${link}">
<p>Your address is <b>${email}</b>. Choose a password for this server.</p>
<input type="hidden" autocomplete="username" value="${email}">
${newPassword}
<p><button>Make an account</button></p>
</form>`,
    { ...(fault && { status: fault.status }) },
  )
}

const sendUsed = ({ res }: Exchange): void =>
  sendPage(
    res,
    'This link does not work any more',
    markup`<p>It was used or is too old.</p><p><a href="/sign-up">Ask for another</a> or <a href="/sign-in">sign in</a>.</p>`,
    { status: 400 },
  )
