import { parseArgs } from 'node:util'
import { DEFINITIONS, PROMPTABLE, READABLE } from 'commonplace:definitions'
import type { LocalEngine } from '../../app/local-engine.ts'
import { openFile, type OpenFile } from '../../app/open-file.ts'
import { libraryFolder } from '../../config/library-folder.ts'
import { createApp } from '../../mcp/app.ts'
import { serveStdio } from '../../mcp/protocol/stdio.ts'
import { Failure } from '../../core/failure.ts'
import { EXIT, exitCodeOf } from '../exit-code.ts'
import { VERSION } from '../../core/version.ts'

const FAMILIES: readonly string[] = [...new Set([...DEFINITIONS, ...READABLE].map(({ family }) => family))]

/** How long after the start background work begins: the first answers come before it. */
const WORK_AFTER_MS = 500
/** When it is tried again where the library could not be opened for it. */
const WORK_AGAIN_MS = 30_000

/**
 * `commonplace mcp`: serves the library to one assistant over standard input and output, or to any number over HTTP on this
 * machine alone. Only what the first answers need is loaded at the start. Resolves to the exit code.
 */
export async function run(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv)
  if (typeof options === 'string') {
    process.stderr.write(
      `${options}\nUsage: commonplace mcp [--tools ${FAMILIES.join(',')}] [--library DIR] [--read-only] [--http PORT]\n`,
    )
    return EXIT.invalid
  }
  const { readOnly, families, http } = options
  const open = () => openFile(libraryFolder(process.env, options.library), { readOnly })
  let opened: OpenFile
  try {
    opened = open()
  } catch (error) {
    return reportFailure(error)
  }
  let engine: Promise<LocalEngine> | undefined
  const load = () =>
    (engine ??= openEngine().catch((error: unknown) => {
      // A lock or a full disk passes: the next call tries again.
      engine = undefined
      throw error
    }))
  const openEngine = async (): Promise<LocalEngine> => {
    const { openLocalEngine } = await import('../../app/local-engine.ts')
    if (!opened.database.isOpen) opened = open()
    return openLocalEngine(opened, process.env, log)
  }
  if (opened.stale) {
    try {
      await load()
    } catch (error) {
      return reportFailure(error)
    }
  }
  const app = createApp({
    version: VERSION,
    definitions: DEFINITIONS.filter(
      ({ family, places, effect }) =>
        (places?.includes('local') ?? true) &&
        (families?.has(family) ?? true) &&
        (!readOnly || effect === 'read'),
    ),
    resources: READABLE.filter(({ family }) => families?.has(family) ?? true),
    prompts: PROMPTABLE,
    engine: load,
    onError: log,
  })
  const workAfter = (ms: number): void => {
    const begin = () =>
      load().then(
        ({ local }) => void local.work(),
        (error: unknown) => {
          log(error)
          workAfter(WORK_AGAIN_MS)
        },
      )
    setTimeout(() => void begin(), ms).unref()
  }
  if (!readOnly) workAfter(WORK_AFTER_MS)
  await (http === undefined ? serveStdio(app, { onError: log }) : serveOnLoopback(app, http))
  const loaded = await engine?.catch(() => undefined)
  if (loaded) await loaded.local.close()
  else if (opened.database.isOpen) opened.database.close()
  return EXIT.ok
}

async function serveOnLoopback(app: Parameters<typeof serveStdio>[0], port: number): Promise<void> {
  const { serveHttp } = await import('../../mcp/protocol/http.ts')
  const server = await serveHttp(app, { port, onError: log })
  process.stderr.write(`Serving MCP on ${server.url}\n`)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await server.close()
}

interface Options {
  library: string | undefined
  readOnly: boolean
  families: ReadonlySet<string> | undefined
  http: number | undefined
}

/** The flags, or a sentence that says which is wrong. */
function readOptions(argv: readonly string[]): Options | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        tools: { type: 'string' },
        library: { type: 'string' },
        'read-only': { type: 'boolean' },
        http: { type: 'string' },
      },
    })
    const families = values.tools
      ?.split(',')
      .map((name) => name.trim())
      .filter(Boolean)
    const unknown = families?.find((name) => !FAMILIES.includes(name))
    if (unknown !== undefined) return `--tools: there is no toolset ${JSON.stringify(unknown)}.`
    const http = values.http === undefined ? undefined : Number(values.http)
    if (http !== undefined && !(Number.isInteger(http) && http >= 0 && http < 65_536))
      return '--http takes a port number.'
    return {
      library: values.library,
      readOnly: values['read-only'] === true,
      families: families && new Set(families),
      http,
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function reportFailure(error: unknown): Promise<number> {
  const { toFailure } = await import('../../core/to-failure.ts')
  const failure = toFailure(error)
  process.stderr.write(`${failure.message}\n${failure.hint}\n`)
  if (failure.code === 'internal_error') log(error)
  return exitCodeOf(failure)
}

/** To standard error: standard output belongs to the protocol. What was expected is a line, what was not has its stack. */
function log(error: unknown): void {
  const expected = error instanceof Failure && error.code !== 'internal_error'
  const text = expected || !(error instanceof Error) ? String(error) : (error.stack ?? error.message)
  process.stderr.write(`${text}\n`)
}
