import { giveAddress } from '../../features/accounts/email-address.ts'
import { revokeConnection } from '../../features/accounts/connection-store.ts'
import { hasPassword, isOwnPassword, setPassword } from '../../features/accounts/identity.ts'
import { makeInvitation, withdrawInvitation } from '../../features/accounts/invitation-store.ts'
import { isOperator } from '../../features/accounts/operators.ts'
import { makePersonalToken, revokePersonalToken } from '../../features/accounts/personal-token-store.ts'
import { checkedEmail } from '../../features/accounts/reader-store.ts'
import { scopesIn } from '../../features/accounts/scope-words.ts'
import { endSessionOf, endSessions } from '../../features/accounts/session-store.ts'
import { isFresh, readSession, type Session } from '../session.ts'
import { change, sendNotFresh } from './account-change.ts'
import { sendAccount } from './account-page.ts'
import { sendRefused } from './consent.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { sendLookIntoMail } from './letter-page.ts'
import { markup, sendPage } from './page.ts'

export const showAccount: Endpoint = async (exchange) => {
  const session = await readSession(exchange.accounts, exchange.req)
  if (!session) return redirect(exchange.res, '/sign-in')
  await sendAccount(exchange, session)
}

export const endConnection: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    await revokeConnection(exchange.accounts, session.reader.id, form.get('id') ?? '')
    redirect(exchange.res, '/account')
  })

export const endToken: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    await revokePersonalToken(exchange.accounts, session.reader.id, form.get('id') ?? '')
    redirect(exchange.res, '/account')
  })

export const makeToken: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    const days = form.get('days') ?? ''
    const { token } = await makePersonalToken(exchange.accounts, session.reader.id, {
      name: form.get('name') ?? '',
      scopes: scopesIn(form.getAll('scope').join(' ')),
      ...(days !== '' && { days: Number(days) }),
    })
    sendPage(
      exchange.res,
      'Your new token',
      markup`<p>Copy it now; it is not shown again.</p><p><code>${token}</code></p>
<p>Clients send it as <code>Authorization: Bearer …</code>. Whoever has it can do what you ticked.</p>
<p><a href="/account">Back to your account</a></p>`,
    )
  })

export const endOneSession: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    await endSessionOf(exchange.accounts, session.reader.id, form.get('id') ?? '')
    redirect(exchange.res, '/account')
  })

export const endOtherSessions: Endpoint = (exchange) =>
  change(exchange, async (session) => {
    await endSessions(exchange.accounts.db, session.reader.id, session.hash)
    redirect(exchange.res, '/account')
  })

export const changePassword: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    const { accounts, res } = exchange
    const { reader } = session
    if (!(await isOwner(exchange, session, form))) return
    const email = reader.email === null ? checkedEmail(form.get('email') ?? '') : undefined
    await setPassword(accounts, reader.id, form.get('password') ?? '', session.hash)
    if (email === undefined) return redirect(res, '/account')
    await sendToAddress(exchange, session, email)
  })

/** With mail the address counts once the link that went there was opened. */
export const changeEmail: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    if (await isOwner(exchange, session, form))
      await sendToAddress(exchange, session, form.get('email') ?? '')
  })

export const askToConfirmEmail: Endpoint = (exchange) =>
  change(exchange, (session) => sendToAddress(exchange, session, session.reader.email ?? ''))

async function sendToAddress(exchange: Exchange, { reader }: Session, email: string): Promise<void> {
  const { accounts, res, address } = exchange
  if ((await giveAddress(accounts, reader, email, address)) === 'given') return redirect(res, '/account')
  sendLookIntoMail(res, 'Open the link in it to confirm that the address is yours.')
}

/**
 * Whether it is the reader and not just their browser: by the password where they have one, else by having signed in a moment
 * ago. Sends the page that says so where it is not.
 */
async function isOwner(exchange: Exchange, session: Session, form: URLSearchParams): Promise<boolean> {
  const { accounts, address } = exchange
  if (!(await hasPassword(accounts, session.reader.id))) {
    if (isFresh(accounts, session)) return true
    sendNotFresh(exchange)
    return false
  }
  if (await isOwnPassword(accounts, session.reader, form.get('current') ?? '', address)) return true
  await sendAccount(exchange, session, { text: 'The current password is wrong.', status: 403 })
  return false
}

export const invite: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    const { accounts, res } = exchange
    if (accounts.signUp === 'closed' || !isOperator(accounts, session.reader)) return sendRefused(exchange)
    const email = (form.get('email') ?? '').trim()
    const { link } = await makeInvitation(accounts, {
      invitedBy: session.reader.id,
      byMail: form.get('by-mail') === 'yes',
      ...(email !== '' && { email }),
    })
    if (link === undefined) return redirect(res, '/account')
    sendPage(
      res,
      'Your invitation',
      markup`<p>Pass it on now; it is not shown again. It makes one reader, within seven days.</p><p><code>${link}</code></p>
<p><a href="/account">Back to your account</a></p>`,
    )
  })

export const endInvitation: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    await withdrawInvitation(exchange.accounts, form.get('id') ?? '', session.reader.id)
    redirect(exchange.res, '/account')
  })
