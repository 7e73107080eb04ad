import { Failure } from '../core/failure.ts'
import { leaveFeedback } from '../features/feedback/feedback.ts'
import { readBody } from '../mcp/protocol/reply.ts'
import type { ApiCall, ApiParts, ApiRoute } from './api.ts'
import { httpProblem, sendProblem } from './problem.ts'
import { sendJson } from './send-json.ts'

const MOST_BYTES = 64 * 1024
const HINT = 'Send {"text": "…"} as application/json.'

/** `POST /api/feedback`: a message to the operator, `{ text }`, from whoever is known. Answers 201 with `{ id }`. */
export function createFeedback({ server: { accounts } }: Pick<ApiParts, 'server'>): ApiRoute[] {
  async function take({ req, res, caller }: ApiCall): Promise<void> {
    const bytes = await readBody(req, MOST_BYTES)
    if (bytes === undefined) {
      if (!req.complete) res.shouldKeepAlive = false
      return sendProblem(res, httpProblem(413, `The body must not exceed ${MOST_BYTES} bytes.`, HINT))
    }
    const id = await leaveFeedback(accounts, caller.readerId, textIn(bytes))
    await sendJson(req, res, { id }, { status: 201 })
  }

  return [{ path: /^\/api\/feedback$/, methods: { POST: take } }]
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
