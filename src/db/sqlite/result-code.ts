/** Primary result codes that are acted on: https://sqlite.org/rescode.html */
export const Result = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const

/** How SQLite words them (`sqlite3_errstr`); the binding gives the words alone where reading rows fails. */
const WORDED: readonly [string, number][] = [
  ['database is locked', Result.busy],
  ['database table is locked', Result.locked],
  ['attempt to write a readonly database', Result.readOnly],
  ['disk I/O error', Result.ioError],
  ['database disk image is malformed', Result.corrupt],
  ['fts5: corruption', Result.corrupt],
  ['database or disk is full', Result.full],
  ['unable to open database file', Result.cannotOpen],
  ['file is not a database', Result.notADatabase],
]

/** SQLite's primary result code of an error, or undefined where it is none of SQLite's or an unknown one. */
export function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if ('sqliteCode' in error && typeof error.sqliteCode === 'number') return error.sqliteCode & 0xff
  if (!('code' in error) || error.code !== 'ERR_SQLITE_ERROR') return undefined
  return WORDED.find(([words]) => error.message.startsWith(words))?.[1]
}
