import { setTimeout } from 'node:timers/promises'
import { openServer, type OpenServer } from '../../app/open-server.ts'
import type { LibraryWork } from '../../app/work-on-libraries.ts'
import { explainServerConfig } from '../../config/explain-server.ts'
import { readServerConfig, type ServerConfig } from '../../config/server.ts'
import { Failure } from '../../core/failure.ts'
import { createHttpApp, type HttpApp } from '../../http/app.ts'
import { listen, type Listening } from '../../http/listen.ts'
import { createMetrics, createMetricsEndpoint } from '../../http/metrics.ts'
import { observe, type Answered } from '../../http/observe.ts'
import { Tally } from '../../http/tally.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { STYLE } from '../print.ts'
import { createServerLog } from '../server-log.ts'
import { VERSION } from '../../core/version.ts'

/** How long a server behind a proxy still answers once it is told to end, so that the proxy can learn of it. */
const DRAIN_MS = 2_000
/** How long unfinished answers may take after that. */
const GRACE_MS = 3_000
/** How long all of it may take. */
const END_MS = 10_000

export const serve = defineCommand({
  name: 'serve',
  usage: ['[--port PORT] [--check-config]'],
  about:
    'Serves the libraries of many readers over HTTP: MCP for assistants that sign in by OAuth, and an HTTP API. Without configuration there is one reader, whose library is your own, and a link to sign in is printed at the first start. It is configured by environment variables; docs/self-hosting.md lists them. The log on standard error is one JSON object a line.',
  flags: [
    { name: 'port', value: 'PORT', help: 'Listen on this port, before COMMONPLACE_PORT (0: any free one)' },
    { name: 'check-config', help: 'Say what the configuration is and where it comes from, and end' },
  ],
  examples: [
    'commonplace serve',
    'COMMONPLACE_URL=https://books.example.org commonplace serve --check-config',
  ],
  words: { most: 0 },
  endsWithinMs: END_MS,
  async run(context) {
    const { args, env, readOnly } = context
    const flags = { library: args.one('library'), port: args.one('port') }
    const config = readServerConfig(env, flags)
    if (args.on('check-config')) return explain(context, config, flags)
    if (readOnly) {
      throw new Failure('read_only', 'A server cannot be opened for reading only.', {
        hint: 'Leave --read-only out; what an assistant may do is chosen when it is connected.',
      })
    }
    return await run(context, config)
  },
})

async function run({ out, signal }: Context, config: ServerConfig): Promise<number> {
  const log = createServerLog({ debug: config.local.debug })
  const onError = (error: unknown, where: string): void => log.error(error, where)
  // A promise that nobody waits for must not end what serves everybody else.
  process.on('unhandledRejection', (error) => onError(error, 'unhandled'))
  const listening = await open(config)
  const base = config.publicUrl ?? `http://localhost:${listening.port}`
  let server: OpenServer | undefined
  let work: LibraryWork | undefined
  try {
    const opened = await openServer(config, { base, onError })
    server = opened
    const tally = new Tally()
    const app = createHttpApp({
      // Whoever shares requests out among several servers is told first that this one is about to end.
      server: { ...opened, ready: async () => !signal.aborted && (await opened.ready()) },
      version: VERSION,
      hosts: config.hosts,
      origins: config.origins,
      proxies: config.proxies,
      uploadBytes: config.uploadBytes,
      ending: signal,
      tally,
      onError,
    })
    const tell = config.log === 'requests' ? (answered: Answered) => log.info('request', answered) : undefined
    listening.serve(observe(withMetrics(app, opened, tally, config, onError), tally, tell))
    work = opened.work()
    log.info('serving', { url: base, port: listening.port, host: config.host })
    out.line(`Commonplace is at ${base}`)
    out.line(`Assistants connect to ${base}/mcp`)
    if (opened.first.link !== undefined) out.line(`Sign in, once and within a day, at ${opened.first.link}`)
    await aborted(signal)
    log.info('ending')
    if (config.proxies > 0) await setTimeout(DRAIN_MS)
  } finally {
    await Promise.all([listening.close(GRACE_MS), work?.stop()])
    await server?.close()
  }
  log.info('ended')
  return EXIT.ok
}

/** Adds `/metrics` where there is a token for it. */
function withMetrics(
  app: HttpApp,
  server: OpenServer,
  tally: Tally,
  { metricsToken }: ServerConfig,
  onError: (error: unknown, where: string) => void,
): HttpApp {
  if (metricsToken === undefined) return app
  const registry = createMetrics({ tally, version: VERSION, measure: server.measure })
  const metrics = createMetricsEndpoint(registry, metricsToken, onError)
  return (req, res) => (/^\/metrics(\?|$)/.test(req.url ?? '') ? metrics(req, res) : app(req, res))
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

async function open({ host, port }: ServerConfig): Promise<Listening> {
  try {
    return await listen(host, port)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const why =
      code === 'EADDRINUSE'
        ? 'another program has it'
        : code === 'EACCES'
          ? 'this user may not'
          : 'this machine has no such address'
    throw new Failure('unavailable', `Cannot listen on ${host}, port ${port}: ${why}.`, {
      hint: 'Give another one with --port or COMMONPLACE_PORT, or another address with COMMONPLACE_HOST.',
      cause: error,
    })
  }
}

function explain(
  { out, err, env, json }: Context,
  config: ServerConfig,
  flags: { library: string | undefined; port: string | undefined },
): number {
  const { settings, warnings } = explainServerConfig(config, env, flags)
  if (json) {
    out.json({ settings, warnings })
    return EXIT.ok
  }
  out.table(
    [
      { title: 'VARIABLE' },
      { title: 'VALUE', flexible: true, least: 20 },
      { title: 'FROM' },
      { title: 'WHAT IT IS', spare: true },
    ],
    settings.map(({ name, value, from, about }) => [name, value, from, { text: about, style: STYLE.dim }]),
  )
  for (const warning of warnings) err.line({ text: warning, style: STYLE.warning })
  return EXIT.ok
}
