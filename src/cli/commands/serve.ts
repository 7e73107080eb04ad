import { openServer, type OpenServer } from '../../app/open-server.ts'
import { explainServerConfig } from '../../config/explain-server.ts'
import { readServerConfig, type ServerConfig } from '../../config/server.ts'
import { Failure } from '../../core/failure.ts'
import { createHttpApp, type HttpApp } from '../../http/app.ts'
import { listen, type Listening } from '../../http/listen.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { createJsonLog, type JsonLog } from '../json-log.ts'
import { STYLE } from '../print.ts'
import { VERSION } from '../version.ts'

/** How long unfinished answers may take once the server is told to end. */
const GRACE_MS = 3_000

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
  const log = createJsonLog({
    write: (line) => void process.stderr.write(line),
    debug: config.local.debug,
  })
  // A promise that nobody waits for must not end what serves everybody else.
  process.on('unhandledRejection', (error) => log.error(error, 'unhandled'))
  const listening = await open(config)
  const base = config.publicUrl ?? `http://localhost:${listening.port}`
  let server: OpenServer | undefined
  try {
    server = await openServer(config, { base, onError: (error, where) => log.error(error, where) })
    const app = createHttpApp({
      server,
      version: VERSION,
      hosts: config.hosts,
      origins: config.origins,
      proxies: config.proxies,
      onError: (error, where) => log.error(error, where),
    })
    listening.serve(config.log === 'requests' ? withRequests(app, log) : app)
    server.work()
    log.info('serving', { url: base, port: listening.port, host: config.host })
    out.line(`Commonplace is at ${base}`)
    out.line(`Assistants connect to ${base}/mcp`)
    if (server.first.link !== undefined) out.line(`Sign in, once and within a day, at ${server.first.link}`)
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    log.info('ending')
  } finally {
    await listening.close(GRACE_MS)
    await server?.close()
  }
  log.info('ended')
  return EXIT.ok
}

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

/** One line a request: no query, no address, nothing that was sent. */
function withRequests(app: HttpApp, log: JsonLog): HttpApp {
  return (req, res) => {
    const begun = performance.now()
    res.once('close', () => {
      const path = (req.url ?? '').replace(/\?.*$/s, '')
      const known =
        /^\/(mcp|api(\/tools\/\w+|\/openapi\.json)?|healthz|readyz|oauth\/(authorize|token|register|revoke))?$/
      log.info('request', {
        method: req.method,
        path: known.test(path) ? path : 'other',
        status: res.statusCode,
        ms: Math.round(performance.now() - begun),
        ...(!res.writableFinished && { unfinished: true }),
      })
    })
    app(req, res)
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
