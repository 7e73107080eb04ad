import { Failure } from '../../core/failure.ts'
import type { Accounts } from './accounts.ts'
import { after, LIFETIME } from './lifetimes.ts'
import type { Reader } from './reader-store.ts'
import { hashOf, newSecret } from './secrets.ts'

/** A reader's browser that signed in. */
export interface KeptSession {
  hash: string
  reader: Reader
}

/**
 * Gives what the cookie holds. Always a new one: a value that was there before sign-in may be somebody else's. Throws
 * `account_suspended`.
 */
export async function startSession({ db, now }: Accounts, readerId: string): Promise<string> {
  const suspended = await db
    .selectFrom('reader')
    .select('id')
    .where('id', '=', readerId)
    .where('suspended_at', 'is not', null)
    .executeTakeFirst()
  if (suspended) {
    throw new Failure('account_suspended', 'This account is suspended.', {
      hint: 'Ask whoever runs this server. Nothing in your library was touched.',
    })
  }
  const secret = newSecret()
  await db
    .insertInto('session')
    .values({
      hash: hashOf(secret),
      reader_id: readerId,
      created_at: now().toISOString(),
      expires_at: after(now(), LIFETIME.session),
    })
    .execute()
  return secret
}

export async function findSession({ db, now }: Accounts, secret: string): Promise<KeptSession | undefined> {
  const hash = hashOf(secret)
  const reader = await db
    .selectFrom('session')
    .innerJoin('reader', 'reader.id', 'session.reader_id')
    .select(['reader.id', 'reader.email', 'reader.name', 'reader.library'])
    .where('session.hash', '=', hash)
    .where('session.expires_at', '>', now().toISOString())
    .where('reader.suspended_at', 'is', null)
    .executeTakeFirst()
  return reader && { hash, reader }
}

export async function endSession({ db }: Accounts, secret: string): Promise<void> {
  await db.deleteFrom('session').where('hash', '=', hashOf(secret)).execute()
}
