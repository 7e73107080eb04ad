import { isUtf8 } from 'node:buffer'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { App } from './app.ts'
import { checkBatch, checkBatched } from './batch.ts'
import { Context, type Caller } from './context.ts'
import { indexTools } from './definitions.ts'
import { createDispatcher } from './dispatch.ts'
import { Code, RpcError, httpStatus, invalidRequest, toRpcError } from './errors.ts'
import * as headers from './headers.ts'
import { memo } from './memo.ts'
import {
  errorMessage,
  idOf,
  resultMessage,
  toMessage,
  type Id,
  type Notification,
  type Request,
} from './messages.ts'
import { readBody } from './read-body.ts'
import { Reply, type Packer } from './reply.ts'
import { UNNAMED_REVISION, isLegacy, isModern, type LegacyRevision } from './revisions.ts'

export interface HttpOptions {
  /** Host names this endpoint answers to, without port. Absent: any (a proxy in front checks). */
  hosts?: readonly string[]
  /** Origins of browsers that may call, or a test of them. Requests without `Origin` always may. */
  origins?: readonly string[] | ((origin: string) => boolean)
  /** Above this nothing is read, whatever it is; the application's `bodyLimit` says less for each tool. */
  maxBodyBytes?: number
  /** Packs long answers; absent: they go as they are. Streams of events are never packed. */
  pack?: Packer
  /** Told of what is no `RpcError`: the client hears only "Internal error". */
  onError?: (error: unknown, where: 'request' | 'transport') => void
}

export interface HttpHandler {
  /** `principal` is what the caller's own authentication found; it reaches the application in the context. */
  (req: IncomingMessage, res: ServerResponse, principal?: unknown): void
}

type Era = { modern: true } | { modern: false; revision: LegacyRevision }

const MAX_BODY_BYTES = 6 * 1024 * 1024

/**
 * The MCP endpoint for `node:http`: stateless, all revisions at one address. Throws at once on tools that cannot be
 * served.
 */
export function createHttpHandler(app: App, options: HttpOptions = {}): HttpHandler {
  indexTools(app.tools)
  const { dispatch, bodyLimit } = createDispatcher(app)
  const { maxBodyBytes = MAX_BODY_BYTES, onError = () => {} } = options
  const allowsOrigin = originTest(options.origins)
  const allowsHost = memo((host) => options.hosts === undefined || options.hosts.includes(hostname(host)))

  async function serve(req: IncomingMessage, reply: Reply, principal: unknown): Promise<void> {
    const bytes = await readBody(req, maxBodyBytes)
    if (bytes === undefined) return reply.error(413, null, tooLarge(maxBodyBytes))
    let body: unknown
    try {
      // Decoded as it is, what is no UTF-8 (RFC 8259 §8.1) would be kept with its characters replaced.
      if (!isUtf8(bytes)) throw new TypeError('Not UTF-8')
      body = JSON.parse(bytes.toString('utf8'))
    } catch {
      return reply.error(400, null, new RpcError(Code.parse, 'Parse error: the body is not valid JSON'))
    }
    try {
      if (Array.isArray(body)) await serveBatch(req, reply, principal, body, bytes.length)
      else await serveMessage(req, reply, principal, body, bytes.length)
    } catch (error) {
      const known = report(error)
      reply.error(httpStatus(known), idOf(body), known)
    }
  }

  function serveMessage(
    req: IncomingMessage,
    reply: Reply,
    principal: unknown,
    body: unknown,
    size: number,
  ): void | Promise<void> {
    const message = toMessage(body)
    if (message.kind === 'response') {
      if (isModern(headers.revisionHeader(req.headers))) throw invalidRequest('responses cannot be posted')
      return reply.accepted()
    }
    const era = eraOf(req, message)
    if (message.kind === 'notification') {
      if (era.modern) headers.checkNotificationHeaders(req.headers, message.method, message.params)
      return reply.accepted()
    }
    const limit = bodyLimit(message)
    if (limit !== undefined && size > limit) throw tooLarge(limit)
    return answer(message, callerOf(req, message, era, principal), reply, era.modern)
  }

  async function answer(request: Request, caller: Caller, reply: Reply, modern: boolean): Promise<void> {
    if (reply.canStream) caller.notify = (line) => reply.event(line)
    const context = new Context(request, caller)
    reply.onDisconnect = () => context.cancel()
    try {
      const pending = dispatch(context)
      const result = typeof pending === 'string' ? pending : await pending
      reply.message(200, resultMessage(request.id, result))
    } catch (error) {
      const known = toRpcError(context.cancelled ? error : reported(error), modern)
      reply.error(modern ? httpStatus(known) : 200, request.id, known)
    } finally {
      context.end()
    }
  }

  async function serveBatch(
    req: IncomingMessage,
    reply: Reply,
    principal: unknown,
    body: unknown[],
    size: number,
  ): Promise<void> {
    const named = headers.revisionHeader(req.headers) ?? UNNAMED_REVISION
    const revision = checkBatch(named, body.length)
    const contexts: Context[] = []
    reply.onDisconnect = () => contexts.forEach((context) => context.cancel())
    const answers = await Promise.all(body.map((entry) => one(entry)))
    const lines = answers.filter((line) => line !== undefined)
    return lines.length === 0 ? reply.accepted() : reply.message(200, `[${lines.join(',')}]`)

    async function one(entry: unknown): Promise<string | undefined> {
      const id: Id | null = idOf(entry)
      try {
        const message = toMessage(entry)
        checkBatched(message)
        if (message.kind !== 'request') return undefined
        const limit = bodyLimit(message)
        // Written out again only where the whole batch is over the limit: most never are.
        if (limit !== undefined && size > limit && Buffer.byteLength(JSON.stringify(entry)) > limit) {
          throw tooLarge(limit)
        }
        const context = new Context(message, { revision, capabilities: {}, principal })
        contexts.push(context)
        return resultMessage(message.id, await dispatch(context))
      } catch (error) {
        return errorMessage(id, toRpcError(reported(error), false))
      }
    }
  }

  function callerOf(req: IncomingMessage, { method, params }: Request, era: Era, principal: unknown): Caller {
    if (!era.modern) {
      // Without a session nothing is known of an older client but its revision, and it hears every log line.
      return {
        revision: era.revision,
        capabilities: {},
        principal,
        ...(app.logging && { logLevel: 'debug' }),
      }
    }
    if (headers.claimsModern(params)) headers.checkHeaders(req.headers, method, params)
    const { logLevel, ...caller } = headers.readMeta(params)
    return { ...caller, principal, ...(app.logging && { logLevel }) }
  }

  function reported(error: unknown): unknown {
    if (!(error instanceof RpcError)) onError(error, 'request')
    return error
  }

  const report = (error: unknown): RpcError => toRpcError(reported(error), true)

  return (req, res, principal) => {
    const reply = new Reply(req, res, options.pack)
    const { origin, host } = req.headers
    if (!allowsHost(host ?? '')) return reply.error(403, null, invalidRequest('unknown Host'))
    if (origin !== undefined) {
      if (!allowsOrigin(origin)) return reply.error(403, null, invalidRequest('Origin is not allowed'))
      reply.allowOrigin(origin)
    }
    if (req.method === 'OPTIONS') return reply.preflight()
    if (req.method !== 'POST') return reply.notAllowed()
    if (!isJson(req.headers['content-type'] ?? '')) {
      return reply.error(415, null, invalidRequest('Content-Type must be application/json'))
    }
    serve(req, reply, principal).catch((error: unknown) => {
      onError(error, 'transport')
      res.destroy()
    })
  }
}

