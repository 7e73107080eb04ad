import { sql } from 'kysely'
import type { ServerDb } from '../../db/server/schema.ts'
import { READER_COLUMNS, type Reader } from './reader-store.ts'

/** A reader as the operator sees them. */
export interface ListedReader extends Reader {
  /** ISO 8601, as all instants here. */
  createdAt: string
  suspendedAt: string | null
  /** The last that is known of a browser, connection or token of theirs; null where there is nothing. */
  lastUsedAt: string | null
}

const selection = (db: ServerDb) =>
  db.selectFrom('reader').select([
    ...READER_COLUMNS,
    'reader.created_at as createdAt',
    'reader.suspended_at as suspendedAt',
    sql<string | null>`(select max(at) from (
        select last_used_at as at from session where session.reader_id = reader.id
        union all select last_used_at from oauth_grant where oauth_grant.reader_id = reader.id
        union all select last_used_at from personal_token where personal_token.reader_id = reader.id) as used)`.as(
      'lastUsedAt',
    ),
  ])

/** All readers, the first to come first. */
export const listReadersForOperator = (db: ServerDb): Promise<ListedReader[]> =>
  selection(db).orderBy('reader.created_at').orderBy('reader.id').execute()

/** Readers whose id begins like this, or whose e-mail it is. */
export const findReadersNamed = (db: ServerDb, email: string, idStart: string): Promise<ListedReader[]> =>
  selection(db)
    .where((row) =>
      row.or([
        row('reader.email', '=', email),
        row.eb(row.fn<string>('substr', ['reader.id', row.lit(1), row.lit(idStart.length)]), '=', idStart),
      ]),
    )
    .execute()

/** How a reader may sign in, and what they let in. */
export async function waysIn(db: ServerDb, readerId: string) {
  const count = async (
    table: 'credential' | 'external_identity' | 'passkey' | 'session' | 'oauth_grant' | 'personal_token',
  ): Promise<number> => {
    const { rows } = await db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number | string>().as('rows'))
      .where('reader_id', '=', readerId)
      .executeTakeFirstOrThrow()
    return Number(rows)
  }
  return {
    password: (await count('credential')) > 0,
    providers: await count('external_identity'),
    passkeys: await count('passkey'),
    browsers: await count('session'),
    connections: await count('oauth_grant'),
    tokens: await count('personal_token'),
  }
}
