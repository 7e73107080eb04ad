import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '../../core/failure.ts'
import { toFailure } from '../../core/to-failure.ts'
import type { Accounts } from '../../features/accounts/accounts.ts'
import {
  askToConfirmEmail,
  changeEmail,
  changePassword,
  endConnection,
  endInvitation,
  endOneSession,
  endOtherSessions,
  endToken,
  invite,
  makeToken,
  showAccount,
} from './account.ts'
import { addProvider, endPasskey, endProvider, namePasskey } from './account-ways.ts'
import { noteRequest, requestIdOf } from '../request-id.ts'
import { authorize } from './authorize.ts'
import { confirm, showConfirm } from './confirm.ts'
import { answerConsent, showConsent } from './consent.ts'
import { sendJson } from '../send-json.ts'
import type { Endpoint, Exchange } from './endpoint.ts'
import { authorizationServerMetadata, protectedResourceMetadata } from './metadata.ts'
import { OAuthError } from './oauth-error.ts'
import { markup, sendPage } from './page.ts'
import { keepNewPasskey, newPasskeyOptions, passkeyOptions, signInByPasskey } from './passkeys.ts'
import { sendPasskeysScript } from './passkeys-script.ts'
import { readRegistration, register } from './register.ts'
import { reset, showReset } from './reset.ts'
import { revoke } from './revoke.ts'
import { showSignIn, showSignOut, signIn, signInByMail, signOut } from './sign-in.ts'
import { showSignUp, signUp } from './sign-up.ts'
import { token } from './token.ts'
import { comeFromProvider, goToProvider } from './with-provider.ts'

export interface OAuthParts {
  accounts: Accounts
  /** Network address of whoever sent a request; behind a proxy the socket's own is the proxy's. */
  addressOf?: (req: IncomingMessage) => string
  onError?: (error: unknown, where: string) => void
}

interface Route {
  path: RegExp
  /** `data` answers in JSON to any origin and reads no cookie; a `page` is for the reader's own browser. */
  kind: 'data' | 'page'
  methods: Partial<Record<'GET' | 'POST', Endpoint>>
}

const ROUTES: readonly Route[] = [
  {
    path: /^\/\.well-known\/(oauth-authorization-server|openid-configuration)(\/mcp)?$/,
    kind: 'data',
    methods: { GET: authorizationServerMetadata },
  },
  {
    path: /^\/\.well-known\/oauth-protected-resource(\/mcp)?$/,
    kind: 'data',
    methods: { GET: protectedResourceMetadata },
  },
  { path: /^\/oauth\/register$/, kind: 'data', methods: { POST: register } },
  { path: /^\/oauth\/register\/[\w-]+$/, kind: 'data', methods: { GET: readRegistration } },
  { path: /^\/oauth\/token$/, kind: 'data', methods: { POST: token } },
  { path: /^\/oauth\/revoke$/, kind: 'data', methods: { POST: revoke } },
  { path: /^\/oauth\/authorize$/, kind: 'page', methods: { GET: authorize, POST: authorize } },
  { path: /^\/consent\/[\w-]+$/, kind: 'page', methods: { GET: showConsent, POST: answerConsent } },
  { path: /^\/sign-in$/, kind: 'page', methods: { GET: showSignIn, POST: signIn } },
  { path: /^\/sign-in\/mail$/, kind: 'page', methods: { POST: signInByMail } },
  { path: /^\/sign-in\/passkey$/, kind: 'page', methods: { POST: signInByPasskey } },
  { path: /^\/sign-in\/passkey\/options$/, kind: 'page', methods: { POST: passkeyOptions } },
  { path: /^\/sign-in\/with\/[a-z]+$/, kind: 'page', methods: { POST: goToProvider } },
  {
    path: /^\/sign-in\/with\/[a-z]+\/callback$/,
    kind: 'page',
    methods: { GET: comeFromProvider, POST: comeFromProvider },
  },
  { path: /^\/sign-up$/, kind: 'page', methods: { GET: showSignUp, POST: signUp } },
  { path: /^\/reset$/, kind: 'page', methods: { GET: showReset, POST: reset } },
  { path: /^\/confirm$/, kind: 'page', methods: { GET: showConfirm, POST: confirm } },
  { path: /^\/passkeys\.js$/, kind: 'page', methods: { GET: sendPasskeysScript } },
  { path: /^\/account$/, kind: 'page', methods: { GET: showAccount } },
  { path: /^\/account\/email$/, kind: 'page', methods: { POST: changeEmail } },
  { path: /^\/account\/confirm-email$/, kind: 'page', methods: { POST: askToConfirmEmail } },
  { path: /^\/account\/add-provider$/, kind: 'page', methods: { POST: addProvider } },
  { path: /^\/account\/end-provider$/, kind: 'page', methods: { POST: endProvider } },
  { path: /^\/account\/passkey$/, kind: 'page', methods: { POST: keepNewPasskey } },
  { path: /^\/account\/passkey\/options$/, kind: 'page', methods: { POST: newPasskeyOptions } },
  { path: /^\/account\/rename-passkey$/, kind: 'page', methods: { POST: namePasskey } },
  { path: /^\/account\/end-passkey$/, kind: 'page', methods: { POST: endPasskey } },
  { path: /^\/account\/end-session$/, kind: 'page', methods: { POST: endOneSession } },
  { path: /^\/account\/end-sessions$/, kind: 'page', methods: { POST: endOtherSessions } },
  { path: /^\/account\/invite$/, kind: 'page', methods: { POST: invite } },
  { path: /^\/account\/withdraw-invitation$/, kind: 'page', methods: { POST: endInvitation } },
  { path: /^\/account\/end-connection$/, kind: 'page', methods: { POST: endConnection } },
  { path: /^\/account\/make-token$/, kind: 'page', methods: { POST: makeToken } },
  { path: /^\/account\/end-token$/, kind: 'page', methods: { POST: endToken } },
  { path: /^\/account\/password$/, kind: 'page', methods: { POST: changePassword } },
  { path: /^\/sign-out$/, kind: 'page', methods: { GET: showSignOut, POST: signOut } },
]

