import type { IncomingMessage, ServerResponse } from 'node:http'
import { SCOPES, type Scope } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'
import type { Accounts } from '../features/accounts/accounts.ts'
import { authenticate, authenticateAgain } from '../features/accounts/authenticate.ts'
import { bearerChallenge } from './oauth/metadata.ts'
import { dropBody, problemOf, sendProblem } from './problem.ts'
import { requestIdOf } from './request-id.ts'
import { callerOf, type Caller } from './run-tool.ts'
import { isFromOurPage, readSession } from './session.ts'

const ALL_SCOPES = new Set(SCOPES)

/**
 * Who sends a request: a program with a token, or the reader's own browser with its session. What changes something has to come
 * from a page of ours; what only reads tells nothing to a page that could make the browser send it. Undefined where it is
 * nobody. Throws `insufficient_scope`.
 */
export async function whoCalls(
  accounts: Accounts,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Caller | undefined> {
  const { authorization } = req.headers
  if (authorization !== undefined) {
    const principal = await authenticate(accounts, authorization)
    return principal && callerOf(principal, requestIdOf(res))
  }
  const session = await readSession(accounts, req)
  if (!session) return undefined
  const reads = req.method === 'GET' || req.method === 'HEAD'
  if (!reads && !isFromOurPage(accounts, req, session)) {
    throw new Failure('insufficient_scope', 'The request does not come from a page of this server.', {
      hint: 'Send the X-CSRF-Token of the session, or use a token in an Authorization header.',
    })
  }
  const { id } = session.reader
  return {
    readerId: id,
    scopes: ALL_SCOPES,
    connection: 'web',
    counted: `reader ${id}`,
    request: requestIdOf(res),
  }
}

/**
 * Whether the token or the session that a request came with still holds: what takes long must not outlive a revocation, nor a
 * reader who is suspended or gone.
 */
export async function stillCalls(
  accounts: Accounts,
  req: IncomingMessage,
  { readerId }: Pick<Caller, 'readerId'>,
): Promise<boolean> {
  const { authorization } = req.headers
  const now =
    authorization === undefined
      ? (await readSession(accounts, req))?.reader.id
      : (await authenticateAgain(accounts, authorization))?.readerId
  return now === readerId
}

/** Answers who is nobody. */
export function askWho(accounts: Accounts, req: IncomingMessage, res: ServerResponse): void {
  const failure = new Failure('not_logged_in', 'Authentication is required.', {
    hint: 'Send an access token or a personal token as `Authorization: Bearer …`.',
  })
  dropBody(req, res)
  sendProblem(res, problemOf(failure, accounts.base), {
    'www-authenticate': bearerChallenge(accounts, '/mcp', req.headers.authorization !== undefined),
  })
}

/** Throws `insufficient_scope` unless the caller has all of these. */
export function needScopes({ scopes }: Caller, needed: readonly Scope[]): void {
  const missing = needed.filter((scope) => !scopes.has(scope))
  if (missing.length === 0) return
  throw new Failure('insufficient_scope', `This needs the scope ${missing.join(' and ')}.`, {
    hint: 'Ask the reader to connect again and allow it.',
    details: { missing },
  })
}

/** What a client shows the authorization server to be allowed more (RFC 6750 §3.1). */
export function scopeHeader({ code, details }: Failure): Record<string, string> {
  const missing = details?.['missing']
  return code === 'insufficient_scope' && Array.isArray(missing)
    ? { 'www-authenticate': `Bearer error="insufficient_scope", scope="${missing.join(' ')}"` }
    : {}
}
