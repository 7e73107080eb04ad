import type { IncomingMessage, ServerResponse } from 'node:http'
import { codingFor, compress, LEAST_MADE_BYTES } from './content-encoding.ts'

/**
 * Sends JSON that was made for this request, with 200 where nothing else is said; a long one compressed, where the client takes
 * that.
 */
export async function sendJson(
  req: IncomingMessage,
  res: ServerResponse,
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Promise<void> {
  const body = JSON.stringify(value)
  const long = body.length >= LEAST_MADE_BYTES
  const coding = long ? codingFor(req, ['gzip', 'br']) : undefined
  const sent = coding === undefined ? body : await compress(body, coding)
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(sent),
    'cache-control': 'no-store',
    ...headers,
    ...(long && { vary: 'Accept-Encoding' }),
    ...(coding !== undefined && { 'content-encoding': coding }),
  })
  res.end(sent)
}