/**
 * The authorization server and the pages where readers sign in and allow. The function answers the requests that are for it and
 * gives true; any other is left untouched. It never throws.
 */
export function createOAuth({
  accounts,
  addressOf = (req) => req.socket.remoteAddress ?? '',
  onError = () => {},
}: OAuthParts): (req: IncomingMessage, res: ServerResponse) => Promise<boolean> {
  return async (req, res) => {
    const url = urlOf(req, accounts.base)
    const route = url && ROUTES.find(({ path }) => path.test(url.pathname))
    if (!url || !route) return false
    try {
      await answer(route, { accounts, req, res, url, address: addressOf(req) })
    } catch (error) {
      await fail(route, { req, res, path: url.pathname }, error, onError)
    }
    return true
  }
}

async function answer({ kind, methods }: Route, exchange: Exchange): Promise<void> {
  const { req, res } = exchange
  if (kind === 'data') {
    res.setHeader('access-control-allow-origin', '*')
    if (req.method === 'OPTIONS') {
      res.writeHead(204, {
        'access-control-allow-methods': 'GET, POST, OPTIONS',
        'access-control-allow-headers': 'Content-Type, Authorization, MCP-Protocol-Version',
        'access-control-max-age': '86400',
      })
      res.end()
      return
    }
  }
  const method = req.method === 'HEAD' ? 'GET' : req.method
  const endpoint = method === 'GET' || method === 'POST' ? methods[method] : undefined
  if (endpoint) return endpoint(exchange)
  res.setHeader('allow', [...Object.keys(methods), ...(kind === 'data' ? ['OPTIONS'] : [])].join(', '))
  throw new OAuthError('invalid_request', 'this method is not supported here', { status: 405 })
}

async function fail(
  { kind }: Route,
  { req, res, path }: { req: IncomingMessage; res: ServerResponse; path: string },
  error: unknown,
  onError: (error: unknown, where: string) => void,
): Promise<void> {
  const suspended = error instanceof Failure && error.code === 'account_suspended'
  if (suspended && kind === 'page' && !res.headersSent)
    return sendPage(res, error.message, markup`<p>${error.hint}</p>`, { status: 403 })
  const known = toOAuthError(error)
  noteRequest(error, requestIdOf(res))
  if (!known || known.status === 503) onError(error, 'oauth')
  if (res.headersSent) {
    res.destroy()
    return
  }
  const { code, message, status, challenge } =
    known ?? new OAuthError('server_error', 'something went wrong on our side', { status: 500 })
  const { retryAfterSeconds } = toFailure(error)
  const headers: Record<string, string> = {
    ...(challenge && { 'www-authenticate': 'Basic realm="oauth"' }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    // What is left of a body that is too large is not read.
    ...(status === 413 && { connection: 'close' }),
  }
  if (kind === 'data')
    return sendJson(req, res, { error: code, error_description: message }, { status, headers })
  sendPage(
    res,
    'This did not work',
    markup`<p>${wayOn(path, status)}</p><p><small>${code}: ${message}</small></p>`,
    { status, headers },
  )
}

/** What somebody does whose page could not be shown, by where they were. */
function wayOn(path: string, status: number): string {
  if (status === 503) return 'Nothing is wrong with what you did. Load this page again in a moment.'
  if (status === 429) return 'Wait a while, then try again.'
  if (/^\/(oauth|consent)\//.test(path)) return 'Go back to the assistant and start the connection again.'
  if (path.startsWith('/account')) return 'Go back to your account and try again.'
  return 'Go back to the page that you came from, load it again and try once more.'
}

function toOAuthError(error: unknown): OAuthError | undefined {
  if (error instanceof OAuthError) return error
  if (error instanceof Failure && error.code === 'rate_limited')
    return new OAuthError('temporarily_unavailable', `${error.message} ${error.hint}`, { status: 429 })
  const failure = toFailure(error)
  if (!isOfDatabase(failure)) return undefined
  return new OAuthError('temporarily_unavailable', `${failure.message} ${failure.hint}`, { status: 503 })
}

/** What keeps a database from answering is over by and by, and no fault of whoever asks. */
const isOfDatabase = ({ code }: Failure): boolean =>
  code === 'unavailable' || code === 'read_only' || code === 'disk_full' || code === 'library_locked'

function urlOf(req: IncomingMessage, base: string): URL | undefined {
  try {
    // A target such as `//evil.example/x` would otherwise be read as a host.
    return new URL(base + (req.url?.startsWith('/') ? req.url : '/'))
  } catch {
    return undefined
  }
}
