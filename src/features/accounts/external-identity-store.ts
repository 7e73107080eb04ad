import type { Person } from '../../core/identity-provider.ts'
import type { ServerDb } from '../../db/server/schema.ts'

/** Who a reader is at a provider. */
export interface ExternalIdentity {
  issuer: string
  subject: string
  email: string | null
  /** ISO 8601. */
  createdAt: string
  lastUsedAt: string
}

/** The reader of an identity that was linked before; what the provider says of it now is noted. */
export async function findByIdentity(db: ServerDb, person: Person, at: string): Promise<string | undefined> {
  const row = await db
    .updateTable('external_identity')
    .set({ last_used_at: at, ...(person.email !== undefined && { email: person.email }) })
    .where('issuer', '=', person.issuer)
    .where('subject', '=', person.subject)
    .returning('reader_id')
    .executeTakeFirst()
  return row?.reader_id
}

/** Links an identity to a reader; false where it is linked already, to whomever. */
export async function keepIdentity(
  db: ServerDb,
  readerId: string,
  person: Person,
  at: string,
): Promise<boolean> {
  const row = await db
    .insertInto('external_identity')
    .values({
      issuer: person.issuer,
      subject: person.subject,
      reader_id: readerId,
      email: person.email ?? null,
      created_at: at,
      last_used_at: at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('reader_id')
    .executeTakeFirst()
  return row !== undefined
}

export const listIdentities = (db: ServerDb, readerId: string): Promise<ExternalIdentity[]> =>
  db
    .selectFrom('external_identity')
    .select(['issuer', 'subject', 'email', 'created_at as createdAt', 'last_used_at as lastUsedAt'])
    .where('reader_id', '=', readerId)
    .orderBy('created_at')
    .execute()

export async function dropIdentity(
  db: ServerDb,
  readerId: string,
  { issuer, subject }: Pick<ExternalIdentity, 'issuer' | 'subject'>,
): Promise<boolean> {
  const row = await db
    .deleteFrom('external_identity')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .where('reader_id', '=', readerId)
    .returning('subject')
    .executeTakeFirst()
  return row !== undefined
}
