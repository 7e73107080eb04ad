import { Failure } from '../../core/failure.ts'
import type { Accounts } from './accounts.ts'
import { after, LIFETIME } from './lifetimes.ts'
import { hashPassword, nobodysHash, passwordFits } from './password.ts'
import { countAttempt, networkOf, uncountAttempt } from './rate-counter-store.ts'
import {
  addReader,
  emailKey,
  findCredential,
  findPassword,
  findReader,
  findReaderByLibrary,
  keepPassword,
  LOCAL_LIBRARY,
  type Reader,
} from './reader-store.ts'
import { hashOf, newSecret } from './secrets.ts'

// Who the reader is, and nothing of what they allow to whom. The rest of the program knows readers by what stands here alone
// (docs/decisions/0007-identity-behind-one-file.md).

export interface SignIn {
  email: string
  password: string
  /** Network address of the browser. */
  address: string
}

const PASSWORD = { min: 10, max: 200 }

/**
 * The reader with this e-mail and password, or undefined, after the same time either way. Every attempt is counted before it
 * is looked at, so that many at once are no way round; a right one is taken back. Throws `rate_limited`.
 */
export async function signInWithPassword(
  accounts: Accounts,
  { email, password, address }: SignIn,
): Promise<Reader | undefined> {
  const network = networkOf(address)
  const counters = [
    ['signIn', `${emailKey(email)} ${network}`],
    ['signInByReader', emailKey(email)],
    ['signInByAddress', network],
  ] as const
  for (const [limit, who] of counters) await countAttempt(accounts, limit, who)
  const found = await findCredential(accounts.db, email)
  const fits = await passwordFits(
    password.slice(0, PASSWORD.max),
    found?.hash ?? nobodysHash(accounts.passwordCost),
  )
  if (!found?.hash || !fits) return undefined
  for (const [limit, who] of counters) await uncountAttempt(accounts, limit, who)
  const { hash: _hash, ...reader } = found
  return reader
}

/**
 * Sets the reader's password and ends every session but the one named: whoever knew the old one is out. Throws
 * `invalid_input` where it is too short or too long, in characters.
 */
export async function setPassword(
  accounts: Accounts,
  readerId: string,
  password: string,
  keepSession?: string,
): Promise<void> {
  const length = [...password].length
  if (length < PASSWORD.min || password.length > PASSWORD.max) {
    throw new Failure('invalid_input', `A password has ${PASSWORD.min} to ${PASSWORD.max} characters.`, {
      hint: 'Take a few words that nobody else would put together.',
    })
  }
  const hash = await hashPassword(password, accounts.passwordCost)
  const at = accounts.now().toISOString()
  await accounts.db.transaction().execute(async (db) => {
    await keepPassword(db, readerId, hash, at)
    await db.deleteFrom('one_time_link').where('reader_id', '=', readerId).execute()
    await db
      .deleteFrom('session')
      .where('reader_id', '=', readerId)
      .where('hash', '!=', keepSession ?? '')
      .execute()
  })
}

export const hasPassword = async (accounts: Accounts, readerId: string): Promise<boolean> =>
  (await findPassword(accounts.db, readerId)) !== undefined

/** Whether this is the reader's own password; counted like a sign-in. Throws `rate_limited`. */
export async function isOwnPassword(
  accounts: Accounts,
  reader: Reader,
  password: string,
  address: string,
): Promise<boolean> {
  if (reader.email === null) return false
  const found = await signInWithPassword(accounts, { email: reader.email, password, address })
  return found?.id === reader.id
}

/** An address that signs the reader in once, within a day. Whoever has it is the reader. */
export async function makeSignInLink({ db, now, base }: Accounts, readerId: string): Promise<string> {
  const secret = newSecret()
  await db
    .insertInto('one_time_link')
    .values({
      hash: hashOf(secret),
      reader_id: readerId,
      purpose: 'sign-in',
      email: null,
      expires_at: after(now(), LIFETIME.signInLink),
    })
    .execute()
  return `${base}/sign-in?link=${secret}`
}

/** The reader of a link that was not used before: deleting it and learning whose it was are one statement. */
export async function useSignInLink({ db, now }: Accounts, secret: string): Promise<Reader | undefined> {
  const link = await db
    .deleteFrom('one_time_link')
    .where('hash', '=', hashOf(secret))
    .where('purpose', '=', 'sign-in')
    .where('expires_at', '>', now().toISOString())
    .returning('reader_id')
    .executeTakeFirst()
  return link && findReader(db, link.reader_id)
}

export interface FirstReader {
  reader: Reader
  /** Where the reader signs in, as long as they have no password: else whoever loses a cookie is locked out. */
  link: string | undefined
}

/** The reader whose library is the local one; made at the first start. A link that was given before stops working. */
export async function ensureFirstReader(accounts: Accounts): Promise<FirstReader> {
  const { db } = accounts
  const known = await findReaderByLibrary(db, LOCAL_LIBRARY)
  const reader = known ?? (await addReader(accounts, { library: LOCAL_LIBRARY }))
  if (await hasPassword(accounts, reader.id)) return { reader, link: undefined }
  await db.deleteFrom('one_time_link').where('reader_id', '=', reader.id).execute()
  return { reader, link: await makeSignInLink(accounts, reader.id) }
}
