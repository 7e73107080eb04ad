/** The server's own tables, on the database that the run of tests is about. */
import type { Kysely } from 'kysely'
import { inject } from 'vitest'
import { connectOwner, openPool } from '../../src/db/postgres/connect.ts'
import { migrate } from '../../src/db/postgres/migrate.ts'
import { openRuntimeOnPostgres } from '../../src/db/runtime-on-postgres.ts'
import { openRuntime, type Runtime } from '../../src/db/runtime.ts'
import { openServerDb } from '../../src/db/server/open.ts'
import { SERVER_TABLES, serverDbOnPostgres } from '../../src/db/server/postgres.ts'
import type { ServerSchema } from '../../src/db/server/schema.ts'
import { freshDatabase } from './postgres.ts'

/** Whether tests that can run on either database run on PostgreSQL now. */
export const onPostgres = process.env['COMMONPLACE_TEST_DATABASE'] === 'postgres'

/** Address of a new database beside that of `postgresUrl`, with the server's tables. */
export async function serverDatabase(postgresUrl: string): Promise<string> {
  const url = await freshDatabase(postgresUrl)
  const owner = await connectOwner({ url, connections: 1 })
  try {
    await migrate(owner, [SERVER_TABLES], async () => {})
  } finally {
    await owner.end()
  }
  return url
}

/** One of the processes that share counts and due work. */
export function runtimeAt(place: string): Runtime {
  if (!onPostgres) return openRuntime(place)
  const pool = openPool({ url: place, connections: 4 })
  return { ...openRuntimeOnPostgres(pool), close: () => pool.end() }
}

/** Databases of this process by the name that tests know them by. */
const made = new Map<string, Promise<string>>()

/** Readers and what hangs on them; whoever gives the same `place` gets the same. */
export async function openAccountsDb(
  place?: string,
): Promise<{ db: Kysely<ServerSchema>; close(): Promise<void> }> {
  if (!onPostgres) {
    const db = await openServerDb(place ?? ':memory:')
    return { db, close: () => db.destroy() }
  }
  const known = place === undefined ? undefined : made.get(place)
  const url = known ?? serverDatabase(inject('postgresUrl'))
  if (place !== undefined) made.set(place, url)
  const pool = openPool({ url: await url, connections: 4 })
  const db = serverDbOnPostgres(pool)
  return {
    db,
    async close() {
      await db.destroy()
      await pool.end()
    },
  }
}

/** What the environment of a server adds for its database: nothing on SQLite, else a new database of its own. */
export async function databaseEnv(): Promise<Record<string, string>> {
  if (!onPostgres) return {}
  return {
    COMMONPLACE_DATABASE_URL: await freshDatabase(inject('postgresUrl')),
    COMMONPLACE_DATABASE_CONNECTIONS: '4',
  }
}
