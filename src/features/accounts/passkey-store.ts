import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import { after, LIFETIME } from './lifetimes.ts'
import { hashOf, newSecret } from './secrets.ts'

export interface Passkey {
  id: string
  readerId: string
  publicKey: Uint8Array<ArrayBuffer>
  /** How often the authenticator signed; 0 for ever where it does not count. */
  counter: number
  transports: string[]
  name: string
  /** ISO 8601. */
  createdAt: string
  lastUsedAt: string | null
}

/** Gives the challenge. It is good once, in this browser, for one who is signed in (`readerId`) or for nobody yet. */
export async function keepChallenge(
  { db, now }: Accounts,
  browser: string,
  readerId: string | null,
): Promise<string> {
  const challenge = newSecret()
  await db
    .insertInto('passkey_challenge')
    .values({
      hash: hashOf(challenge),
      browser_hash: hashOf(browser),
      reader_id: readerId,
      expires_at: after(now(), LIFETIME.passkeyChallenge),
    })
    .execute()
  return challenge
}

/** Uses a challenge up: one statement, so that it is answered once. False where it is none of this browser's. */
export async function takeChallenge(
  { db, now }: Accounts,
  challenge: string,
  browser: string,
  readerId: string | null,
): Promise<boolean> {
  const row = await db
    .deleteFrom('passkey_challenge')
    .where('hash', '=', hashOf(challenge))
    .where('browser_hash', '=', hashOf(browser))
    .where('reader_id', readerId === null ? 'is' : '=', readerId)
    .where('expires_at', '>', now().toISOString())
    .returning('hash')
    .executeTakeFirst()
  return row !== undefined
}

/** False where there is a passkey of this id already, whosever it is. */
export async function keepPasskey(db: ServerDb, passkey: Omit<Passkey, 'lastUsedAt'>): Promise<boolean> {
  const row = await db
    .insertInto('passkey')
    .values({
      id: passkey.id,
      reader_id: passkey.readerId,
      public_key: Buffer.from(passkey.publicKey).toString('base64url'),
      counter: passkey.counter,
      transports: passkey.transports.join(','),
      name: passkey.name,
      created_at: passkey.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function findPasskey(db: ServerDb, id: string): Promise<Passkey | undefined> {
  const row = await db.selectFrom('passkey').selectAll().where('id', '=', id).executeTakeFirst()
  return row && passkeyOf(row)
}

export async function listPasskeys(db: ServerDb, readerId: string): Promise<Passkey[]> {
  const rows = await db
    .selectFrom('passkey')
    .selectAll()
    .where('reader_id', '=', readerId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(passkeyOf)
}

function passkeyOf(row: {
  id: string
  reader_id: string
  public_key: string
  counter: number
  transports: string
  name: string
  created_at: string
  last_used_at: string | null
}): Passkey {
  return {
    id: row.id,
    readerId: row.reader_id,
    publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
    // PostgreSQL gives a bigint as text.
    counter: Number(row.counter),
    transports: row.transports === '' ? [] : row.transports.split(','),
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }
}

/**
 * Notes that a passkey signed, as its counter says: one statement, so that of two answers with the same count one is taken. A
 * counter that does not grow is a copy's (WebAuthn §6.1.1), unless the authenticator counts nothing. False where it is refused.
 */
export async function countPasskey(db: ServerDb, id: string, counter: number, at: string): Promise<boolean> {
  const row = await db
    .updateTable('passkey')
    .set({ counter, last_used_at: at })
    .where('id', '=', id)
    .where((passkey) => (counter === 0 ? passkey('counter', '=', 0) : passkey('counter', '<', counter)))
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** False where the reader has no such passkey. */
export async function renamePasskey(
  db: ServerDb,
  readerId: string,
  id: string,
  name: string,
): Promise<boolean> {
  const row = await db
    .updateTable('passkey')
    .set({ name })
    .where('id', '=', id)
    .where('reader_id', '=', readerId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function dropPasskey(db: ServerDb, readerId: string, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom('passkey')
    .where('id', '=', id)
    .where('reader_id', '=', readerId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
