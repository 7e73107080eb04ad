import type { IncomingMessage } from 'node:http'
import { readBody } from '../../mcp/protocol/read-body.ts'
import { OAuthError } from './oauth-error.ts'

const MAX_BYTES = 64 * 1024

/** The body of a request as text. Throws `OAuthError` 413 past 64 KiB. */
export async function readText(req: IncomingMessage): Promise<string> {
  const bytes = await readBody(req, MAX_BYTES)
  if (bytes === undefined) throw new OAuthError('invalid_request', 'the body is too large', { status: 413 })
  return bytes.toString('utf8')
}

/** The fields of a form. Throws `OAuthError` where the body is none. */
export async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new OAuthError('invalid_request', 'a form (application/x-www-form-urlencoded) is expected')
  return new URLSearchParams(await readText(req))
}

/**
 * Parameters, each once (RFC 6749 §3.1); empty ones count as left out. `resource` may be repeated where all its values mean the
 * same. Throws `OAuthError`.
 */
export function singleParameters(
  given: URLSearchParams,
  sameResource: (one: string, other: string) => boolean,
): Record<string, string | undefined> {
  const single = new Map<string, string>()
  for (const [name, value] of given) {
    if (value === '') continue
    const known = single.get(name)
    if (known !== undefined && !(name === 'resource' && sameResource(known, value)))
      throw new OAuthError('invalid_request', `${name.slice(0, 40)} must not be repeated`)
    single.set(name, value)
  }
  return Object.fromEntries(single)
}
