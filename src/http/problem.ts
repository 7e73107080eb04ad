import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Failure, FailureCode, FailureKind } from '../core/failure.ts'

/** A failure as `application/problem+json` (RFC 9457), with the fields that tools answer with beside it. */
export interface Problem {
  /** Where the code is explained; `about:blank` where the status says it all. */
  type: string
  title: string
  status: number
  detail: string
  code?: FailureCode
  hint: string
  retryAfterSeconds?: number
  details?: Record<string, unknown>
}

const STATUS_OF_KIND: Record<FailureKind, number> = {
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  rate_limited: 429,
  subscription: 403,
  invalid: 422,
  conflict: 409,
  internal: 500,
}

/** Where the code says more than its kind: a page that refuses us is no refusal of the caller. */
const STATUS_OF_CODE: Partial<Record<FailureCode, number>> = {
  invalid_input: 400,
  page_not_found: 422,
  page_refused: 422,
  login_required: 422,
  method_not_allowed: 405,
  fetch_failed: 502,
  timed_out: 504,
  library_locked: 503,
  unavailable: 503,
  // The database takes no changes: nothing that the caller may do about it.
  read_only: 503,
  disk_full: 507,
}

export const statusOf = ({ code, kind }: Pick<Failure, 'code' | 'kind'>): number =>
  STATUS_OF_CODE[code] ?? STATUS_OF_KIND[kind]

/** `base` is the public origin. */
export function problemOf(failure: Failure, base: string): Problem {
  const { code, message, hint, retryAfterSeconds, details } = failure
  return {
    type: `${base}/api#${code}`,
    title: titleOf(code),
    status: statusOf(failure),
    detail: message,
    code,
    hint,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(details && { details }),
  }
}

/** `quote_not_found` → `Quote not found`. */
export const titleOf = (code: FailureCode): string =>
  code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ')

/** What is wrong with a request that no tool ever hears of. */
const CODE_OF_STATUS = {
  400: 'invalid_input',
  403: 'host_refused',
  404: 'address_not_found',
  405: 'method_not_allowed',
  413: 'too_large',
  415: 'unsupported_type',
  416: 'invalid_input',
} as const satisfies Record<number, FailureCode>

/** A problem with the request itself. */
export function httpProblem(status: keyof typeof CODE_OF_STATUS, detail: string, hint: string): Problem {
  const title = STATUS_CODES[status] ?? 'Problem'
  return { type: 'about:blank', title, status, detail, code: CODE_OF_STATUS[status], hint }
}

export function sendProblem(
  res: ServerResponse,
  problem: Problem,
  headers: Record<string, string> = {},
): void {
  if (res.headersSent) {
    res.destroy()
    return
  }
  const body = JSON.stringify(problem)
  res.writeHead(problem.status, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(problem.retryAfterSeconds !== undefined && { 'retry-after': String(problem.retryAfterSeconds) }),
    ...headers,
  })
  res.end(body)
}

/** Past this a body that nobody reads is cut off with the answer. */
const UNREAD_BYTES = 1024 * 1024

/** Ends the connection with the answer where the rest of the request is too much to be let run by. */
export function dropBody(req: IncomingMessage, res: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
  if (encoding !== undefined || Number(length ?? 0) > UNREAD_BYTES) res.shouldKeepAlive = false
}

/** What is read on, at most, for a client to hear the answer that is still sending. */
const LINGER_BYTES = 64 * 1024 * 1024
const LINGER_MS = 10_000

/**
 * Answers a request whose body is still coming and is not wanted. A client that is sending when its connection closes would lose
 * the answer: for a while what it sends is let run by.
 */
export async function sendProblemEarly(
  req: IncomingMessage,
  res: ServerResponse,
  problem: Problem,
): Promise<void> {
  if (req.complete) return sendProblem(res, problem)
  const body = JSON.stringify(problem)
  res.writeHead(problem.status, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    connection: 'close',
  })
  res.write(body)
  let left = LINGER_BYTES
  const late = setTimeout(() => req.destroy(), LINGER_MS)
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      left -= chunk.length
      if (left < 0) break
    }
  } catch {
    // It has left, with the answer or without.
  } finally {
    clearTimeout(late)
  }
  res.end()
}
