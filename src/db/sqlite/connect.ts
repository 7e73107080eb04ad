import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'

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
  const database = new DatabaseSync(file, { readOnly, timeout: busyMs })
  try {
    if (!readOnly) database.exec('pragma journal_mode = wal')
    database.exec(
      `pragma synchronous = normal; pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -${cacheKiB}`,
    )
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

export function schemaVersionOf(database: DatabaseSyncInstance): number {
  const row = database.prepare('pragma user_version').get() as { user_version: number }
  return row.user_version
}
