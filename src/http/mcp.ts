import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenServer } from '../app/open-server.ts'
import { FAMILIES, type Family } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'
import { isFault, toFailure } from '../core/to-failure.ts'
import { authenticate } from '../features/accounts/authenticate.ts'
import { createApp } from '../mcp/app.ts'
import { DEFINITIONS, PROMPTABLE, READABLE } from '../mcp/definitions.ts'
import type { Engine } from '../mcp/engine.ts'
import { Code, RpcError, invalidRequest } from '../mcp/protocol/errors.ts'
import { createHttpHandler, type HttpHandler } from '../mcp/protocol/http.ts'
import { Reply, type PackedBody } from '../mcp/protocol/reply.ts'
import { codingFor, compress, LEAST_MADE_BYTES } from './content-encoding.ts'
import { bearerChallenge } from './oauth/metadata.ts'
import { dropBody, statusOf } from './problem.ts'
import { requestIdOf } from './request-id.ts'
import { bodyLimitOf, callerOf, enterLibrary, runTool, SERVER_TOOLS, type Caller } from './run-tool.ts'
import type { Tally } from './tally.ts'

export interface McpParts {
  server: Pick<OpenServer, 'accounts' | 'limiter' | 'libraries'>
  version: string
  /** Counts calls of tools. */
  tally?: Tally | undefined
  /** Whether a web page of this origin may call. */
  allowsOrigin(origin: string): boolean
  onError(error: unknown, where: string): void
}

/**
 * MCP for whoever has a token: the same endpoint at `/` and `/mcp`, narrowed to some families of tools by `?tools=`. Stateless;
 * the token says whose library a call is about and what it may do there.
 */
export function createMcp({ server, version, tally, allowsOrigin, onError }: McpParts) {
  const { accounts } = server
  const running = { ...server, tally }
  const handlers = new Map<string, HttpHandler>()

  const engine: Engine = {
    tools: SERVER_TOOLS,
    call: (tool, args, call) => runTool(running, call.principal as Caller, tool, args, call),
    enter: (what, call, work) => enterLibrary(running, call.principal as Caller, what, call, work),
    challenge: (failure) => scopeChallenge(accounts.base, failure),
  }

  /** One application a selection: what a connection does not want is neither listed nor called. */
  function handlerFor(families: readonly Family[]): HttpHandler {
    const key = families.join()
    const known = handlers.get(key)
    if (known) return known
    const isChosen = (family: string) => families.some((chosen) => chosen === family)
    const app = createApp({
      version,
      definitions: DEFINITIONS.filter(
        ({ family, definition }) => SERVER_TOOLS.has(definition.name) && isChosen(family),
      ),
      resources: READABLE.filter(({ family }) => isChosen(family)),
      prompts: PROMPTABLE,
      engine: () => engine,
      bodyLimit: (name) => bodyLimitOf(SERVER_TOOLS.get(name)),
      onError: (error) => isFault(error) && onError(error, 'tool'),
    })
    const made = createHttpHandler(app, { origins: allowsOrigin, pack, onError })
    handlers.set(key, made)
    return made
  }

  const forAll = handlerFor(FAMILIES)

  return async function serve(
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
    query: string,
  ): Promise<void> {
    res.setHeader('cache-control', 'no-store')
    res.setHeader('x-content-type-options', 'nosniff')
    const { origin, authorization } = req.headers
    // What a browser asks before, and what comes from a page that may not call, needs no token to be answered.
    if (req.method === 'OPTIONS' || (origin !== undefined && !allowsOrigin(origin))) return forAll(req, res)
    let principal
    try {
      principal = await authenticate(accounts, authorization)
    } catch (error) {
      // Whoever has a token keeps it: this says nothing of it.
      const failure = toFailure(error)
      onError(error, 'authenticate')
      res.setHeader('retry-after', String(failure.retryAfterSeconds ?? 5))
      const refusal = new RpcError(Code.internal, failure.message, failure.toJSON(), statusOf(failure))
      return refuse(req, res, refusal, origin)
    }
    if (!principal) {
      res.setHeader('www-authenticate', bearerChallenge(accounts, path, authorization !== undefined))
      return refuse(req, res, new RpcError(-32600, 'Authentication is required', undefined, 401), origin)
    }
    const families = familiesOf(query)
    if (typeof families === 'string') return refuse(req, res, invalidRequest(families), origin)
    const handler = families === undefined ? forAll : handlerFor(families)
    handler(req, res, callerOf(principal, requestIdOf(res)))
  }
}

/** Long answers alone: a caller's token is in no body, and what comes back is the caller's own library. */
function pack(req: IncomingMessage, body: string): Promise<PackedBody> | undefined {
  const coding = body.length < LEAST_MADE_BYTES ? undefined : codingFor(req, ['gzip', 'br'])
  return coding && compress(body, coding).then((bytes) => ({ coding, bytes }))
}

function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  error: RpcError,
  origin: string | undefined,
): void {
  dropBody(req, res)
  const reply = new Reply(req, res)
  if (origin !== undefined) reply.allowOrigin(origin)
  reply.message(
    error.status ?? 400,
    JSON.stringify({
      jsonrpc: '2.0',
      id: null,
      error: { code: error.code, message: error.message, data: error.data },
    }),
  )
}

/** The families of `?tools=`, in our order; undefined for all, or a sentence that says which there is not. */
function familiesOf(query: string): readonly Family[] | undefined | string {
  if (query === '') return undefined
  const given = new URLSearchParams(query).getAll('tools')
  if (given.length === 0) return undefined
  const names = new Set(
    given
      .flatMap((list) => list.split(','))
      .map((name) => name.trim())
      .filter(Boolean),
  )
  const chosen = FAMILIES.filter((family) => names.delete(family))
  const [unknown] = names
  if (unknown !== undefined)
    return `there is no family of tools ${JSON.stringify(unknown.slice(0, 64))}; there are ${FAMILIES.join(', ')}`
  return chosen.length === 0 ? `tools= names none of ${FAMILIES.join(', ')}` : chosen
}

/** What a client shows the authorization server to be allowed more (RFC 6750 §3.1). */
function scopeChallenge(base: string, { code, details }: Failure): string | undefined {
  const missing = details?.['missing']
  if (code !== 'insufficient_scope' || !Array.isArray(missing)) return undefined
  return [
    'Bearer error="insufficient_scope"',
    'error_description="The reader did not allow this connection to do that"',
    `scope="${missing.join(' ')}"`,
    `resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`,
  ].join(', ')
}
