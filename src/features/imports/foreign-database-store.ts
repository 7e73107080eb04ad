import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { constants, DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { Failure } from '../../core/failure.ts'
import { damagedDatabase, type SqliteTable } from './sqlite-schema.ts'

/** A row of somebody else's database: text, numbers, or null for everything else. */
export type ForeignRow = Readonly<Record<string, string | number | null>>

export interface ForeignDatabase {
  /** All rows of a table with these columns, in the order in which they lie; a column that it has not is null. */
  rows(table: string, columns: readonly string[]): Generator<ForeignRow, void, undefined>
  close(): void
}

const MOST_ROWS = 2_000_000
const MOST_TEXT = 512 * 2 ** 20
const MOST_VALUE_BYTES = 16 * 2 ** 20

/**
 * Opens a copy of a foreign database for reading. It is trusted in nothing: only plain tables are read, each from one end to
 * the other, and views, functions, generated columns and everything else that could compute stays shut.
 *
 * Fails with `damaged_file` or `too_large`.
 */
export function openForeignDatabase(bytes: Uint8Array, tables: readonly SqliteTable[]): ForeignDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-import-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  let database: DatabaseSyncInstance
  try {
    const file = join(folder, 'copy.sqlite')
    writeFileSync(file, withoutLog(bytes), { mode: 0o600 })
    const url = pathToFileURL(file)
    url.searchParams.set('immutable', '1')
    database = new DatabaseSync(url, { readOnly: true })
  } catch (error) {
    remove()
    throw damagedDatabase(error)
  }
  const close = (): void => {
    database.close()
    remove()
  }
  try {
    database.exec('pragma trusted_schema = off; pragma cell_size_check = on; pragma mmap_size = 0')
    database.limits.length = MOST_VALUE_BYTES
  } catch (error) {
    close()
    throw damagedDatabase(error)
  }
  return { rows: (table, columns) => readRows(database, tables, table, columns), close }
}

/** The copy stands alone: what the header says of a log beside it (https://sqlite.org/fileformat2.html, 1.3.3) is no longer so. */
function withoutLog(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[18] = 1
  copy[19] = 1
  return copy
}

function* readRows(
  database: DatabaseSyncInstance,
  tables: readonly SqliteTable[],
  wanted: string,
  columns: readonly string[],
): Generator<ForeignRow, void, undefined> {
  const table = tables.find(({ name, isPlain }) => isPlain && name.toLowerCase() === wanted.toLowerCase())
  if (!table) return
  let count = 0
  let length = 0
  try {
    database.setAuthorizer(null)
    const stored = storedColumns(database, table.name)
    const names = columns.map((column) => stored.get(column.toLowerCase()))
    const list = names.map((name) => (name === undefined ? 'null' : quoted(name))).join(', ')
    database.setAuthorizer((action, on) => {
      if (action === constants.SQLITE_SELECT) return constants.SQLITE_OK
      return action === constants.SQLITE_READ && on === table.name
        ? constants.SQLITE_OK
        : constants.SQLITE_DENY
    })
    const statement = database.prepare(`select ${list} from ${quoted(table.name)} not indexed`)
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    for (const values of statement.iterate() as IterableIterator<unknown[]>) {
      if (++count > MOST_ROWS) throw tooLarge()
      const row: Record<string, string | number | null> = {}
      columns.forEach((column, i) => {
        const value = plain(values[i])
        if (typeof value === 'string') length += value.length
        row[column] = value
      })
      if (length > MOST_TEXT) throw tooLarge()
      yield row
    }
  } catch (error) {
    throw error instanceof Failure ? error : damagedDatabase(error)
  }
}

/** Columns that are stored, by their lower-case names; not those that are computed when they are read. */
function storedColumns(database: DatabaseSyncInstance, table: string): Map<string, string> {
  const stored = new Map<string, string>()
  const info = database.prepare(`pragma table_xinfo(${quoted(table)})`).all() as {
    name: string
    hidden: number
  }[]
  for (const { name, hidden } of info) if (hidden === 0) stored.set(name.toLowerCase(), name)
  return stored
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

function plain(value: unknown): string | number | null {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function tooLarge(): Failure {
  return new Failure('too_large', 'The database holds more than any reader marks.', {
    hint: 'It is damaged or made to be endless. Nothing of it was taken in.',
  })
}
