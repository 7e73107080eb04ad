import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenServer } from '../app/open-server.ts'
import { SCOPES, type AnyTool } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'
import { isFault, toFailure } from '../core/to-failure.ts'
import { authenticate } from '../features/accounts/authenticate.ts'
import { readBody } from '../mcp/protocol/reply.ts'
import { bearerChallenge } from './oauth/metadata.ts'
import { dropBody, httpProblem, problemOf, sendProblem } from './problem.ts'
import { noteRequest, requestIdOf } from './request-id.ts'
import { bodyLimitOf, callerOf, runTool, SERVER_TOOLS, type Caller } from './run-tool.ts'
import { isFromOurPage, readSession } from './session.ts'
import type { Tally } from './tally.ts'

export interface ToolApiParts {
  server: Pick<OpenServer, 'accounts' | 'limiter' | 'libraries'>
  /** Counts calls of tools. */
  tally?: Tally | undefined
  onError(error: unknown, where: string): void
}

const HINT = 'See /api for the tools and what each takes.'
const ALL_SCOPES = new Set(SCOPES)

/**
 * `POST /api/tools/{name}`: a tool's arguments as a JSON object, its output as one, failures as `application/problem+json`.
 * For whoever has a token, and for the pages of this server with the reader's session and its CSRF token. Never throws.
 */
export function createToolApi({ server, tally, onError }: ToolApiParts) {
  const { accounts } = server
  const running = { ...server, tally }
  const { base } = accounts

  return async function serve(req: IncomingMessage, res: ServerResponse, name: string): Promise<void> {
    try {
      const caller = await whoCalls(req)
      if (!caller) return challenge(req, res)
      const tool = SERVER_TOOLS.get(name)
      if (!tool) throw noSuchTool(name)
      if (req.method !== 'POST') {
        return sendProblem(res, httpProblem(405, 'A tool is called by POST.', HINT), { allow: 'POST' })
      }
      const args = await readArguments(req, res, tool)
      if (!args) return
      const abort = new AbortController()
      res.once('close', () => {
        if (!res.writableFinished) abort.abort()
      })
      const { output } = await runTool(running, caller, tool, args, {
        signal: abort.signal,
        progress: () => {},
      })
      sendOutput(res, output)
    } catch (error) {
      const failure = toFailure(error)
      noteRequest(error, requestIdOf(res))
      if (isFault(error)) onError(error, 'tool')
      dropBody(req, res)
      sendProblem(res, problemOf(failure, base), scopeHeader(failure))
    }
  }

  async function whoCalls(req: IncomingMessage): Promise<Caller | undefined> {
    const { authorization } = req.headers
    if (authorization !== undefined) {
      const principal = await authenticate(accounts, authorization)
      return principal && callerOf(principal)
    }
    const session = await readSession(accounts, req)
    if (!session) return undefined
    if (!isFromOurPage(accounts, req, session)) {
      throw new Failure('insufficient_scope', 'The request does not come from a page of this server.', {
        hint: 'Send the X-CSRF-Token of the session, or use a token in an Authorization header.',
      })
    }
    const { id } = session.reader
    return { readerId: id, scopes: ALL_SCOPES, connection: 'web', counted: `reader ${id}` }
  }

  function challenge(req: IncomingMessage, res: ServerResponse): void {
    const failure = new Failure('not_logged_in', 'Authentication is required.', {
      hint: 'Send an access token or a personal token as `Authorization: Bearer …`.',
    })
    dropBody(req, res)
    sendProblem(res, problemOf(failure, base), {
      'www-authenticate': bearerChallenge(accounts, '/mcp', req.headers.authorization !== undefined),
    })
  }

  /** The arguments; undefined where the request was answered already. Throws `invalid_input`. */
  async function readArguments(
    req: IncomingMessage,
    res: ServerResponse,
    tool: AnyTool,
  ): Promise<Record<string, unknown> | undefined> {
    const limit = bodyLimitOf(tool)
    const bytes = await readBody(req, limit)
    if (bytes === undefined) {
      if (!req.complete) res.shouldKeepAlive = false
      sendProblem(res, httpProblem(413, `The body must not exceed ${limit} bytes.`, HINT))
      return undefined
    }
    if (bytes.length === 0) return {}
    if (!/^application\/json\s*(;|$)/i.test(req.headers['content-type'] ?? '')) {
      sendProblem(res, httpProblem(415, 'Content-Type must be application/json.', HINT))
      return undefined
    }
    const args = parse(bytes)
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) return { ...args }
    throw new Failure('invalid_input', 'The body must be one JSON object: the arguments of the tool.', {
      hint: HINT,
    })
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

function sendOutput(res: ServerResponse, output: Record<string, unknown>): void {
  const body = JSON.stringify(output)
  res.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  })
  res.end(body)
}

const noSuchTool = (name: string): Failure =>
  new Failure('tool_not_found', `There is no tool ${JSON.stringify(name.slice(0, 64))}.`, { hint: HINT })

function scopeHeader({ code, details }: Failure): Record<string, string> {
  const missing = details?.['missing']
  return code === 'insufficient_scope' && Array.isArray(missing)
    ? { 'www-authenticate': `Bearer error="insufficient_scope", scope="${missing.join(' ')}"` }
    : {}
}
