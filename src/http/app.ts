import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenServer } from '../app/open-server.ts'
import { toFailure } from '../core/to-failure.ts'
import { createAccountData } from './account-data.ts'
import { addressOf } from './address-of.ts'
import { createApi } from './api.ts'
import { fixedAnswer } from './fixed-answer.ts'
import { createMcp } from './mcp.ts'
import { createOAuth } from './oauth/create-oauth.ts'
import { markup, sendPage, writePage, type Markup } from './oauth/page.ts'
import { apiPage, describeApi } from './openapi.ts'
import { dropBody, httpProblem, problemOf, sendProblem } from './problem.ts'
import { noteRequest, requestIdOf } from './request-id.ts'
import type { Tally } from './tally.ts'
import { createToolApi } from './tools.ts'

export interface HttpAppParts {
  server: Pick<
    OpenServer,
    'accounts' | 'limiter' | 'libraries' | 'ready' | 'configured' | 'storageOf' | 'isLocal' | 'removeLibrary'
  >
  version: string
  /** Host names that are answered beside that of the public address and of this machine. */
  hosts?: readonly string[]
  /** Origins whose pages may call MCP beside the server's own and those of this machine. */
  origins?: readonly string[]
  /** How many proxies stand in front. */
  proxies?: number
  /** Bytes of one file that is sent in. */
  uploadBytes?: number
  /** Aborts when the server is about to end: answers that would go on are ended. */
  ending?: AbortSignal
  /** Counts calls of tools. */
  tally?: Tally
  onError?: (error: unknown, where: string) => void
}

export type HttpApp = (req: IncomingMessage, res: ServerResponse) => void

const READ = 'GET, HEAD, OPTIONS'
const UPLOAD_BYTES = 200_000_000
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']
const LOOPBACK_ORIGIN = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i

/** Everything that a server answers over HTTP. Never throws, whatever comes. */
export function createHttpApp(parts: HttpAppParts): HttpApp {
  const { server, version, hosts = [], proxies = 0 } = parts
  const onError = (error: unknown, where: string): void => {
    if (!hasLeft(error)) parts.onError?.(error, where)
  }
  const { accounts } = server
  const { base } = accounts
  const { hostname } = new URL(base)
  const names = new Set([hostname, ...hosts, ...LOOPBACK_NAMES])
  const origins = new Set([base, ...(parts.origins ?? [])])
  const mcp = createMcp({
    server,
    version,
    tally: parts.tally,
    allowsOrigin: (origin) => origins.has(origin) || LOOPBACK_ORIGIN.test(origin),
    onError,
  })
  const callTool = createToolApi({ server, tally: parts.tally, onError })
  const oauth = createOAuth({ accounts, addressOf: (req) => addressOf(req, proxies), onError })
  const accountData = createAccountData({ server, addressOf: (req) => addressOf(req, proxies), onError })
  const api = createApi({
    server,
    uploadBytes: parts.uploadBytes ?? UPLOAD_BYTES,
    ending: parts.ending ?? new AbortController().signal,
    onError,
  })
  const openApi = fixedAnswer(JSON.stringify(describeApi({ base, version })), {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
  })
  const pageOf = (title: string, body: Markup) => {
    const { html, headers } = writePage(title, body)
    return fixedAnswer(html, headers)
  }
  const [front, apiDescribed] = [
    pageOf('Your reading library', landing(base)),
    pageOf('The HTTP API', apiPage(base)),
  ]
  const secure = base.startsWith('https:')

  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [path = '', query = ''] = splitTarget(req.url ?? '')
    if (path === '/healthz') return sendText(res, 200, 'ok')
    if (path === '/readyz') {
      const ready = await server.ready()
      return sendText(res, ready ? 200 : 503, ready ? 'ready' : 'not ready')
    }
    if (!names.has(hostOf(req))) return refuseHost(req, res, base)
    if (secure) res.setHeader('strict-transport-security', 'max-age=31536000')
    if (path === '/mcp' || path === '/mcp/') return mcp(req, res, path, query)
    if (path === '/') {
      if (req.method !== 'GET' && req.method !== 'HEAD') return mcp(req, res, path, query)
      // A client that wants to listen is told that there is nothing to hear; a person sees a page.
      if (/text\/event-stream/i.test(req.headers.accept ?? '')) return notAllowed(res, 'POST, OPTIONS')
      return front(req, res)
    }
    res.setHeader('x-content-type-options', 'nosniff')
    if (path.startsWith('/api/tools/')) return callTool(req, res, path.slice('/api/tools/'.length))
    if (path === '/api' || path === '/api/openapi.json') {
      if (req.method === 'OPTIONS')
        return allow(res, path === '/api' ? {} : { 'access-control-allow-origin': '*' })
      if (req.method !== 'GET' && req.method !== 'HEAD') {
        dropBody(req, res)
        const problem = httpProblem(405, 'This address is only read.', 'Send a GET.')
        return sendProblem(res, problem, { allow: READ })
      }
      return path === '/api' ? apiDescribed(req, res) : openApi(req, res)
    }
    if (path.startsWith('/api/') && (await api(req, res, path, query))) return
    if (await accountData(req, res, path)) return
    if (await oauth(req, res)) return
    notFound(req, res)
  }

  function notFound(req: IncomingMessage, res: ServerResponse): void {
    if (/text\/html/i.test(req.headers.accept ?? '')) {
      return sendPage(res, 'There is nothing here', markup`<p><a href="/">To the beginning</a></p>`, {
        status: 404,
      })
    }
    dropBody(req, res)
    sendProblem(
      res,
      httpProblem(
        404,
        'There is nothing at this address.',
        `MCP is at ${base}/mcp, the HTTP API at ${base}/api.`,
      ),
    )
  }

  return (req, res) => {
    // Whoever goes in the middle of an answer is nobody's fault.
    res.on('error', () => {})
    route(req, res).catch((error: unknown) => {
      noteRequest(error, requestIdOf(res))
      onError(error, 'http')
      dropBody(req, res)
      sendProblem(res, problemOf(toFailure(error), base))
    })
  }
}

const landing = (
  base: string,
) => markup`<p>Everything you read and mark in one place, which your assistant can read and write.</p>
<p>To connect an assistant, give it this address: <code>${base}/mcp</code></p>
<ul><li><a href="/sign-in">Sign in</a></li><li><a href="/api">The HTTP API</a></li></ul>`

/** A client that hangs up is no fault, and every day's event. */
const hasLeft = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** A target as it came: `/path?query`, or `http://host/path?query` from a proxy. */
function splitTarget(target: string): [path: string, query: string] {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  const at = local.indexOf('?')
  return at < 0 ? [local, ''] : [local.slice(0, at), local.slice(at + 1)]
}

const hostOf = (req: IncomingMessage): string => (req.headers.host ?? '').replace(/:\d+$/, '').toLowerCase()

function sendText(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': text.length,
    'cache-control': 'no-store',
  })
  res.end(text)
}

function allow(res: ServerResponse, headers: Record<string, string>): void {
  res.writeHead(204, { allow: READ, ...headers }).end()
}

function notAllowed(res: ServerResponse, allow: string): void {
  res.writeHead(405, { allow, 'content-length': 0 })
  res.end()
}

function refuseHost(req: IncomingMessage, res: ServerResponse, base: string): void {
  dropBody(req, res)
  sendProblem(
    res,
    httpProblem(
      403,
      'This server does not answer to that host name.',
      `Use ${base}; COMMONPLACE_HOSTS names others.`,
    ),
  )
}
