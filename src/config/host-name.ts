import { isIP } from 'node:net'

/** Labels between dots, as names are written in DNS and in networks of containers (RFC 1123 §2.1, and the underscore). */
const NAME = /^[a-z\d_]([\w-]{0,61}[a-z\d_])?(\.[a-z\d_]([\w-]{0,61}[a-z\d_])?)*\.?$/i

/** Whether a text is an IP address or the name of a host; what is all digits and dots has to be an address. */
export const isHost = (text: string): boolean =>
  isIP(text) > 0 || (text.length <= 253 && NAME.test(text) && !/^[\d.]+$/.test(text))

/** Whether a text names a place in a network: a host, `host:port`, `[::1]:8080`, or a range of addresses `10.0.0.0/8`. */
export function isPlace(text: string): boolean {
  const range = /^([\da-f:.]+)\/(\d{1,3})$/i.exec(text)
  if (range) {
    const version = isIP(range[1]!)
    return version > 0 && Number(range[2]) <= (version === 4 ? 32 : 128)
  }
  if (isHost(text)) return true
  const [, bracketed, name, port] = /^(?:\[([\da-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? []
  const named = bracketed === undefined ? isHost(name ?? '') : isIP(bracketed) === 6
  return named && (port === undefined || (Number(port) > 0 && Number(port) <= 65_535))
}
