/** Upper ends of the classes of durations, in seconds; one more class holds what took longer. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const
const MILLISECONDS = SECONDS.map((seconds) => seconds * 1_000)

/** How many took how long. */
export class Durations {
  /** By class, each without those before it. */
  readonly counts: number[] = Array.from({ length: SECONDS.length + 1 }, () => 0)
  sumMs = 0

  add(ms: number): void {
    let at = 0
    while (at < MILLISECONDS.length && ms > MILLISECONDS[at]!) at++
    this.counts[at]!++
    this.sumMs += ms
  }
}

/** Kinds of addresses. A closed list: what a caller makes up does not become a label. */
export type RouteKind =
  | 'mcp'
  | 'api_tool'
  | 'api'
  | 'oauth'
  | 'discovery'
  | 'sign_in'
  | 'page'
  | 'health'
  | 'other'

const KIND_OF_SEGMENT: Readonly<Record<string, RouteKind>> = {
  mcp: 'mcp',
  api: 'api',
  oauth: 'oauth',
  '.well-known': 'discovery',
  'sign-in': 'sign_in',
  'sign-up': 'page',
  'sign-out': 'page',
  consent: 'page',
  account: 'page',
  healthz: 'health',
  readyz: 'health',
  metrics: 'health',
}

/** What kind of address a request target is; a `POST` to `/` is MCP, another request for it a page. */
export function routeKindOf(method: string | undefined, target: string): RouteKind {
  if (target === '/mcp') return 'mcp'
  const path = /^[^?#]*/.exec(target)?.[0] ?? ''
  if (path === '/') return method === 'POST' ? 'mcp' : 'page'
  const [, first = '', second] = path.split('/', 3)
  const kind = Object.hasOwn(KIND_OF_SEGMENT, first) ? KIND_OF_SEGMENT[first] : undefined
  return kind === 'api' && second === 'tools' ? 'api_tool' : (kind ?? 'other')
}

interface Counted {
  /** By status or outcome. */
  counts: Map<string | number, number>
  durations: Durations
}

/** Counts what is answered. A count is an addition and a look into two small maps: nothing is made for it. */
export class Tally {
  readonly #requests = new Map<RouteKind, Counted>()
  readonly #calls = new Map<string, Counted>()
  #signIns = { made: 0, refused: 0 }

  request(route: RouteKind, status: number, ms: number): void {
    count(this.#requests, route, status, ms)
  }

  /** `outcome` is `ok`, or the code of the failure; `tool` one of ours. */
  call(tool: string, outcome: string, ms: number): void {
    count(this.#calls, tool, outcome, ms)
  }

  signIn(made: boolean): void {
    if (made) this.#signIns.made++
    else this.#signIns.refused++
  }

  *requests(): Iterable<{ route: RouteKind; status: number; count: number }> {
    for (const [route, { counts }] of this.#requests)
      for (const [status, count] of counts) yield { route, status: Number(status), count }
  }

  *calls(): Iterable<{ tool: string; outcome: string; count: number }> {
    for (const [tool, { counts }] of this.#calls)
      for (const [outcome, count] of counts) yield { tool, outcome: String(outcome), count }
  }

  *requestDurations(): Iterable<[string, Durations]> {
    for (const [route, { durations }] of this.#requests) yield [route, durations]
  }

  *callDurations(): Iterable<[string, Durations]> {
    for (const [tool, { durations }] of this.#calls) yield [tool, durations]
  }

  rateLimited(): { calls: number; requests: number } {
    const sum = (all: Iterable<Counted>, key: string | number): number => {
      let total = 0
      for (const { counts } of all) total += counts.get(key) ?? 0
      return total
    }
    // A refused call over the API is answered 429 as well; it is counted once.
    const api = this.#requests.get('api_tool')?.counts.get(429) ?? 0
    return {
      calls: sum(this.#calls.values(), 'rate_limited'),
      requests: sum(this.#requests.values(), 429) - api,
    }
  }

  signIns(): { made: number; refused: number } {
    return this.#signIns
  }
}

function count<K>(all: Map<K, Counted>, key: K, what: string | number, ms: number): void {
  let counted = all.get(key)
  if (!counted) all.set(key, (counted = { counts: new Map(), durations: new Durations() }))
  counted.counts.set(what, (counted.counts.get(what) ?? 0) + 1)
  counted.durations.add(ms)
}
