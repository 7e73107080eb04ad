import { SCOPES } from '../../core/define-tool.ts'
import { listConnections, type Connection } from '../../features/accounts/connection-store.ts'
import { listInvitations, type Invitation } from '../../features/accounts/invitation-store.ts'
import { isOperator } from '../../features/accounts/operators.ts'
import type { Passkey } from '../../features/accounts/passkey-store.ts'
import { passkeysWork } from '../../features/accounts/passkeys.ts'
import { listPersonalTokens, type PersonalToken } from '../../features/accounts/personal-token-store.ts'
import { placeOf } from '../../features/accounts/redirect-uri.ts'
import { SCOPE_WORDS } from '../../features/accounts/scope-words.ts'
import { listSessions, type ListedSession } from '../../features/accounts/session-store.ts'
import { waysIn, type WaysIn } from '../../features/accounts/ways-in.ts'
import type { Session } from '../session.ts'
import { nameOf } from './consent.ts'
import type { Exchange } from './endpoint.ts'
import { markup, sendPage, type Markup } from './page.ts'
import { scriptFor } from './passkeys-script.ts'

export interface AccountNote {
  text: string
  status: number
}

/** What a reader let in, how they sign in and where they did, each with a way to end it. */
export async function sendAccount(exchange: Exchange, session: Session, note?: AccountNote): Promise<void> {
  const { accounts, res } = exchange
  const { reader } = session
  const ways = await waysIn(accounts, reader)
  sendPage(
    res,
    'Your account',
    markup`${note && markup`<p role="alert">${note.text}</p>`}
<p>You are signed in as <b>${nameOf(session)}</b>. <a href="/sign-out">Sign out</a></p>
${connectionsSection(exchange, session, await listConnections(accounts, reader.id))}
${tokensSection(session, await listPersonalTokens(accounts, reader.id))}
${addressSection(exchange, session, ways)}
${waysSection(exchange, session, ways)}
${sessionsSection(session, await listSessions(accounts, reader.id))}
${await invitationsSection(exchange, session)}
<h2>Your data</h2>
<ul><li><a href="/account/data">Export everything, see what you use, tell the operator something</a></li>
<li><a href="/account/delete">Delete your account</a></li></ul>`,
    { ...scriptFor(accounts), ...(note && { status: note.status }) },
  )
}

function connectionsSection({ accounts }: Exchange, session: Session, connections: Connection[]): Markup {
  return markup`<h2>Connected assistants</h2>
${connections.length === 0 && markup`<p>None yet. Give an assistant the address <code>${accounts.audience}</code>.</p>`}
<ul>${connections.map(
    (
      one,
    ) => markup`<li><b>${one.name}</b> at <code>${placeOf(one.redirectUri)}</code>, since ${day(one.createdAt)}. ${used(one)}<br>
<small>${one.scopes.join(' ')}</small>${endButton('end-connection', one.id, session)}</li>`,
  )}</ul>`
}

function tokensSection(session: Session, tokens: PersonalToken[]): Markup {
  return markup`<h2>Tokens of your own</h2>
<p>For programs that cannot ask you on a page.</p>
<ul>${tokens.map(
    (
      one,
    ) => markup`<li><b>${one.name}</b>, since ${day(one.createdAt)}${one.expiresAt !== null && markup`, until ${day(one.expiresAt)}`}.
${used(one)}<br><small>${one.scopes.join(' ')}</small>${endButton('end-token', one.id, session)}</li>`,
  )}</ul>
<form method="post" action="/account/make-token">${csrf(session)}
<label>What will use it <input name="name" maxlength="80" required></label>
<label>Days until it ends (empty: never) <input name="days" inputmode="numeric" pattern="[0-9]*"></label>
<fieldset><legend>What it may do</legend>${SCOPES.map(
    (scope) => markup`<label class="tick"><input type="checkbox" name="scope" value="${scope}">
<span>${SCOPE_WORDS[scope].sentence} <small>${scope}</small></span></label>`,
  )}</fieldset>
<p><button>Make a token</button></p></form>`
}

function addressSection({ accounts }: Exchange, session: Session, { password }: WaysIn): Markup {
  const { email, emailVerifiedAt } = session.reader
  if (email === null && !password) return markup``
  const proved = emailVerifiedAt === null ? 'Nobody has confirmed yet that it is yours.' : 'It is confirmed.'
  return markup`<h2>Your e-mail address</h2>
<p>${email === null ? 'None yet.' : markup`<b>${email}</b>. ${proved}`}</p>
${
  accounts.mail &&
  email !== null &&
  emailVerifiedAt === null &&
  markup`<form method="post" action="/account/confirm-email">${csrf(session)}<button>Send me a link to confirm it</button></form>`
}
<form method="post" action="/account/email">${csrf(session)}
<label>New address <input name="email" type="email" autocomplete="email" required></label>
${password && currentPassword}
<p><button>Change</button></p></form>`
}

const currentPassword = markup`<label>Current password <input name="current" type="password" autocomplete="current-password" required></label>`

