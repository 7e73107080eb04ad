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

/** 303, so that a browser never sends a form on (RFC 9700 §4.12). */
export function redirect(res: ServerResponse, to: string): void {
  res.writeHead(303, { location: to, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  res.end()
}
