import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { Result, resultCodeOf } from './result-code.ts'

/** The layout that this program reads and writes; a file says its own in `user_version`. */
export const SCHEMA_VERSION = 1

export interface ConnectOptions {
  readOnly?: boolean
  /** How long a writer waits for another process, in milliseconds. */
  busyMs?: number
  /** Most memory for pages of the file, in KiB. */
  cacheKiB?: number
}

/**
 * Opens the file of one library and sets it up for several processes at once. Throws what SQLite throws.
 * Stands apart from the query builder, so that a server can open its library before it has loaded the rest.
 */
export function connect(
  file: string,
  { readOnly = false, busyMs = 10_000, cacheKiB = 16_000 }: ConnectOptions = {},
): DatabaseSyncInstance {
  const database = readOnly ? openForReading(file, busyMs) : new DatabaseSync(file, { timeout: busyMs })
  try {
    // The journal mode stands in the file, and nothing in that of a newer program may be changed.
    if (!readOnly && schemaVersionOf(database) <= SCHEMA_VERSION) database.exec('pragma journal_mode = wal')
    database.exec(
      `pragma synchronous = normal; pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -${cacheKiB}`,
    )
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Processes that share a file meet in two others beside it. Where these cannot be made (somebody else's folder, a read-only
 * disk) the file is read as one that does not change: https://sqlite.org/wal.html#read_only_databases
 */
function openForReading(file: string, busyMs: number): DatabaseSyncInstance {
  const database = new DatabaseSync(file, { readOnly: true, timeout: busyMs })
  try {
    schemaVersionOf(database)
    return database
  } catch (error) {
    database.close()
    const code = resultCodeOf(error)
    const isShut = code === Result.readOnly || code === Result.cannotOpen
    if (!isShut || !existsSync(file) || existsSync(`${file}-wal`)) throw error
    const url = pathToFileURL(file)
    url.searchParams.set('immutable', '1')
    return new DatabaseSync(url, { readOnly: true })
  }
}

export function schemaVersionOf(database: DatabaseSyncInstance): number {
  const row = database.prepare('pragma user_version').get() as { user_version: number }
  return row.user_version
}
