import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import { after } from './lifetimes.ts'
import { hashOf, newSecret } from './secrets.ts'

export type LinkPurpose = 'sign-in' | 'reset' | 'email'

export interface NewLink {
  readerId: string
  purpose: LinkPurpose
  /** Where it is sent; absent where a person passes it on. */
  email?: string
  seconds: number
}

export interface UsedLink {
  readerId: string
  email: string | null
}

/** Gives the link's secret. */
export async function keepLink(
  { db, now }: Accounts,
  { readerId, purpose, email, seconds }: NewLink,
): Promise<string> {
  const secret = newSecret()
  await db
    .insertInto('one_time_link')
    .values({
      hash: hashOf(secret),
      reader_id: readerId,
      purpose,
      email: email ?? null,
      expires_at: after(now(), seconds),
    })
    .execute()
  return secret
}

/** Whose link it is, without using it: before something dear is done for whoever has it. */
export const findLink = (
  { db, now }: Accounts,
  purpose: LinkPurpose,
  secret: string,
): Promise<UsedLink | undefined> =>
  db
    .selectFrom('one_time_link')
    .select(['reader_id as readerId', 'email'])
    .where('hash', '=', hashOf(secret))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now().toISOString())
    .executeTakeFirst()

/** Whose link it was, where it was not used before: deleting it and learning that are one statement. */
export const takeLink = (
  db: ServerDb,
  { now }: Pick<Accounts, 'now'>,
  purpose: LinkPurpose,
  secret: string,
): Promise<UsedLink | undefined> =>
  db
    .deleteFrom('one_time_link')
    .where('hash', '=', hashOf(secret))
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now().toISOString())
    .returning(['reader_id as readerId', 'email'])
    .executeTakeFirst()

/** Links of a reader's are over: all, or those for one purpose. */
export async function dropLinks(db: ServerDb, readerId: string, purpose?: LinkPurpose): Promise<void> {
  await db
    .deleteFrom('one_time_link')
    .where('reader_id', '=', readerId)
    .$if(purpose !== undefined, (query) => query.where('purpose', '=', purpose ?? 'sign-in'))
    .execute()
}
