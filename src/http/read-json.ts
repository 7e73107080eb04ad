import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '../core/failure.ts'
import { readBody } from '../mcp/protocol/read-body.ts'
import { httpProblem, sendProblem } from './problem.ts'

/**
 * The JSON object that a request carries, an empty one where it has no body; undefined where the request was answered already:
 * 413 past `limit` bytes, 415 for what is no JSON in UTF-8 or is packed. Throws `invalid_input` with the hint for what cannot be
 * read.
 */
export async function readJson(
  req: IncomingMessage,
  res: ServerResponse,
  { limit, hint }: { limit: number; hint: string },
): Promise<Record<string, unknown> | undefined> {
  const bytes = await readBody(req, limit)
  if (bytes === undefined) {
    if (!req.complete) res.shouldKeepAlive = false
    sendProblem(res, httpProblem(413, `The body must not exceed ${limit} bytes.`, hint))
    return undefined
  }
  if (bytes.length === 0) return {}
  const wrong = unsupported(req)
  if (wrong !== undefined) {
    sendProblem(res, httpProblem(415, wrong, hint))
    return undefined
  }
  const given = parse(bytes)
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return { ...given }
  throw new Failure('invalid_input', 'The body must be one JSON object in UTF-8.', { hint })
}

function unsupported({ headers }: IncomingMessage): string | undefined {
  const coding = headers['content-encoding'] ?? 'identity'
  if (coding.trim().toLowerCase() !== 'identity')
    return 'The body must come as it is, without Content-Encoding.'
  const type = headers['content-type'] ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type)) return 'Content-Type must be application/json.'
  // JSON knows no other (RFC 8259 §8.1); what says so is taken at its word rather than misread.
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type)?.[1]
  return charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset) ? undefined : 'JSON must be in UTF-8.'
}

function parse(bytes: Buffer): unknown {
  try {
    // Decoded as it is, what is no UTF-8 (RFC 8259 §8.1) would be kept with its characters replaced.
    return isUtf8(bytes) ? JSON.parse(bytes.toString('utf8')) : undefined
  } catch {
    return undefined
  }
}
