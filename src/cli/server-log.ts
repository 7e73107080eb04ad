import { pino, type DestinationStream } from 'pino'
import { Failure } from '../core/failure.ts'
import { requestOfError } from '../http/request-id.ts'

/** What may stand in a line beside its message. What a reader reads, writes or asks for is not among it. */
export interface LogFields {
  /** Where the server is found, its port and the address it listens on. */
  url?: string
  port?: number
  host?: string
  /** The name of the request, as in `X-Request-Id`. */
  request?: string
  method?: string
  /** One of our own paths. */
  path?: string
  status?: number
  ms?: number
  /** Whether the caller went before the end of the answer. */
  unfinished?: boolean
}

/** A log for programs: one JSON object a line. */
export interface ServerLog {
  info(msg: string, fields?: LogFields): void
  /** What is of interest only where a fault is looked for. */
  debug(msg: string, fields?: LogFields): void
  /** `where` is the part of the program that it happened in. */
  error(error: unknown, where: string): void
}

export interface ServerLogOptions {
  /** Standard error, unless said. */
  destination?: DestinationStream
  /** Tells more, and adds messages of errors, which may hold what a reader wrote. */
  debug?: boolean
}

export function createServerLog({ destination, debug = false }: ServerLogOptions = {}): ServerLog {
  const log = pino(
    {
      base: null,
      level: debug ? 'debug' : 'info',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    destination ?? standardError(),
  )
  return {
    info: (msg, fields = {}) => log.info(fields, msg),
    debug: (msg, fields = {}) => log.debug(fields, msg),
    error(error, where) {
      const request = requestOfError(error)
      log.error({ where, ...(request !== undefined && { request }), ...traceOf(error, debug) }, 'failed')
    },
  }
}

function standardError(): DestinationStream {
  const stream = pino.destination({ dest: 2, sync: true })
  // Whoever reads the log may go away: readers are still served.
  stream.on('error', () => {})
  return stream
}

/** What kind of error it is and where it came from; its words may be the reader's own. */
function traceOf(error: unknown, debug: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const code = 'code' in error ? codeOf(error.code) : undefined
  const { cause } = error
  return {
    error: error.name,
    ...(code !== undefined && { code }),
    ...(error instanceof Failure && { kind: error.kind }),
    ...('sqliteCode' in error && { sqliteCode: error.sqliteCode }),
    at: framesOf(error),
    ...(debug && { message: error.message }),
    ...(cause !== undefined && { cause: traceOf(cause, debug) }),
  }
}

/** Ours, Node's, SQLite's and PostgreSQL's codes are one word; what is more is no code. */
const codeOf = (code: unknown): string | undefined =>
  /^\w{1,64}$/.test(String(code)) ? String(code) : undefined

/** The first frames of the stack, without the message that stands before them. */
const framesOf = ({ stack = '', message }: Error): string[] =>
  stack
    .replace(message, '')
    .split('\n')
    .filter((text) => /^\s+at /.test(text))
    .slice(0, 6)
    .map((text) => text.trim().slice(3))
