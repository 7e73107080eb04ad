import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenServer } from '../app/open-server.ts'
import { Failure } from '../core/failure.ts'
import { isFault, toFailure } from '../core/to-failure.ts'
import { authenticate } from '../features/accounts/authenticate.ts'
import { leaveFeedback } from '../features/feedback/feedback.ts'
import { readBody } from '../mcp/protocol/reply.ts'
import { bearerChallenge } from './oauth/metadata.ts'
import { dropBody, httpProblem, problemOf, sendProblem } from './problem.ts'
import { isFromOurPage, readSession } from './session.ts'

const MOST_BYTES = 64 * 1024
const HINT = 'Send {"text": "…"} as application/json.'

/**
 * `POST /api/feedback`: a message to the operator, `{ text }`, from whoever has a token or a session with its CSRF token. Answers
 * 201 with `{ id }`. Never throws.
 */
export function createFeedbackApi({
  server,
  onError,
}: {
  server: Pick<OpenServer, 'accounts'>
  onError(error: unknown, where: string): void
}) {
  const { accounts } = server

  return async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      if (req.method !== 'POST')
        return sendProblem(res, httpProblem(405, 'Feedback is sent by POST.', HINT), { allow: 'POST' })
      const readerId = await whoWrites(req)
      if (readerId === undefined) {
        dropBody(req, res)
        const failure = new Failure('not_logged_in', 'Authentication is required.', {
          hint: 'Send a token as `Authorization: Bearer …`.',
        })
        return sendProblem(res, problemOf(failure, accounts.base), {
          'www-authenticate': bearerChallenge(accounts, '/mcp', req.headers.authorization !== undefined),
        })
      }
      const bytes = await readBody(req, MOST_BYTES)
      if (bytes === undefined) {
        if (!req.complete) res.shouldKeepAlive = false
        return sendProblem(res, httpProblem(413, `The body must not exceed ${MOST_BYTES} bytes.`, HINT))
      }
      const body = JSON.stringify({ id: await leaveFeedback(accounts, readerId, textIn(bytes)) })
      res.writeHead(201, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'cache-control': 'no-store',
      })
      res.end(body)
    } catch (error) {
      if (isFault(error)) onError(error, 'feedback')
      dropBody(req, res)
      sendProblem(res, problemOf(toFailure(error), accounts.base))
    }
  }

  async function whoWrites(req: IncomingMessage): Promise<string | undefined> {
    const { authorization } = req.headers
    if (authorization !== undefined) return (await authenticate(accounts, authorization))?.readerId
    const session = await readSession(accounts, req)
    if (!session) return undefined
    if (isFromOurPage(accounts, req, session)) return session.reader.id
    throw new Failure('insufficient_scope', 'The request does not come from a page of this server.', {
      hint: 'Send the X-CSRF-Token of the session, or use a token in an Authorization header.',
    })
  }
}

function textIn(bytes: Buffer): string {
  try {
    const given: unknown = JSON.parse(bytes.toString('utf8'))
    if (typeof given === 'object' && given !== null && 'text' in given && typeof given.text === 'string')
      return given.text
  } catch {
    // told below
  }
  throw new Failure('invalid_input', 'The message could not be read.', { hint: HINT })
}
