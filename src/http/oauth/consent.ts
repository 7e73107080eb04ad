import {
  dropRequest,
  findRequest,
  grantRequest,
  type AuthorizationRequest,
} from '../../features/accounts/authorization-store.ts'
import { formTargetOf, placeOf, withAnswer } from '../../features/accounts/redirect-uri.ts'
import { grantedOf, SCOPE_WORDS, type ScopeGroup } from '../../features/accounts/scope-words.ts'
import { isSame, sealOf } from '../../features/accounts/secrets.ts'
import { isFromOurOrigin, readCookie, readSession, setCookie, type Session } from '../session.ts'
import { redirect, type Endpoint, type Exchange } from './endpoint.ts'
import { markup, sendPage, type Markup } from './page.ts'
import { readForm } from './read-body.ts'

/** The page on which a reader allows an assistant some things, or nothing. */
export const showConsent: Endpoint = async (exchange) => {
  const request = await requestOf(exchange)
  if (!request) return sendGone(exchange)
  const session = await readSession(exchange.accounts, exchange.req)
  if (!session) return redirect(exchange.res, `/sign-in?next=${encodeURIComponent(exchange.url.pathname)}`)
  sendConsent(exchange, request, session)
}

/** The reader's answer to it. */
export const answerConsent: Endpoint = async (exchange) => {
  const { accounts, req, res, url } = exchange
  if (!isFromOurOrigin(accounts, req)) return sendRefused(exchange)
  const form = await readForm(req)
  const request = await requestOf(exchange)
  const session = await readSession(accounts, req)
  if (!request || !session) return sendGone(exchange)
  if (!isSame(form.get('csrf'), csrfOf(exchange, request, session))) return sendRefused(exchange)

  const back = (answer: Record<string, string>): void => {
    setCookie(accounts, res, { name: 'request', value: '', maxAge: 0, path: url.pathname })
    redirect(res, withAnswer(request.redirectUri, { ...answer, state: request.state, iss: accounts.base }))
  }
  if (form.get('decision') !== 'allow') {
    if (!(await dropRequest(accounts, request.id))) return sendGone(exchange)
    return back({ error: 'access_denied', error_description: 'the reader declined' })
  }
  const scopes = grantedOf(request.scopes, form.getAll('scope'))
  if (scopes.length === 0) return sendConsent(exchange, { ...request, ticked: [] }, session, true)
  const code = await grantRequest(accounts, request.id, session.reader.id, scopes)
  if (code === undefined) return sendGone(exchange)
  back({ code })
}

const requestOf = async ({ accounts, req, url }: Exchange): Promise<AuthorizationRequest | undefined> =>
  findRequest(accounts, url.pathname.split('/')[2] ?? '', readCookie(req, 'request') ?? '')

/** Fits this request in this session alone. */
const csrfOf = ({ accounts }: Exchange, request: AuthorizationRequest, session: Session): string =>
  sealOf(accounts.keys.forms, 'consent', request.id, session.hash)

const GROUPS: readonly [ScopeGroup, string][] = [
  ['read', 'Read'],
  ['change', 'Change'],
  ['private', 'Private'],
]

function sendConsent(
  exchange: Exchange,
  request: AuthorizationRequest,
  session: Session,
  nothing = false,
): void {
  const { res, url } = exchange
  const groups = GROUPS.map(([group, title]) => {
    const ticks = request.scopes
      .filter((scope) => SCOPE_WORDS[scope].group === group)
      .map((scope) => tick(scope, SCOPE_WORDS[scope].sentence, request.ticked.includes(scope)))
    return ticks.length > 0 ? markup`<fieldset><legend>${title}</legend>${ticks}</fieldset>` : markup``
  })
  sendPage(
    res,
    `Connect ${request.clientName}?`,
    markup`${nothing && markup`<p role="alert">Nothing was ticked. Tick what it may do, or choose Deny.</p>`}
<p>${introduction(request)}</p>
<p>You will be sent to <code>${placeOf(request.redirectUri)}</code>.
You are signed in as <b>${nameOf(session)}</b>.</p>
<form class="choose" method="post" action="${url.pathname}">
<input type="hidden" name="csrf" value="${csrfOf(exchange, request, session)}">
${groups}
<p class="choices"><button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></p>
</form>
<p><small>You can end the connection at any time under <a href="/account">your account</a>.</small></p>`,
    { status: nothing ? 400 : 200, formTarget: formTargetOf(request.redirectUri) },
  )
}

const tick = (scope: string, sentence: string, ticked: boolean): Markup =>
  markup`<label class="tick"><input type="checkbox" name="scope" value="${scope}"${ticked && markup` checked`}>
<span>${sentence} <small>${scope}</small></span></label>`

const introduction = ({ clientKind, clientId, clientName }: AuthorizationRequest): Markup =>
  clientKind === 'document'
    ? markup`<b>${clientName}</b> is known by its address at <code>${new URL(clientId).host}</code>.`
    : markup`It calls itself <b>${clientName}</b>. Nobody has checked that: go on only if you just asked an assistant to connect.`

export const nameOf = ({ reader }: Pick<Session, 'reader'>): string =>
  reader.email ?? reader.name ?? 'the first reader'

const sendGone = ({ res }: Exchange): void =>
  sendPage(
    res,
    'This page has expired',
    markup`<p>Go back to the assistant and start the connection again.</p>`,
    { status: 400 },
  )

export const sendRefused = ({ res, accounts }: Exchange): void =>
  sendPage(
    res,
    'Refused',
    markup`<p>This form is too old or was sent from another site. This server is at <a href="${accounts.base}">${accounts.base}</a>.</p>`,
    { status: 403 },
  )
