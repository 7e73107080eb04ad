import { Failure } from '../core/failure.ts'
import { leaveFeedback } from '../features/feedback/feedback.ts'
import type { ApiCall, ApiParts, ApiRoute } from './api.ts'
import { readJson } from './read-json.ts'
import { sendJson } from './send-json.ts'

const MOST_BYTES = 64 * 1024
const HINT = 'Send {"text": "…"} as application/json.'

/** `POST /api/feedback`: a message to the operator, `{ text }`, from whoever is known. Answers 201 with `{ id }`. */
export function createFeedback({ server: { accounts } }: Pick<ApiParts, 'server'>): ApiRoute[] {
  async function take({ req, res, caller }: ApiCall): Promise<void> {
    const given = await readJson(req, res, { limit: MOST_BYTES, hint: HINT })
    if (!given) return
    if (typeof given['text'] !== 'string')
      throw new Failure('invalid_input', 'The message could not be read.', { hint: HINT })
    const id = await leaveFeedback(accounts, caller.readerId, given['text'])
    await sendJson(req, res, { id }, { status: 201 })
  }

  return [{ path: /^\/api\/feedback$/, methods: { POST: take } }]
}
