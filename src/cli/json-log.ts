import { Failure } from '../core/failure.ts'

/** A log for programs: one JSON object a line. What a reader reads or writes never stands in it. */
export interface JsonLog {
  info(msg: string, fields?: Record<string, unknown>): void
  /** `where` is the part of the program that it happened in. */
  error(error: unknown, where: string): void
}

export interface JsonLogOptions {
  write(line: string): void
  /** Adds messages of errors, which may hold what a reader wrote. */
  debug?: boolean
  now?: () => Date
}

export function createJsonLog({ write, debug = false, now = () => new Date() }: JsonLogOptions): JsonLog {
  const line = (level: string, msg: string, fields: Record<string, unknown>): void =>
    write(`${JSON.stringify({ time: now().toISOString(), level, msg, ...fields })}\n`)
  return {
    info: (msg, fields = {}) => line('info', msg, fields),
    error: (error, where) => line('error', 'failed', { where, ...traceOf(error, debug) }),
  }
}

/** What kind of error it is and where it came from; its words may be the reader's own. */
function traceOf(error: unknown, debug: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error }
  const code =
    error instanceof Failure || 'code' in error ? String((error as { code?: unknown }).code) : undefined
  const { cause } = error
  return {
    error: error.name,
    ...(code !== undefined && { code }),
    ...('sqliteCode' in error && { sqliteCode: error.sqliteCode }),
    at: framesOf(error),
    ...(debug && { message: error.message }),
    ...(cause !== undefined && { cause: traceOf(cause, debug) }),
  }
}

/** The first frames of the stack, without the message that stands before them. */
const framesOf = ({ stack = '' }: Error): string[] =>
  stack
    .split('\n')
    .filter((text) => /^\s+at /.test(text))
    .slice(0, 6)
    .map((text) => text.trim().slice(3))
