import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { collectDefaultMetrics, Counter, Gauge, Registry, type Metric } from 'prom-client'
import type { ServerMeasures } from '../app/open-server.ts'
import { SECONDS, type Durations, type Tally } from './tally.ts'

export interface MetricsParts {
  tally: Tally
  version: string
  measure(): Promise<ServerMeasures>
}

/** What `GET /metrics` gives, in the text format of Prometheus. */
export interface Metrics {
  contentType: string
  text(): Promise<string>
}

export function createMetrics({ tally, version, measure }: MetricsParts): Metrics {
  const registry = new Registry()
  const keep = <M extends Metric>(metric: M): M => {
    registry.registerMetric(metric)
    return metric
  }
  collectDefaultMetrics({ register: registry })
  keep(
    new Gauge({
      name: 'commonplace_info',
      help: 'What runs here; always 1',
      labelNames: ['version'],
      registers: [],
    }),
  ).set({ version }, 1)

  keep(
    new Counter({
      name: 'commonplace_http_requests_total',
      help: 'Requests answered, by kind of address and status',
      labelNames: ['route', 'status'],
      registers: [],
      collect() {
        this.reset()
        for (const { route, status, count } of tally.requests()) this.inc({ route, status }, count)
      },
    }),
  )
  keep(
    new Counter({
      name: 'commonplace_tool_calls_total',
      help: 'Calls over MCP and the HTTP API, by tool (or resource, prompt, completion) and outcome: ok, or the code of the failure',
      labelNames: ['tool', 'outcome'],
      registers: [],
      collect() {
        this.reset()
        for (const { tool, outcome, count } of tally.calls()) this.inc({ tool, outcome }, count)
      },
    }),
  )
  keep(
    new Counter({
      name: 'commonplace_rate_limited_total',
      help: 'What was refused because there was too much of it: tool calls of a connection, or other requests',
      labelNames: ['what'],
      registers: [],
      collect() {
        this.reset()
        const { calls, requests } = tally.rateLimited()
        this.inc({ what: 'calls' }, calls)
        this.inc({ what: 'requests' }, requests)
      },
    }),
  )
  keep(
    new Counter({
      name: 'commonplace_sign_ins_total',
      help: 'Attempts to sign in, by whether a session was made',
      labelNames: ['outcome'],
      registers: [],
      collect() {
        this.reset()
        const { made, refused } = tally.signIns()
        this.inc({ outcome: 'ok' }, made)
        this.inc({ outcome: 'refused' }, refused)
      },
    }),
  )

  const gauge = (name: string, help: string): Gauge => keep(new Gauge({ name, help, registers: [] }))
  const due = gauge('commonplace_libraries_due', 'Libraries that wait for their queued work to be done')
  const held = gauge('commonplace_libraries_worked_on', 'Libraries whose queued work this process does now')
  const age = gauge('commonplace_queue_age_seconds', 'How long the library that is due longest has waited')
  const pool = keep(
    new Gauge({
      name: 'commonplace_database_connections',
      help: 'Connections of this process to PostgreSQL, and callers that wait for one',
      labelNames: ['state'],
      registers: [],
    }),
  )
  keep(
    new Gauge({
      name: 'commonplace_open_libraries',
      help: 'Libraries that this process has open',
      registers: [],
      async collect() {
        const { openLibraries, workedOn, due: waiting, oldestMs, database } = await measure()
        this.set(openLibraries)
        held.set(workedOn)
        due.set(waiting)
        age.set(oldestMs / 1_000)
        if (database) for (const [state, count] of Object.entries(database)) pool.set({ state }, count)
      },
    }),
  )
  return {
    contentType: registry.contentType,
    text: async () =>
      (await registry.metrics()) +
      histogram(
        'commonplace_http_request_seconds',
        'Time from the head of a request to the end of its answer, by kind of address',
        'route',
        tally.requestDurations(),
      ) +
      histogram(
        'commonplace_tool_call_seconds',
        'Time that tool calls took, by tool',
        'tool',
        tally.callDurations(),
      ),
  }
}

/** A histogram in the text format. It is counted in our own way, which costs a call next to nothing. */
function histogram(
  name: string,
  help: string,
  label: string,
  all: Iterable<[value: string, durations: Durations]>,
): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]
  for (const [value, { counts, sumMs }] of all) {
    const labelled = `${label}="${value}"`
    let upTo = 0
    for (const [at, count] of counts.entries()) {
      upTo += count
      lines.push(`${name}_bucket{le="${SECONDS[at] ?? '+Inf'}",${labelled}} ${upTo}`)
    }
    lines.push(`${name}_sum{${labelled}} ${sumMs / 1_000}`, `${name}_count{${labelled}} ${upTo}`)
  }
  return `\n${lines.join('\n')}\n`
}

/** Answers `GET /metrics` for whoever shows the token. Without one there is no such address. */
export function createMetricsEndpoint(
  { contentType, text }: Metrics,
  token: string,
  onError: (error: unknown, where: string) => void,
): (req: IncomingMessage, res: ServerResponse) => void {
  const expected = digest(`Bearer ${token}`)
  const refuse = (res: ServerResponse, status: number, headers: Record<string, string> = {}): void =>
    void res.writeHead(status, { 'content-length': 0, 'cache-control': 'no-store', ...headers }).end()
  return (req, res) => {
    req.resume()
    if (!timingSafeEqual(digest(req.headers.authorization ?? ''), expected))
      return refuse(res, 401, { 'www-authenticate': 'Bearer realm="metrics"' })
    if (req.method !== 'GET' && req.method !== 'HEAD') return refuse(res, 405, { allow: 'GET, HEAD' })
    text()
      .then((body) => {
        const headers = { 'content-type': contentType, 'cache-control': 'no-store' }
        return res.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
      })
      .catch((error: unknown) => {
        onError(error, 'metrics')
        if (!res.headersSent) refuse(res, 500)
      })
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
