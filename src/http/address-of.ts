import type { IncomingMessage } from 'node:http'

/**
 * The network address of whoever sent a request. Each of `proxies` in front adds the address that it saw to the end of
 * `X-Forwarded-For`: what stands before those was written by the caller, and without proxies all of it was.
 */
export function addressOf(req: IncomingMessage, proxies: number): string {
  const own = req.socket.remoteAddress ?? ''
  if (proxies === 0) return own
  const noted = req.headers['x-forwarded-for']
  const addresses = (Array.isArray(noted) ? noted.join(',') : (noted ?? ''))
    .split(',')
    .map((address) => address.trim())
    .filter(Boolean)
  return addresses.at(-proxies) ?? own
}
