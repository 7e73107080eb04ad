import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** What the guard lets through although it is not public: named by whoever runs the program, never by a page. */
export interface AllowedPlaces {
  /** True for a host or address that was named, on this port. */
  allows(host: string, port: number): boolean
}

interface AllowedPlace {
  host?: string
  port?: number
  range?: [ipaddr.IPv4 | ipaddr.IPv6, number]
}

/**
 * Reads an allow-list: `host`, `host:port`, an IP address (`10.0.0.7`, `[::1]:8080`) or a CIDR range (`192.168.1.0/24`).
 * An entry without a port allows every port. Throws `RangeError` for an entry that is none of these.
 */
export function parseAllowedPlaces(entries: readonly string[]): AllowedPlaces {
  const places = entries.map(parsePlace)
  return {
    allows(host, port) {
      const name = bareHost(host)
      const address = isAddress(name) ? ipaddr.process(name) : undefined
      return places.some((place) => {
        if (place.port !== undefined && place.port !== port) return false
        if (place.host !== undefined) return place.host === (address ? address.toString() : name)
        return place.range !== undefined && address !== undefined && isInRange(address, place.range)
      })
    },
  }
}

function parsePlace(entry: string): AllowedPlace {
  const text = entry.trim().toLowerCase()
  if (text.includes('/')) {
    if (!ipaddr.isValidCIDR(text)) throw new RangeError(`not a CIDR range: ${entry}`)
    return { range: ipaddr.parseCIDR(text) }
  }
  if (isAddress(text)) return { host: ipaddr.process(text).toString() }
  const parts = /^(\[[0-9a-f:.]+\]|[^\s:/@[\]]+)(?::(\d{1,5}))?$/.exec(text)
  if (!parts?.[1]) throw new RangeError(`not a host, host:port, address or CIDR range: ${entry}`)
  const host = bareHost(parts[1])
  return {
    host: isAddress(host) ? ipaddr.process(host).toString() : host,
    ...(parts[2] && { port: Number(parts[2]) }),
  }
}

function isInRange(address: ipaddr.IPv4 | ipaddr.IPv6, range: [ipaddr.IPv4 | ipaddr.IPv6, number]): boolean {
  return address.kind() === range[0].kind() && address.match(range)
}

/** A host without the brackets of an IPv6 literal and without the root's dot, so that one name has one form. */
export function bareHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
}

/** The address if the host of a URL is an IP literal, else undefined. `URL` has already turned `0x7f.1` into `127.0.0.1`. */
export function literalAddress(host: string): string | undefined {
  const name = bareHost(host)
  return isAddress(name) ? name : undefined
}

const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/**
 * True for a public unicast address. IPv4 inside IPv6 (`::ffff:127.0.0.1`) counts as the IPv4 address; of IPv6 only the
 * global unicast block 2000::/3 (RFC 4291, 2.4) is public, less the special ranges inside it (6to4, Teredo, documentation).
 */
export function isPublicAddress(address: string): boolean {
  if (!isAddress(address)) return false
  const known = ipaddr.process(address)
  if (known.range() !== 'unicast') return false
  return known instanceof ipaddr.IPv4 || known.match(GLOBAL_UNICAST)
}

/** Node's strict reading: ipaddr.js takes `1.2.3` for an address as well. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0
}
