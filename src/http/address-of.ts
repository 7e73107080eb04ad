import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

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
  return bareAddress(addresses.at(-proxies) ?? '') ?? own
}

/**
 * Some proxies add the caller's port, which is another one with each connection: counted by that, nobody would ever come too
 * often. What is no address (`unknown`) is nobody's.
 */
function bareAddress(noted: string): string | undefined {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(noted)?.[1] ?? /^([\d.]+):\d+$/.exec(noted)?.[1] ?? noted
  return isIP(address) === 0 ? undefined : address
}
