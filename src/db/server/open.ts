import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { Kysely, sql, type Transaction } from 'kysely'
import { closeSync, openSync } from 'node:fs'
import { connect, schemaVersionOf } from '../sqlite/connect.ts'
import { sqliteDialect } from '../sqlite/dialect.ts'
import { NewerLibrary } from '../newer-library.ts'
import * as server from './migrations/0001-server.ts'
import type { ServerSchema } from './schema.ts'

/** In order: the migration at index n makes version n + 1. */
const MIGRATIONS: readonly { up(db: Transaction<ServerSchema>): Promise<void> }[] = [server]

/** The server's database was written by a newer program than this one. */
export class NewerServerDb extends NewerLibrary {
  constructor(found: number) {
    super(found, MIGRATIONS.length, 'server')
    this.name = 'NewerServerDb'
  }
}

/**
 * Opens the server's own database (`:memory:` for one that is gone afterwards) and brings it to this program's version.
 * A commit is on disk when it returns: a revocation must not come back after a power cut.
 * Throws `NewerServerDb` and what SQLite throws.
 */
export async function openServerDb(file: string): Promise<Kysely<ServerSchema>> {
  // Hashes of passwords and tokens are nobody else's business.
  if (file !== ':memory:') closeSync(openSync(file, 'a', 0o600))
  const database = connect(file)
  const db = new Kysely<ServerSchema>({ dialect: sqliteDialect(database) })
  try {
    // What a reader had deleted is written over with zeros.
    database.exec('pragma synchronous = full; pragma secure_delete = on')
    await migrate(database, db)
    return db
  } catch (error) {
    await db.destroy()
    if (database.isOpen) database.close()
    throw error
  }
}

async function migrate(database: DatabaseSyncInstance, db: Kysely<ServerSchema>): Promise<void> {
  const found = schemaVersionOf(database)
  if (found > MIGRATIONS.length) throw new NewerServerDb(found)
  for (const [version, migration] of MIGRATIONS.entries()) {
    if (version < found) continue
    await db.transaction().execute(async (transaction) => {
      // Another process may have been faster: only the version seen under the write lock counts.
      if (schemaVersionOf(database) > version) return
      await migration.up(transaction)
      await sql.raw(`pragma user_version = ${version + 1}`).execute(transaction)
    })
  }
}
