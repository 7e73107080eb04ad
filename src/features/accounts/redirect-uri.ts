/** Hosts of this machine as a URL names them (RFC 8252 §7.3; `localhost` because real clients send it). */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Schemes that run code, read files, reach people or belong to the browser itself. */
const NEVER = new Set([
  'javascript:',
  'data:',
  'file:',
  'vbscript:',
  'blob:',
  'about:',
  'ftp:',
  'ws:',
  'wss:',
  'mailto:',
  'tel:',
  'sms:',
  'view-source:',
  'filesystem:',
  'intent:',
  'chrome:',
  'chrome-extension:',
  'content:',
  'resource:',
  'jar:',
])

const MAX_LENGTH = 2_000

/** A host of letters, digits and the marks of names, or an IPv6 address: what stands in front of the path and says nothing else. */
const WEB_START = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?(?=[/?]|$)/i

/**
 * What is wrong with a redirect URI that a client wants to register, or undefined. Allowed are https anywhere, http on
 * loopback, and private-use schemes such as `cursor://…` (RFC 8252 §7). Wildcards, fragments, user names and white space
 * are what open redirectors are made of (RFC 9700 §4.1).
 */
export function faultOfRedirectUri(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri.length > MAX_LENGTH || /[\s\p{Cc}\\]/u.test(uri))
    return 'must be a plain URI'
  const url = parse(uri)
  if (!url) return 'must be an absolute URI'
  if (uri.includes('#')) return 'must not have a fragment'
  if (url.username || url.password || authorityOf(uri).includes('@')) return 'must not carry credentials'
  if (uri.includes('*')) return 'must not have wildcards'
  const web = url.protocol === 'https:' || url.protocol === 'http:'
  // `https:a`, `https:///a` and a host with `;` or `,` are read in one way here and in another elsewhere: by a person, by a
  // client, and by whoever reads the policy of the page that names the host.
  if (web && !WEB_START.test(uri)) return 'must name its host plainly'
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:')
    return LOOPBACK.has(url.hostname) ? undefined : 'http is for loopback addresses only'
  // Windows opens its own tools by schemes that begin so, some of which have run what they were given.
  const never = NEVER.has(url.protocol) || /^(ms|search|shell)[-:]/.test(url.protocol)
  return never ? `the scheme ${url.protocol} is not allowed` : undefined
}

/** Whether every URI of a client is an https one: what RFC 7591 calls a web application. */
export const isWebOnly = (uris: readonly string[]): boolean => uris.every((uri) => uri.startsWith('https:'))

/**
 * Whether a request's redirect URI is one of those registered: the same string, but for the port of a loopback address, which
 * an installed application only learns when it starts (RFC 8252 §7.3).
 */
export function redirectUriIsRegistered(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true
  const portless = withoutLoopbackPort(uri)
  return portless !== undefined && registered.some((one) => withoutLoopbackPort(one) === portless)
}

const LOOPBACK_START = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?=[/?]|$)/

function withoutLoopbackPort(uri: string): string | undefined {
  return LOOPBACK_START.test(uri) && !faultOfRedirectUri(uri)
    ? uri.replace(LOOPBACK_START, 'http://$1')
    : undefined
}

const authorityOf = (uri: string): string => /^[^:]+:\/\/([^/?#]*)/.exec(uri)?.[1] ?? ''

/**
 * What a page's Content-Security-Policy must allow a form to lead to, so that the browser follows the way back to the client:
 * Chromium holds `form-action` against redirects as well. There is no syntax for IPv6 hosts, so those are named by scheme.
 */
export function formTargetOf(uri: string): string {
  const url = new URL(uri)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return url.protocol
  return url.hostname.startsWith('[') ? url.protocol : url.origin
}

/** Where the browser is sent, as a person reads it: host and port, or the scheme of an application. */
export function placeOf(uri: string): string {
  const url = new URL(uri)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.host : `${url.protocol}//${url.host}`
}

/** The way back to the client with what it is told; whatever query it registered stays. */
export function withAnswer(uri: string, answer: Record<string, string | null | undefined>): string {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(answer)) {
    if (value !== undefined && value !== null) url.searchParams.set(name, value)
  }
  return url.href
}

function parse(uri: string): URL | undefined {
  try {
    return new URL(uri)
  } catch {
    return undefined
  }
}
