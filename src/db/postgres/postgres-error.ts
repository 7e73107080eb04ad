import type { Trouble } from '../trouble.ts'

/** What PostgreSQL, or the way to it, answered instead of rows. */
export class PostgresError extends Error {
  readonly trouble: Trouble | undefined
  /** What to tell whoever set the database up, in words of ours. */
  readonly told: { message: string; hint: string } | undefined

  constructor(cause: unknown, trouble = troubleOf(cause), told?: PostgresError['told']) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'PostgresError'
    this.trouble = trouble
    this.told = told
  }
}

/** Whether a row was refused since another has a value that only one may have: two wrote at once (SQLSTATE 23505). */
export const isTaken = (error: unknown): boolean =>
  error instanceof PostgresError &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  error.cause.code === '23505'

/** By SQLSTATE, or by its class, the first two letters: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const BY_STATE: Readonly<Record<string, Trouble>> = {
  '08': 'unreachable',
  // Too many connections, and memory or other resources at an end.
  '53': 'unreachable',
  '53100': 'disk_full',
  // Shut down, crashed, starting up; connections ended by whoever runs it.
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  '57P05': 'unreachable',
  // A process that stood still in the middle of a change.
  '25P03': 'unreachable',
  '25006': 'read_only',
  '40001': 'locked',
  '40P01': 'locked',
  '55P03': 'locked',
  '58030': 'disk_full',
  XX001: 'damaged',
  XX002: 'damaged',
  '28': 'refused',
  '3D': 'refused',
  '42501': 'refused',
}

function troubleOf(error: unknown): Trouble | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error ? String(error.code) : ''
  if (/^[0-9A-Z]{5}$/.test(code) && 'severity' in error) return BY_STATE[code] ?? BY_STATE[code.slice(0, 2)]
  // What did not come from the server was said by the socket or by the driver: there is no connection.
  return 'unreachable'
}
