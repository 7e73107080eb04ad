import { Kysely, sql } from 'kysely'
import type pg from 'pg'
import { NewerLibrary } from '../newer-library.ts'
import type { Schema } from '../schema.ts'
import { APP_ROLE, grantTables, makeAppRole, roleOf, type Role } from './app-role.ts'
import { connectOwner, openPool, type PostgresOptions } from './connect.ts'
import { libraryDialect } from './dialect.ts'
import { postgresEngine } from './engine.ts'
import { libraryKeyPlugin } from './library-key.ts'
import { LIBRARIES, migrate, type MigrationSet } from './migrate.ts'
import { PostgresError } from './postgres-error.ts'
import { Turns } from './turns.ts'

/** A PostgreSQL that keeps libraries. */
export interface Postgres {
  /** Connections of the role that serves. Row-level security shows them no row of any library unless one is named. */
  readonly pool: pg.Pool
  /** The number of a library, which is made where there is none of this name. */
  makeLibrary(name: string): Promise<number>
  /** The number of a library; undefined where there is none of this name. */
  findLibrary(name: string): Promise<number | undefined>
  /** The library of a number, for reading and changing. Costs nothing, and need not be closed. */
  ofLibrary(library: number): Kysely<Schema>
  /** Removes a library with all that is in it. */
  removeLibrary(library: number): Promise<void>
  close(): Promise<void>
}

/** In this order nothing is left for a row to take with it one by one. */
const REMOVED = ['passage_words', 'code', 'vector', 'passage', 'source', 'library']

/**
 * Brings the database to this program's version and opens it to serve from. `sets` are tables beside those of libraries, which
 * the serving role may read and write. Throws `NewerLibrary` and `PostgresError`.
 */
export async function openPostgres(
  options: PostgresOptions,
  sets: readonly MigrationSet[] = [],
): Promise<Postgres> {
  const role = await explained(() => prepare(options, sets))
  const pool = openPool(options, role)
  try {
    await explained(() => refuseBypass(pool))
  } catch (error) {
    await pool.end()
    throw error
  }
  const turns = new Map<number, Turns>()

  function turnsOf(library: number): Turns {
    let ofLibrary = turns.get(library)
    if (!ofLibrary) turns.set(library, (ofLibrary = new Turns()))
    return ofLibrary
  }

  const ofLibrary = (library: number): Kysely<Schema> =>
    new Kysely<Schema>({
      dialect: libraryDialect({ pool, library, engine: postgresEngine(library), turns: turnsOf(library) }),
      plugins: [libraryKeyPlugin],
    })

  const numberOf = (call: 'make_library' | 'library_named', name: string): Promise<number | undefined> =>
    explained(async () => {
      const { rows } = await pool.query<{ id: number | null }>(`select ${call}($1) as id`, [name])
      return rows[0]?.id ?? undefined
    })

  return {
    pool,
    ofLibrary,
    makeLibrary: async (name) => (await numberOf('make_library', name))!,
    findLibrary: (name) => numberOf('library_named', name),
    async removeLibrary(library) {
      try {
        await ofLibrary(library)
          .transaction()
          .execute(async (transaction) => {
            for (const table of REMOVED) await sql`delete from ${sql.table(table)}`.execute(transaction)
          })
      } catch (error) {
        if (!(error instanceof PostgresError && error.trouble === 'removed')) throw error
      }
      turns.delete(library)
    },
    close: () => pool.end(),
  }
}

/** Migrates, and answers with the role to serve under, undefined for that of the address itself. */
async function prepare(options: PostgresOptions, sets: readonly MigrationSet[]): Promise<string | undefined> {
  const owner = await connectOwner(options)
  try {
    let role: string | undefined
    await migrate(owner, [LIBRARIES, ...sets], async (done) => {
      const server = await serverRole(options)
      role = server.bypasses === '' ? undefined : APP_ROLE
      if (role !== undefined) await makeAppRole(owner, server.name)
      await grantTables(owner, done, role ?? server.name)
    })
    return role
  } finally {
    await owner.end()
  }
}

async function serverRole({ url, connections }: PostgresOptions): Promise<Role> {
  const client = await connectOwner({ url, connections })
  try {
    return await roleOf(client)
  } finally {
    await client.end()
  }
}

/** What row-level security does not hold would show every reader the libraries of all. */
async function refuseBypass(pool: pg.Pool): Promise<void> {
  const { name, bypasses } = await roleOf(pool)
  if (bypasses === '') return
  throw new PostgresError(new Error('The role bypasses row-level security'), 'refused', {
    message: `The role ${JSON.stringify(name)} ${bypasses}: row-level security would not keep readers apart.`,
    hint: `Give the server the address of a role that may do none of this, or let it work under ${APP_ROLE}.`,
  })
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof PostgresError || error instanceof NewerLibrary ? error : new PostgresError(error)
  }
}
