import type pg from 'pg'
import { NewerLibrary } from '../newer-library.ts'
import * as library from './migrations/0001-library.ts'

/** Gives the statements of one step; `schema` is where tables are made, quoted. */
export interface Migration {
  statements(schema: string): readonly string[]
}

/** Tables that are brought forward together, under a name of their own in `schema_version`. */
export interface MigrationSet {
  name: string
  /** In order: the migration at index n makes version n + 1. */
  migrations: readonly Migration[]
}

export const LIBRARIES: MigrationSet = { name: 'library', migrations: [library] }

export interface Migrated {
  /** Where the tables are, quoted. */
  schema: string
  /** Whether anything had to be done. */
  changed: boolean
}

/** Any number that no other program is likely to lock in this database. */
const LOCK = 7_461_902_118

/**
 * Brings the database to this program's version, one set after the other, each step in a transaction of its own, and calls
 * `after` where tables may be granted. Programs that start at once wait for one another. Throws `NewerLibrary`.
 */
export async function migrate(
  owner: pg.Client,
  sets: readonly MigrationSet[],
  after: (done: Migrated) => Promise<void>,
): Promise<void> {
  await owner.query(`select pg_advisory_lock(${LOCK})`)
  try {
    const { rows } = await owner.query<{ schema: string }>('select quote_ident(current_schema()) as schema')
    const { schema } = rows[0]!
    await owner.query(
      'create table if not exists schema_version (name text primary key, version integer not null)',
    )
    let changed = false
    for (const set of sets) changed = (await bringForward(owner, set, schema)) || changed
    await after({ schema, changed })
  } finally {
    await owner.query(`select pg_advisory_unlock(${LOCK})`)
  }
}

/** Answers whether there was anything to do. */
async function bringForward(
  owner: pg.Client,
  { name, migrations }: MigrationSet,
  schema: string,
): Promise<boolean> {
  const { rows } = await owner.query<{ version: number }>(
    'select version from schema_version where name = $1',
    [name],
  )
  const found = rows[0]?.version ?? 0
  if (found > migrations.length) throw new NewerLibrary(found, migrations.length, 'server')
  for (const [version, migration] of migrations.entries()) {
    if (version < found) continue
    await owner.query('begin')
    try {
      for (const statement of migration.statements(schema)) await owner.query(statement)
      await owner.query(
        `insert into schema_version (name, version) values ($1, $2)
         on conflict (name) do update set version = excluded.version`,
        [name, version + 1],
      )
      await owner.query('commit')
    } catch (error) {
      await owner.query('rollback')
      throw error
    }
  }
  return found < migrations.length
}
