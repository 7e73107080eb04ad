import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { Kysely, sql, type Transaction } from 'kysely'
import * as library from './migrations/0001-library.ts'
import { NewerLibrary } from './newer-library.ts'
import type { Schema } from './schema.ts'
import { schemaVersionOf } from './sqlite/connect.ts'
import { sqliteDialect } from './sqlite/dialect.ts'

export interface Migration {
  up(db: Transaction<Schema>): Promise<void>
}

/** In order: the migration at index n makes version n + 1. */
export const MIGRATIONS: readonly Migration[] = [library]

/** The query builder on an open connection. */
export const queriesOn = (database: DatabaseSyncInstance): Kysely<Schema> =>
  new Kysely<Schema>({ dialect: sqliteDialect(database) })

/**
 * Brings the file to this program's version, each step a transaction of its own. `snapshot` is called first where there is
 * something to lose. Throws `NewerLibrary`.
 */
export async function migrate(
  database: DatabaseSyncInstance,
  db: Kysely<Schema>,
  snapshot: (version: number) => void | Promise<void>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const found = schemaVersionOf(database)
  if (found > migrations.length) throw new NewerLibrary(found)
  if (found === migrations.length) return
  if (found > 0) await snapshot(found)
  for (let version = found; version < migrations.length; version++) {
    await db.transaction().execute(async (transaction) => {
      // Another process may have been faster: only the version seen under the write lock counts.
      if (schemaVersionOf(database) > version) return
      await migrations[version]!.up(transaction)
      await sql.raw(`pragma user_version = ${version + 1}`).execute(transaction)
    })
  }
}
