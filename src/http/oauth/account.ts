import { Failure } from '../../core/failure.ts'
import { SCOPES } from '../../core/define-tool.ts'
import {
  listConnections,
  revokeConnection,
  type Connection,
} from '../../features/accounts/connection-store.ts'
import { hasPassword, isOwnPassword, setPassword } from '../../features/accounts/identity.ts'
import {
  listPersonalTokens,
  makePersonalToken,
  revokePersonalToken,
  type PersonalToken,
} from '../../features/accounts/personal-token-store.ts'
import { setEmail } from '../../features/accounts/reader-store.ts'
import { placeOf } from '../../features/accounts/redirect-uri.ts'
import { SCOPE_WORDS, scopesIn } from '../../features/accounts/scope-words.ts'
import { isFromOurPage, readSession, type Session } from '../session.ts'
import { nameOf, sendRefused } from './consent.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { markup, sendPage, type Markup } from './page.ts'
import { readForm } from './read-body.ts'

/** What a reader let in and how they sign in, with a way to end each. */
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

export const changePassword: Endpoint = (exchange) =>
  change(exchange, async (session, form) => {
    const { accounts, res, address } = exchange
    const { reader } = session
    const changes = await hasPassword(accounts, reader.id)
    if (changes && !(await isOwnPassword(accounts, reader, form.get('current') ?? '', address)))
      return sendAccount(exchange, session, 'The current password is wrong.', 403)
    if (reader.email === null) await setEmail(accounts.db, reader.id, form.get('email') ?? '')
    await setPassword(accounts, reader.id, form.get('password') ?? '', session.hash)
    redirect(res, '/account')
  })

/** Runs a change that a page of this session asked for; a failure is told on the page. */
async function change(
  exchange: Exchange,
  work: (session: Session, form: URLSearchParams) => Promise<void>,
): Promise<void> {
  const { accounts, req, res } = exchange
  const form = await readForm(req)
  const session = await readSession(accounts, req)
  if (!session) return redirect(res, '/sign-in')
  if (!isFromOurPage(accounts, req, session, form.get('csrf') ?? '')) return sendRefused(exchange)
  try {
    await work(session, form)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    await sendAccount(
      exchange,
      session,
      `${error.message} ${error.hint}`,
      error.kind === 'rate_limited' ? 429 : 400,
    )
  }
}

async function sendAccount(
  exchange: Exchange,
  session: Session,
  fault?: string,
  status = 200,
): Promise<void> {
  const { accounts, res } = exchange
  const { reader } = session
  const [connections, tokens, changes] = [
    await listConnections(accounts, reader.id),
    await listPersonalTokens(accounts, reader.id),
    await hasPassword(accounts, reader.id),
  ]
  sendPage(
    res,
    'Your account',
    markup`${fault !== undefined && markup`<p role="alert">${fault}</p>`}
<p>You are signed in as <b>${nameOf(session)}</b>. <a href="/sign-out">Sign out</a></p>
<h2>Connected assistants</h2>
${connections.length === 0 && markup`<p>None yet. Give an assistant the address <code>${accounts.audience}</code>.</p>`}
<ul>${connections.map((one) => connectionItem(one, session))}</ul>
<h2>Tokens of your own</h2>
<p>For programs that cannot ask you on a page.</p>
<ul>${tokens.map((one) => tokenItem(one, session))}</ul>
<form method="post" action="/account/make-token">${csrf(session)}
<label>What will use it <input name="name" maxlength="80" required></label>
<label>Days until it ends (empty: never) <input name="days" inputmode="numeric" pattern="[0-9]*"></label>
<fieldset><legend>What it may do</legend>${SCOPES.map(
      (scope) => markup`<label class="tick"><input type="checkbox" name="scope" value="${scope}">
<span>${SCOPE_WORDS[scope].sentence} <small>${scope}</small></span></label>`,
    )}</fieldset>
<p><button>Make a token</button></p></form>
<h2>${changes ? 'Change your password' : 'Set a password'}</h2>
<form method="post" action="/account/password">${csrf(session)}
${reader.email === null && markup`<label>E-mail <input name="email" type="email" autocomplete="username" required></label>`}
${changes && markup`<label>Current password <input name="current" type="password" autocomplete="current-password" required></label>`}
<label>New password, 10 characters or more <input name="password" type="password" autocomplete="new-password" minlength="10" required></label>
<p><button>Save</button></p></form>`,
    { status },
  )
}

const csrf = (session: Session): Markup => markup`<input type="hidden" name="csrf" value="${session.csrf}">`

const endButton = (action: string, id: string, session: Session): Markup =>
  markup`<form method="post" action="/account/${action}">${csrf(session)}<input type="hidden" name="id" value="${id}">
<button>End</button></form>`

const connectionItem = (one: Connection, session: Session): Markup =>
  markup`<li><b>${one.name}</b> at <code>${placeOf(one.redirectUri)}</code>, since ${day(one.createdAt)}. ${used(one)}<br>
<small>${one.scopes.join(' ')}</small>${endButton('end-connection', one.id, session)}</li>`

const tokenItem = (one: PersonalToken, session: Session): Markup =>
  markup`<li><b>${one.name}</b>, since ${day(one.createdAt)}${one.expiresAt !== null && markup`, until ${day(one.expiresAt)}`}.
${used(one)}<br><small>${one.scopes.join(' ')}</small>${endButton('end-token', one.id, session)}</li>`

const used = ({ lastUsedAt, calls }: { lastUsedAt: string | null; calls: number }): string =>
  lastUsedAt === null
    ? 'Not used yet.'
    : `Used ${calls === 1 ? 'once' : `${calls} times`}, last on ${day(lastUsedAt)}.`

const day = (instant: string): string => instant.slice(0, 10)
