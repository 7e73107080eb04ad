import type pg from 'pg'
import type { Migrated } from './migrate.ts'
import { PostgresError } from './postgres-error.ts'

/** The role under which a server works when the one of its address could see past row-level security. */
export const APP_ROLE = 'commonplace_app'

export interface Role {
  name: string
  /** Why row-level security would not hold it, empty where it would. */
  bypasses: string
}

/** The role that a connection works under, once the tables are there. */
export async function roleOf(client: pg.Client | pg.Pool): Promise<Role> {
  const { rows } = await client.query<Role>(
    `select current_user as name, concat_ws(' and ',
       case when rolsuper then 'is a superuser' end,
       case when rolbypassrls then 'may bypass row-level security' end,
       case when exists (
         select from pg_class where oid = to_regclass('library') and pg_has_role(current_user, relowner, 'usage'))
       then 'owns the tables' end) as bypasses
     from pg_roles where rolname = current_user`,
  )
  return rows[0]!
}

/** Makes `commonplace_app` where it is missing, for the connection's own role to work under. */
export async function makeAppRole(owner: pg.Client, server: string): Promise<void> {
  const { rows } = await owner.query<{ made: boolean; taken: boolean }>(
    `select exists (select from pg_roles where rolname = '${APP_ROLE}') as made,
       coalesce((select pg_has_role($1, oid, 'member') from pg_roles where rolname = '${APP_ROLE}'), false) as taken`,
    [server],
  )
  const { made, taken } = rows[0]!
  try {
    if (!made) await owner.query(`create role ${APP_ROLE} nologin`).catch(ignoreTaken)
    if (!taken) await owner.query(`grant ${APP_ROLE} to ${quoted(server)}`)
  } catch (error) {
    throw new PostgresError(error, 'refused', {
      message: `The role ${JSON.stringify(server)} may not make the role ${APP_ROLE}, under which the server works.`,
      hint: `Let a superuser run: create role ${APP_ROLE} nologin; grant ${APP_ROLE} to ${quoted(server)};`,
    })
  }
}

/** Lets a role read and write the rows of all tables, and nothing else. */
export async function grantTables(
  owner: pg.Client,
  { schema, changed }: Migrated,
  role: string,
): Promise<void> {
  const to = quoted(role)
  const { rows } = await owner.query<{ missing: boolean }>(
    `select exists (
       select from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where quote_ident(n.nspname) = $1 and c.relkind = 'r' and pg_has_role(current_user, c.relowner, 'usage')
         and not has_table_privilege($2, c.oid, 'select')) as missing`,
    [schema, role],
  )
  if (!changed && !rows[0]!.missing) return
  await owner.query(`grant usage on schema ${schema} to ${to}`)
  await owner.query(`grant select, insert, update, delete on all tables in schema ${schema} to ${to}`)
  await owner.query(`grant usage on all sequences in schema ${schema} to ${to}`)
  await owner.query(`grant execute on all functions in schema ${schema} to ${to}`)
  await owner.query(`revoke insert, update, delete on schema_version from ${to}`)
}

/** Roles are those of all databases of a server: another may have been faster. */
function ignoreTaken(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== '42710' && code !== '23505') throw error
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
