import { lookup as lookUpName } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'
import { STATUS_CODES } from 'node:http'
import { Agent, request } from 'undici'
import type { FetchOptions, FetchedPage, Pages, YouTubeAccess } from '../core/outside.ts'
import { Failure } from '../core/failure.ts'
import { bareHost, isPublicAddress, literalAddress, parseAllowedPlaces } from './address.ts'
import type { AllowedPlaces } from './address.ts'
import { CookieJar } from './pages-cookies.ts'
import { Deadline } from './pages-deadline.ts'
import { readBody } from './pages-body.ts'

export interface PagesOptions {
  /** Hosts (`host`, `host:port`), addresses or CIDR ranges that may be fetched although they are not public. */
  allow?: readonly string[]
  userAgent?: string
  /** Sent as Accept-Language. */
  language?: string
  /** Carried along for whoever asks YouTube. */
  youtube?: YouTubeAccess
  /** Stands in for DNS in tests. */
  lookUp?: (host: string) => Promise<LookupAddress[]>
}

const MAX_REDIRECTS = 5
const MAX_URL_LENGTH = 8192
const DEFAULT_DEADLINE_MS = 30_000
const DEFAULT_MAX_BYTES = 32 * 1024 * 1024
const DEFAULT_ACCEPT =
  'text/html,application/xhtml+xml,application/pdf,application/epub+zip,text/markdown,text/plain;q=0.9,*/*;q=0.5'
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * Pages of the open web, by HTTP GET, or POST where there is something to send. Each hop is checked by itself: only http and https, no user name in the address,
 * ports 80 and 443, and only public unicast addresses, of which every answer of the name server must be one; the
 * connection then goes to just the addresses that were checked. Places named in `allow` are exempt.
 */
export function createPages(options: PagesOptions = {}): Pages {
  const allowed = parseAllowedPlaces(options.allow ?? [])
  const lookUp = options.lookUp ?? ((host: string) => lookUpName(host, { all: true, verbatim: true }))

  return {
    ...(options.youtube && { youtube: options.youtube }),
    async fetch(url, { signal, maxBytes, deadlineMs, accept, headers, json }: FetchOptions = {}) {
      const deadline = new Deadline(deadlineMs ?? DEFAULT_DEADLINE_MS, signal)
      try {
        return await follow(url, {
          allowed,
          lookUp,
          deadline,
          maxBytes: maxBytes ?? DEFAULT_MAX_BYTES,
          headers: {
            'user-agent': options.userAgent ?? 'Mozilla/5.0 (compatible; Commonplace)',
            accept: accept ?? DEFAULT_ACCEPT,
            'accept-language': options.language ?? 'en, *;q=0.5',
            'accept-encoding': 'gzip, deflate, br',
            ...headers,
            ...(json !== undefined && { 'content-type': 'application/json' }),
          },
          ...(json !== undefined && { body: JSON.stringify(json) }),
        })
      } catch (error) {
        throw explain(error, deadline)
      } finally {
        deadline.end()
      }
    },
  }
}

interface Journey {
  allowed: AllowedPlaces
  lookUp: (host: string) => Promise<LookupAddress[]>
  deadline: Deadline
  maxBytes: number
  headers: Record<string, string>
  /** What is sent, by POST. */
  body?: string
}

async function follow(start: string, journey: Journey): Promise<FetchedPage> {
  const jar = new CookieJar()
  let url = parseUrl(start)
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await takeHop(url, journey, jar)
    if (!(answer instanceof URL)) return answer
    url = answer
  }
  throw new Failure('too_many_redirects', `The page sent us on more than ${MAX_REDIRECTS} times.`, {
    hint: 'Open the address in a browser and give the address it ends at. A page that needs cookies may do this too: save it from the browser and give the file.',
  })
}

/** One request: the page, or the address it sends on to. */
async function takeHop(url: URL, journey: Journey, jar: CookieJar): Promise<FetchedPage | URL> {
  const { deadline } = journey
  const addresses = await deadline.race(checkedAddresses(url, journey))
  const dispatcher = new Agent({
    connections: 1,
    pipelining: 0,
    maxHeaderSize: 64 * 1024,
    headersTimeout: deadline.ms,
    bodyTimeout: deadline.ms,
    connect: {
      timeout: deadline.ms,
      // Pinned: undici asks here instead of the name server, so that what was checked is what is connected to.
      lookup: (_host, { all }, answer) => {
        if (all) answer(null, addresses)
        else answer(null, addresses[0]?.address ?? '', addresses[0]?.family)
      },
    },
  })
  try {
    const cookie = jar.headerFor(url)
    const response = await request(url, {
      dispatcher,
      ...(journey.body === undefined ? { method: 'GET' } : { method: 'POST', body: journey.body }),
      headers: { ...journey.headers, ...(cookie && { cookie }) },
      signal: deadline.signal,
    })
    // Whoever destroys the dispatcher below makes the body end with an error that nobody waits for any more.
    response.body.on('error', () => {})
    jar.keep(url, response.headers['set-cookie'])
    const status = response.statusCode
    if (REDIRECTS.has(status)) {
      // What is sent is meant for the place it was sent to, and for no other.
      if (journey.body !== undefined) throw refusal(status, plainHeaders(response.headers))
      return nextUrl(response.headers['location'], url)
    }
    const headers = plainHeaders(response.headers)
    if (status < 200 || status > 299) throw refusal(status, headers)
    const bytes = await readBody(response.body, headers, journey.maxBytes)
    return { url: url.href, status, headers, bytes }
  } finally {
    await dispatcher.destroy()
  }
}

function parseUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL_LENGTH)
    throw invalidUrl('The address is too long.', 'Give the page’s own address.')
  let url
  try {
    url = base ? new URL(text, base) : new URL(text.trim())
  } catch (cause) {
    throw invalidUrl(
      'That is not a web address.',
      'Give the full address, starting with https:// or http://.',
      cause,
    )
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalidUrl(
      `Addresses that start with ${url.protocol} cannot be fetched.`,
      'Give an address that starts with https:// or http://, or the file itself.',
    )
  }
  if (url.username || url.password) {
    throw invalidUrl(
      'The address holds a user name or a password.',
      'Take out the part before the @; a page behind a login can be saved from the browser and given as a file.',
    )
  }
  return url
}

function invalidUrl(message: string, hint: string, cause?: unknown): Failure {
  return new Failure('invalid_url', message, { hint, ...(cause !== undefined && { cause }) })
}

function nextUrl(location: string | string[] | undefined, from: URL): URL {
  const target = Array.isArray(location) ? location[0] : location
  if (!target) {
    throw new Failure('fetch_failed', 'The page sends on without saying where to.', {
      hint: 'Open the address in a browser and give the address it ends at.',
    })
  }
  const url = parseUrl(target, from)
  // A fragment stays with the reader over a redirect that names none (RFC 9110, 10.2.2).
  if (!url.hash) url.hash = from.hash
  return url
}

/** The addresses to connect to, after the checks; throws `private_address` or `fetch_failed`. */
async function checkedAddresses(url: URL, { allowed, lookUp }: Journey): Promise<LookupAddress[]> {
  const host = bareHost(url.hostname)
  const port = url.port ? Number(url.port) : url.protocol === 'https:' ? 443 : 80
  const isNamed = allowed.allows(host, port)
  const mayReach = (address: string) => isPublicAddress(address) || allowed.allows(address, port)

  const literal = literalAddress(host)
  if (literal !== undefined) {
    if (!isNamed && !mayReach(literal)) throw privateAddress()
    checkPort(port, isNamed || allowed.allows(literal, port))
    return [{ address: literal, family: literal.includes(':') ? 6 : 4 }]
  }
  let answers
  try {
    answers = await lookUp(host)
  } catch (cause) {
    throw new Failure('fetch_failed', 'No server of that name was found.', {
      hint: 'Check the spelling of the address and the network connection.',
      cause,
    })
  }
  if (answers.length === 0) {
    throw new Failure('fetch_failed', 'The server’s name has no address.', {
      hint: 'Check the spelling of the address.',
    })
  }
  // One private answer spoils all: it is how a name is made to point at two places (DNS rebinding).
  if (!isNamed && !answers.every(({ address }) => mayReach(address))) throw privateAddress()
  checkPort(port, isNamed || answers.every(({ address }) => allowed.allows(address, port)))
  return answers
}

function checkPort(port: number, isAllowed: boolean): void {
  if (port === 80 || port === 443 || isAllowed) return
  throw new Failure('private_address', `Port ${port} is not one of the web’s own ports (80 and 443).`, {
    hint: 'Give an address without a port, or allow this host and port in the configuration.',
  })
}

function privateAddress(): Failure {
  return new Failure('private_address', 'The address leads into a private or reserved network.', {
    hint: 'Only pages of the public web are fetched. Save the page and give the file, or allow this host in the configuration.',
  })
}

function refusal(status: number, headers: Record<string, string>): Failure {
  const details = { status }
  const name = STATUS_CODES[status] ? `${status} ${STATUS_CODES[status]}` : String(status)
  if (status === 404 || status === 410) {
    return new Failure('page_not_found', `The server has no page at this address (${name}).`, {
      hint: 'Check the address; if the page has moved, give the new one.',
      details,
    })
  }
  const retryAfterSeconds = secondsOf(headers['retry-after'])
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  if (status === 429) {
    return new Failure('page_refused', `The server asks us to wait (${name}).`, {
      hint: 'Try again later, or save the page from the browser and give the file.',
      details,
      ...wait,
    })
  }
  if (status >= 400 && status < 500) {
    return new Failure('page_refused', `The server refuses to show this page (${name}).`, {
      hint: 'Open the page in a browser, save it and give the file.',
      details,
      ...wait,
    })
  }
  return new Failure('fetch_failed', `The server answered with ${name}.`, {
    hint: 'Try again later; if it goes on, save the page from a browser and give the file.',
    details,
    ...wait,
  })
}

/** Retry-After in seconds, from either of its forms (RFC 9110, 10.2.3), at most a day. */
function secondsOf(retryAfter: string | undefined): number | undefined {
  if (!retryAfter) return undefined
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(Math.ceil(seconds), 86_400) : undefined
}

function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const plain: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return plain
}

/** Whatever went wrong as one of our failures. */
function explain(error: unknown, deadline: Deadline): Failure {
  if (deadline.hasPassed) {
    return new Failure(
      'timed_out',
      `The page did not arrive within ${Math.ceil(deadline.ms / 1000)} seconds.`,
      {
        hint: 'Try again later, or save the page from the browser and give the file.',
      },
    )
  }
  if (deadline.signal.aborted) {
    return new Failure('cancelled', 'Fetching the page was cancelled.', {
      hint: 'Ask again if it is still wanted.',
    })
  }
  if (error instanceof Failure) return error
  const code = codeOf(error)
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL/.test(code)) {
    return new Failure('fetch_failed', 'The server’s certificate could not be verified.', {
      hint: 'The page may still open in a browser: save it there and give the file.',
      cause: error,
    })
  }
  return new Failure(
    'fetch_failed',
    code === 'ECONNREFUSED'
      ? 'The server accepts no connections.'
      : 'The connection broke before the page had arrived.',
    { hint: 'Check the address and the network connection, and try again later.', cause: error },
  )
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return ''
}
