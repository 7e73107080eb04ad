import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenServer } from '../app/open-server.ts'
import { isFault, toFailure } from '../core/to-failure.ts'
import { createDownloads } from './downloads.ts'
import { createFeedback } from './feedback.ts'
import { createImports } from './imports.ts'
import { createJobEvents } from './job-events.ts'
import { dropBody, httpProblem, problemOf, sendProblem } from './problem.ts'
import { noteRequest, requestIdOf } from './request-id.ts'
import type { Caller } from './run-tool.ts'
import { createUploads } from './uploads.ts'
import { askWho, scopeHeader, whoCalls } from './who-calls.ts'

/** One request of somebody who is known. */
export interface ApiCall {
  req: IncomingMessage
  res: ServerResponse
  caller: Caller
  /** What stands in the address where the route has a group. */
  params: readonly string[]
  query: URLSearchParams
}

export type ApiEndpoint = (call: ApiCall) => Promise<void>

export interface ApiRoute {
  path: RegExp
  /** A GET answers HEAD as well. */
  methods: Partial<Record<'GET' | 'POST' | 'DELETE', ApiEndpoint>>
}

export interface ApiParts {
  server: Pick<OpenServer, 'accounts' | 'limiter' | 'libraries'>
  /** Bytes of one file that is sent in. */
  uploadBytes: number
  /** Aborts when the server is about to end. */
  ending: AbortSignal
  onError(error: unknown, where: string): void
}

/**
 * The HTTP API beside the tools: files in and out, how far jobs are, and a word to the operator. The function answers the requests that are for it and
 * gives true; any other is left untouched. It never throws.
 */
export function createApi(parts: ApiParts) {
  const { server, onError } = parts
  const { accounts } = server
  const routes = [
    ...createUploads(parts),
    ...createImports(parts),
    ...createDownloads(parts),
    ...createJobEvents(parts),
    ...createFeedback(parts),
  ]

  return async (req: IncomingMessage, res: ServerResponse, path: string, query: string): Promise<boolean> => {
    const route = routes.find((one) => one.path.test(path))
    if (!route) return false
    try {
      await answer(route, req, res, path, query)
    } catch (error) {
      const failure = toFailure(error)
      noteRequest(error, requestIdOf(res))
      if (isFault(error)) onError(error, 'api')
      dropBody(req, res)
      sendProblem(res, problemOf(failure, accounts.base), scopeHeader(failure))
    }
    return true
  }

  async function answer(
    { path: pattern, methods }: ApiRoute,
    req: IncomingMessage,
    res: ServerResponse,
    path: string,
    query: string,
  ): Promise<void> {
    const allow = [methods.GET && 'GET, HEAD', methods.POST && 'POST', methods.DELETE && 'DELETE', 'OPTIONS']
      .filter(Boolean)
      .join(', ')
    if (req.method === 'OPTIONS') {
      res.writeHead(204, { allow }).end()
      return
    }
    const method = req.method === 'HEAD' ? 'GET' : req.method
    const isKnown = method === 'GET' || method === 'POST' || method === 'DELETE'
    const endpoint = isKnown ? methods[method] : undefined
    if (!endpoint) {
      dropBody(req, res)
      sendProblem(res, httpProblem(405, 'This address takes no such request.', `It takes ${allow}.`), {
        allow,
      })
      return
    }
    const caller = await whoCalls(accounts, req, res)
    if (!caller) return askWho(accounts, req, res)
    const params = pattern.exec(path)?.slice(1) ?? []
    await endpoint({ req, res, caller, params, query: new URLSearchParams(query) })
  }
}
