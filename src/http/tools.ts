import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenServer } from '../app/open-server.ts'
import { Failure } from '../core/failure.ts'
import { isFault, toFailure } from '../core/to-failure.ts'
import { dropBody, httpProblem, problemOf, sendProblem } from './problem.ts'
import { readJson } from './read-json.ts'
import { noteRequest, requestIdOf } from './request-id.ts'
import { bodyLimitOf, runTool, SERVER_TOOLS } from './run-tool.ts'
import { sendJson } from './send-json.ts'
import type { Tally } from './tally.ts'
import { askWho, scopeHeader, whoCalls } from './who-calls.ts'

export interface ToolApiParts {
  server: Pick<OpenServer, 'accounts' | 'limiter' | 'libraries'>
  /** Counts calls of tools. */
  tally?: Tally | undefined
  onError(error: unknown, where: string): void
}

const HINT = 'See /api for the tools and what each takes.'

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
      if (req.method === 'OPTIONS') return void res.writeHead(204, { allow: 'POST, OPTIONS' }).end()
      const caller = await whoCalls(accounts, req, res)
      if (!caller) return askWho(accounts, req, res)
      const tool = SERVER_TOOLS.get(name)
      if (!tool) throw noSuchTool(name)
      if (req.method !== 'POST') {
        return sendProblem(res, httpProblem(405, 'A tool is called by POST.', HINT), {
          allow: 'POST, OPTIONS',
        })
      }
      const args = await readJson(req, res, { limit: bodyLimitOf(tool), hint: HINT })
      if (!args) return
      const abort = new AbortController()
      res.once('close', () => {
        if (!res.writableFinished) abort.abort()
      })
      const { output } = await runTool(running, caller, tool, args, {
        signal: abort.signal,
        progress: () => {},
      })
      await sendJson(req, res, output)
    } catch (error) {
      const failure = toFailure(error)
      noteRequest(error, requestIdOf(res))
      if (isFault(error)) onError(error, 'tool')
      dropBody(req, res)
      sendProblem(res, problemOf(failure, base), scopeHeader(failure))
    }
  }
}

const noSuchTool = (name: string): Failure =>
  new Failure('tool_not_found', `There is no tool ${JSON.stringify(name.slice(0, 64))}.`, { hint: HINT })