function waysSection(exchange: Exchange, session: Session, ways: WaysIn): Markup {
  const { accounts } = exchange
  const { reader } = session
  const linked = new Set(ways.identities.map(({ issuer }) => issuer))
  const addable = accounts.providers.filter(({ issuer }) => !linked.has(issuer))
  return markup`<h2>Ways to sign in</h2>
<h3>${ways.password ? 'Change your password' : 'Set a password'}</h3>
<form method="post" action="/account/password">${csrf(session)}
${reader.email === null && markup`<label>E-mail <input name="email" type="email" autocomplete="username" required></label>`}
${ways.password && currentPassword}
<label>New password, 10 characters or more <input name="password" type="password" autocomplete="new-password" minlength="10" required></label>
<p><button>Save</button></p></form>
${passkeysWork(accounts) && passkeysPart(session, ways.passkeys)}
${
  (ways.identities.length > 0 || addable.length > 0) &&
  markup`<h3>Others who vouch for you</h3>
<ul>${ways.identities.map(
    ({ issuer, subject, email, createdAt, lastUsedAt, provider }) =>
      markup`<li><b>${provider?.title ?? issuer}</b>${email !== null && markup` as ${email}`}, since ${day(createdAt)}, last on ${day(lastUsedAt)}.
<form method="post" action="/account/end-provider">${csrf(session)}<input type="hidden" name="issuer" value="${issuer}"><input type="hidden" name="subject" value="${subject}"><button>Remove</button></form></li>`,
  )}</ul>
${addable.map(
  ({
    name,
    title,
  }) => markup`<form class="ways" method="post" action="/account/add-provider">${csrf(session)}<input type="hidden" name="provider" value="${name}">
<button>Add ${title}</button></form>`,
)}`
}`
}

const passkeysPart = (session: Session, passkeys: Passkey[]): Markup =>
  markup`<h3>Passkeys</h3>
<ul>${passkeys.map(
    (
      one,
    ) => markup`<li><b>${one.name}</b>, since ${day(one.createdAt)}${one.lastUsedAt !== null && markup`, last on ${day(one.lastUsedAt)}`}.
<form method="post" action="/account/rename-passkey">${csrf(session)}<input type="hidden" name="id" value="${one.id}">
<label>Name <input name="name" maxlength="80" required value="${one.name}"></label><button>Rename</button></form>
${endButton('end-passkey', one.id, session)}</li>`,
  )}</ul>
<form method="post" action="/account/passkey" hidden data-passkey="create" data-options="/account/passkey/options">${csrf(session)}
<label>Name of a new passkey <input name="name" maxlength="80" placeholder="My phone"></label>
<input type="hidden" name="credential" value=""><p><button>Add a passkey</button></p><p role="status"></p></form>`

function sessionsSection(session: Session, sessions: ListedSession[]): Markup {
  return markup`<h2>Where you are signed in</h2>
<ul>${sessions.map(
    (
      one,
    ) => markup`<li><b>${one.agent ?? 'A browser'}</b>${one.network !== null && markup` at <code>${one.network}</code>`}, since ${day(one.createdAt)}, last on ${day(one.lastUsedAt ?? one.createdAt)}.
${one.hash === session.hash ? markup`<small>This one.</small>` : endButton('end-session', one.hash, session)}</li>`,
  )}</ul>
${
  sessions.length > 1 &&
  markup`<form method="post" action="/account/end-sessions">${csrf(session)}<button>End all others</button></form>`
}`
}

/** For whoever runs the server. */
async function invitationsSection({ accounts }: Exchange, session: Session): Promise<Markup> {
  const { signUp, mail } = accounts
  const { reader } = session
  if (signUp === 'closed' || !isOperator(accounts, reader)) return markup``
  const invitations = await listInvitations(accounts, reader.id)
  return markup`<h2>Invitations</h2>
<p>Each makes one reader, within seven days.</p>
<ul>${invitations.map((one) => invitationItem(one, session))}</ul>
<form method="post" action="/account/invite">${csrf(session)}
<label>For this address alone (empty: for whoever has the link) <input name="email" type="email"></label>
${mail && markup`<label class="tick"><input type="checkbox" name="by-mail" value="yes"><span>Send it there by mail</span></label>`}
<p><button>Invite</button></p></form>`
}

const invitationItem = (one: Invitation, session: Session): Markup =>
  markup`<li><b>${one.email ?? 'Whoever has the link'}</b>, since ${day(one.createdAt)}${
    one.usedAt === null
      ? markup`, until ${day(one.expiresAt)}.${endButton('withdraw-invitation', one.id, session)}`
      : markup`, used on ${day(one.usedAt)}${one.usedBy !== null && markup` by ${one.usedBy}`}.`
  }</li>`

export const csrf = (session: Session): Markup =>
  markup`<input type="hidden" name="csrf" value="${session.csrf}">`

const endButton = (action: string, id: string, session: Session): Markup =>
  markup`<form method="post" action="/account/${action}">${csrf(session)}<input type="hidden" name="id" value="${id}">
<button>End</button></form>`

const used = ({ lastUsedAt, calls }: { lastUsedAt: string | null; calls: number }): string =>
  lastUsedAt === null
    ? 'Not used yet.'
    : `Used ${calls === 1 ? 'once' : `${calls} times`}, last on ${day(lastUsedAt)}.`

const day = (instant: string): string => instant.slice(0, 10)