/** The body decides; the header alone never makes a request modern, but it must not contradict the body. */
function eraOf(req: IncomingMessage, { method, params }: Request | Notification): Era {
  const named = headers.revisionHeader(req.headers)
  const claimed = method === 'initialize' ? headers.claimsServed(params) : headers.claimsModern(params)
  if (claimed || isModern(named)) return { modern: true }
  if (named === undefined || method === 'initialize') return { modern: false, revision: UNNAMED_REVISION }
  if (!isLegacy(named)) throw headers.unsupportedHeader(named)
  return { modern: false, revision: named }
}

const isJson = memo((type) => /^application\/json\s*(;|$)/i.test(type))

const tooLarge = (limit: number): RpcError =>
  new RpcError(Code.invalidRequest, `The body must not exceed ${limit} bytes`, { limit }, 413)

function originTest(origins: HttpOptions['origins']): (origin: string) => boolean {
  if (typeof origins === 'function') return origins
  const allowed = new Set(origins)
  return (origin) => allowed.has(origin)
}

/** `[::1]:3000` → `[::1]`. */
const hostname = (host: string): string => host.replace(/:\d+$/, '').toLowerCase()

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']
const LOOPBACK_ORIGIN = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i

export interface ServeHttpOptions extends Pick<HttpOptions, 'origins' | 'maxBodyBytes' | 'onError'> {
  /** Absent or 0: a free one. */
  port?: number
  host?: '127.0.0.1' | '::1' | 'localhost'
  /** How long unfinished requests may take once `close` was called. */
  graceMs?: number
}

export interface HttpServer {
  /** Where clients find the endpoint. */
  readonly url: string
  readonly port: number
  /** Takes no more requests, waits for those that run, cancels what is left of them. */
  close(): Promise<void>
}

/**
 * Serves one application without authentication, on this machine only: it listens on a loopback address, answers to
 * loopback host names and, unless `origins` says otherwise, to pages of loopback origins. The endpoint is `/mcp` and
 * `/`; every other path is 404. Rejects when it cannot listen.
 */
export async function serveHttp(app: App, options: ServeHttpOptions = {}): Promise<HttpServer> {
  const { port = 0, host = '127.0.0.1', graceMs = 2000, ...rest } = options
  const bracketed = host === '::1' ? '[::1]' : host
  if (!LOOPBACK.includes(bracketed)) throw new RangeError(`${host} is no loopback address`)
  const handler = createHttpHandler(app, {
    origins: (origin) => LOOPBACK_ORIGIN.test(origin),
    ...rest,
    hosts: LOOPBACK,
  })
  const server = createServer((req, res) => {
    const [path] = (req.url ?? '').split('?')
    if (path === '/mcp' || path === '/') return handler(req, res)
    res.writeHead(404, { 'content-length': 0 }).end()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return {
    url: `http://${bracketed}:${address.port}/mcp`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearTimeout(late)
          resolve()
        })
      }),
  }
}
