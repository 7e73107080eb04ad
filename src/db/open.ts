import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { Kysely, sql, type Transaction } from 'kysely'
import * as library from './migrations/0001-library.ts'
import { NewerLibrary } from './newer-library.ts'
import type { Schema } from './schema.ts'
import { SCHEMA_VERSION, schemaVersionOf } from './sqlite/connect.ts'
import { sqliteDialect } from './sqlite/dialect.ts'

/** In order: the migration at index n makes version n + 1. */
const MIGRATIONS: readonly { up(db: Transaction<Schema>): Promise<void> }[] = [library]

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
): Promise<void> {
  const found = schemaVersionOf(database)
  if (found > SCHEMA_VERSION) throw new NewerLibrary(found)
  if (found === SCHEMA_VERSION) return
  if (found > 0) await snapshot(found)
  for (let version = found; version < SCHEMA_VERSION; version++) {
    await db.transaction().execute(async (transaction) => {
      // Another process may have been faster: only the version seen under the write lock counts.
      if (schemaVersionOf(database) > version) return
      await MIGRATIONS[version]!.up(transaction)
      await sql.raw(`pragma user_version = ${version + 1}`).execute(transaction)
    })
  }
}
