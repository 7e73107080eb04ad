import { Failure } from '../../core/failure.ts'
import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import { after, LIFETIME } from './lifetimes.ts'
import { READER_COLUMNS, type Reader } from './reader-store.ts'
import { hashOf, newSecret } from './secrets.ts'

/** A reader's browser that signed in. */
export interface KeptSession {
  hash: string
  reader: Reader
  /** When the reader signed in, ISO 8601. */
  createdAt: string
}

/** Where a session is: what the reader tells it by. */
export interface SessionPlace {
  /** Browser and system. */
  agent?: string
  /** IPv4 address or IPv6 /64. */
  network?: string
}

/** A session as its reader sees it. */
export interface ListedSession {
  /** Names it; signs nobody in. */
  hash: string
  createdAt: string
  lastUsedAt: string | null
  agent: string | null
  network: string | null
}

const HOUR_MS = 3_600_000

/**
 * Gives what the cookie holds. Always a new one: a value that was there before sign-in may be somebody else's. Throws
 * `account_suspended`.
 */
export async function startSession(
  { db, now }: Accounts,
  readerId: string,
  { agent, network }: SessionPlace = {},
): Promise<string> {
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
      last_used_at: now().toISOString(),
      agent: agent ?? null,
      network: network ?? null,
    })
    .execute()
  return secret
}

export async function findSession({ db, now }: Accounts, secret: string): Promise<KeptSession | undefined> {
  const hash = hashOf(secret)
  const at = now()
  const row = await db
    .selectFrom('session')
    .innerJoin('reader', 'reader.id', 'session.reader_id')
    .select([...READER_COLUMNS, 'session.created_at as createdAt', 'session.last_used_at as lastUsedAt'])
    .where('session.hash', '=', hash)
    .where('session.expires_at', '>', at.toISOString())
    .where('reader.suspended_at', 'is', null)
    .executeTakeFirst()
  if (!row) return undefined
  const { createdAt, lastUsedAt, ...reader } = row
  // To the hour: a write with every page would cost more than the page.
  if (lastUsedAt === null || Date.parse(lastUsedAt) < at.getTime() - HOUR_MS) {
    await db.updateTable('session').set({ last_used_at: at.toISOString() }).where('hash', '=', hash).execute()
  }
  return { hash, reader, createdAt }
}

/** Whether a reader's session, named by its hash, still holds. */
export async function hasSession({ db, now }: Accounts, readerId: string, hash: string): Promise<boolean> {
  const row = await db
    .selectFrom('session')
    .innerJoin('reader', 'reader.id', 'session.reader_id')
    .select('session.hash')
    .where('session.hash', '=', hash)
    .where('session.reader_id', '=', readerId)
    .where('session.expires_at', '>', now().toISOString())
    .where('reader.suspended_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** A reader's sessions that hold, the last used first. */
export const listSessions = ({ db, now }: Accounts, readerId: string): Promise<ListedSession[]> =>
  db
    .selectFrom('session')
    .select(['hash', 'created_at as createdAt', 'last_used_at as lastUsedAt', 'agent', 'network'])
    .where('reader_id', '=', readerId)
    .where('expires_at', '>', now().toISOString())
    .orderBy('last_used_at', 'desc')
    .orderBy('hash')
    .execute()

/** Ends one session of a reader's by its hash; false where they have no such one. */
export async function endSessionOf({ db }: Accounts, readerId: string, hash: string): Promise<boolean> {
  const row = await db
    .deleteFrom('session')
    .where('hash', '=', hash)
    .where('reader_id', '=', readerId)
    .returning('hash')
    .executeTakeFirst()
  return row !== undefined
}

/** Ends every session of a reader's but the one named, or all. */
export async function endSessions(db: ServerDb, readerId: string, keep?: string): Promise<void> {
  await db
    .deleteFrom('session')
    .where('reader_id', '=', readerId)
    .where('hash', '!=', keep ?? '')
    .execute()
}

export async function endSession({ db }: Accounts, secret: string): Promise<void> {
  await db.deleteFrom('session').where('hash', '=', hashOf(secret)).execute()
}

/** The same where only the hash is known. */
export async function endSessionByHash({ db }: Accounts, hash: string): Promise<void> {
  await db.deleteFrom('session').where('hash', '=', hash).execute()
}
