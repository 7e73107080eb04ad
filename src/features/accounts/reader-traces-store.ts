import type { ServerDb } from '../../db/server/schema.ts'
import type { Reader } from './reader-store.ts'

/**
 * Deletes what names a reader and does not hang on them: invitations that they used or that wait for their address, those of
 * theirs that nobody used, and sign-ups under their address. For the transaction that deletes the reader, before it does.
 */
export async function dropTracesOf(db: ServerDb, { id, email }: Pick<Reader, 'id' | 'email'>): Promise<void> {
  await db
    .deleteFrom('invitation')
    .where((row) =>
      row.or([
        row('used_by', '=', id),
        row.and([row('invited_by', '=', id), row('used_at', 'is', null)]),
        ...(email === null ? [] : [row('email', '=', email)]),
      ]),
    )
    .execute()
  if (email !== null) await db.deleteFrom('sign_up').where('email', '=', email).execute()
}

/** What a reader's calls are counted under: their connections, their tokens, and their own browsers. */
export async function callersOf(db: ServerDb, readerId: string): Promise<string[]> {
  const grants = await db.selectFrom('oauth_grant').select('id').where('reader_id', '=', readerId).execute()
  const tokens = await db
    .selectFrom('personal_token')
    .select('id')
    .where('reader_id', '=', readerId)
    .execute()
  return [...grants, ...tokens].map(({ id }) => id).concat(`reader ${readerId}`)
}
