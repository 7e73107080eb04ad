import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Accounts } from '../../features/accounts/accounts.ts'

/** One request as an endpoint sees it. */
export interface Exchange {
  accounts: Accounts
  req: IncomingMessage
  res: ServerResponse
  /** Path and query; the host in it means nothing. */
  url: URL
  /** Network address of the caller. */
  address: string
}

export type Endpoint = (exchange: Exchange) => Promise<void>

export function sendJson(
  res: ServerResponse,
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
  res.end(JSON.stringify(body))
}

/** 303, so that a browser never sends a form on (RFC 9700 §4.12). */
export function redirect(res: ServerResponse, to: string): void {
  res.writeHead(303, { location: to, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  res.end()
}
