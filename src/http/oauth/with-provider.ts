import { Failure } from '../../core/failure.ts'
import type { IdentityProvider } from '../../core/identity-provider.ts'
import { hashOf } from '../../features/accounts/secrets.ts'
import {
  comeBack,
  providerOf,
  sendOut,
  type Returned,
} from '../../features/accounts/sign-in-with-provider.ts'
import { endSessionByHash } from '../../features/accounts/session-store.ts'
import { beginSession, readSession } from '../session.ts'
import { sendRefused } from './consent.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { placeAfter } from './entrance.ts'
import { OAuthError } from './oauth-error.ts'
import { markup, sendPage, type Markup } from './page.ts'
import { readForm } from './read-body.ts'
import { sendNoEntrance } from './sign-up.ts'
import { crossingOf, isVisitorsForm, knownCrossing } from './visitor.ts'

/** Sends a browser to a provider to sign in, or to become a reader. */
export const goToProvider: Endpoint = async (exchange) => {
  const { accounts, req } = exchange
  const form = await readForm(req)
  if (!isVisitorsForm(exchange, form.get('csrf'))) return sendRefused(exchange)
  const invitation = form.get('invitation') ?? ''
  const session = await readSession(accounts, req)
  await leaveFor(exchange, providerAt(exchange), {
    place: placeAfter(form.get('next')),
    invitation: invitation === '' ? null : hashOf(invitation),
    session: session?.hash ?? null,
    readerId: null,
  })
}

interface Leaving {
  place: string
  invitation: string | null
  session: string | null
  readerId: string | null
}

/**
 * Leads the browser away by a page of its own: a policy that names where forms may lead would hold against every address that
 * a provider passes the browser through.
 */
export async function leaveFor(
  exchange: Exchange,
  provider: IdentityProvider,
  leaving: Leaving,
): Promise<void> {
  const { accounts, res, address } = exchange
  const browser = crossingOf(exchange, provider.answersBy === 'form_post')
  await orPage(exchange, async () => {
    const to = await sendOut(accounts, provider, browser, { ...leaving, address })
    sendPage(
      res,
      `On to ${provider.title}`,
      markup`<p><a href="${to}">Go on to ${provider.title}</a> if your browser does not by itself.</p>`,
      { headers: { refresh: `0; url=${to}`, 'referrer-policy': 'no-referrer' } },
    )
  })
}

/** A browser comes back, by an address or by a form of the provider's: what it brings counts in the browser that left alone. */
export const comeFromProvider: Endpoint = async (exchange) => {
  const { accounts, req, url, address } = exchange
  const provider = providerAt(exchange)
  const byForm = req.method === 'POST'
  if (byForm !== (provider.answersBy === 'form_post'))
    throw new OAuthError('invalid_request', 'the answer came another way than it was asked for')
  const answer = byForm ? await readForm(req) : url.searchParams
  const browser = knownCrossing(exchange)
  if (browser === undefined) return sendGone(exchange)
  await orPage(exchange, async () => {
    await receive(exchange, await comeBack(accounts, provider, { answer, browser, address }), provider)
  })
}

async function receive(exchange: Exchange, back: Returned, provider: IdentityProvider): Promise<void> {
  const { accounts, req, res, address } = exchange
  if (back === 'gone') return sendGone(exchange)
  if ('linked' in back) return redirect(res, back.place)
  if ('signsIn' in back) {
    // The cookie of the earlier session does not come along with another site's form.
    if (back.session !== null) await endSessionByHash(accounts, back.session)
    await beginSession(accounts, req, res, { readerId: back.signsIn.id, address })
    return redirect(res, back.place)
  }
  switch (back.refused) {
    case 'sign in first':
      return sendFault(
        exchange,
        'You are a reader here already',
        markup`<p>There is a reader with this e-mail address, and it is not proved on both sides that this is you. Sign in another
way first, and add ${provider.title} under your account.</p>`,
        409,
      )
    case 'another':
      return sendFault(
        exchange,
        'This belongs to another reader',
        markup`<p>Who you are at ${provider.title} signs another reader in. Sign in as that one, and remove it there first.</p>`,
        409,
      )
    default:
      return sendNoEntrance(exchange, back.refused)
  }
}

function providerAt({ accounts, url }: Exchange): IdentityProvider {
  const provider = providerOf(accounts, url.pathname.split('/')[3] ?? '')
  if (provider) return provider
  throw new OAuthError('invalid_request', 'this server knows no such provider', { status: 404 })
}

/** A provider's fault is told on a page of ours: whatever it says leads nowhere. */
async function orPage(exchange: Exchange, work: () => Promise<void>): Promise<void> {
  const { accounts } = exchange
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { code, message, hint, cause, retryAfterSeconds } = error
    if (code === 'rate_limited') {
      return sendFault(exchange, 'Too many attempts', markup`<p>${hint}</p>`, 429, {
        'retry-after': String(retryAfterSeconds),
      })
    }
    if (code !== 'sign_in_refused' && code !== 'unavailable') throw error
    if (cause !== undefined) accounts.onError(cause, 'provider')
    sendFault(exchange, message, markup`<p>${hint}</p>`, code === 'unavailable' ? 503 : 403)
  }
}

const sendGone = (exchange: Exchange): void =>
  sendFault(
    exchange,
    'This did not come from here',
    markup`<p>You took more than ten minutes, came back twice, or began in another browser. Start again.</p>`,
    400,
  )

const sendFault = (
  { res }: Exchange,
  title: string,
  body: Markup,
  status: number,
  headers: Record<string, string> = {},
): void => sendPage(res, title, markup`${body}<p><a href="/sign-in">Sign in</a></p>`, { status, headers })
