import type { Accounts } from './accounts.ts'
import { hashChosenPassword, PASSWORD_LENGTH } from './chosen-password.ts'
import { LIFETIME } from './lifetimes.ts'
import { nobodysHash, passwordFits } from './password.ts'
import { countAttempt, networkOf, uncountAttempt } from './rate-counter-store.ts'
import { signInLetter } from './letters.ts'
import { dropLinks, findLink, keepLink, takeLink } from './one-time-link-store.ts'
import {
  insertReader,
  emailKey,
  findCredential,
  findPassword,
  findReader,
  findReaderByEmail,
  findReaderByLibrary,
  keepPassword,
  LOCAL_LIBRARY,
  type Reader,
} from './reader-store.ts'
import { resetLetterFor } from './reset-password.ts'
import { countLetter, hostOf, sendLetter } from './send-letter.ts'
import { endSessions } from './session-store.ts'
import { canSignIn } from './ways-in.ts'

// Who the reader is, and nothing of what they allow to whom. The rest of the program knows readers by what stands here alone
// (docs/decisions/0007-identity-behind-one-file.md).

export interface SignIn {
  email: string
  password: string
  /** Network address of the browser. */
  address: string
}

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
    password.slice(0, PASSWORD_LENGTH.max),
    found?.hash ?? nobodysHash(accounts.passwordCost),
  )
  if (!found?.hash || !fits) return undefined
  for (const [limit, who] of counters) await uncountAttempt(accounts, limit, who)
  const { hash: _hash, ...reader } = found
  return reader
}

/**
 * Sets the reader's password and ends every session but the one named: whoever knew the old one is out, and so is whoever has a
 * link. Throws `invalid_input` where it is too short or too long, in characters.
 */
export async function setPassword(
  accounts: Accounts,
  readerId: string,
  password: string,
  keepSession?: string,
): Promise<void> {
  const hash = await hashChosenPassword(accounts, password)
  const at = accounts.now().toISOString()
  await accounts.db.transaction().execute(async (db) => {
    await keepPassword(db, readerId, hash, at)
    await dropLinks(db, readerId)
    await endSessions(db, readerId, keepSession)
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
export async function makeSignInLink(accounts: Accounts, readerId: string): Promise<string> {
  const secret = await keepLink(accounts, { readerId, purpose: 'sign-in', seconds: LIFETIME.signInLink })
  return `${accounts.base}/sign-in?link=${secret}`
}

/** Whom a link would sign in, without using it. */
export async function readerOfSignInLink(accounts: Accounts, secret: string): Promise<Reader | undefined> {
  const link = await findLink(accounts, 'sign-in', secret)
  return link && findReader(accounts.db, link.readerId)
}

/** The reader of a link that was not used before. */
export async function useSignInLink(accounts: Accounts, secret: string): Promise<Reader | undefined> {
  const link = await takeLink(accounts.db, accounts, 'sign-in', secret)
  return link && findReader(accounts.db, link.readerId)
}

/**
 * Sends a reader a link to sign in with, if there is one who proved that this address is theirs; where nobody proved it, one to
 * choose a password, which proves it. Whether anything is sent shows in nothing. Throws `rate_limited`.
 */
export async function mailSignInLink(accounts: Accounts, email: string, address: string): Promise<void> {
  await countLetter(accounts, email, address)
  sendLetter(accounts, async () => {
    const reader = await findReaderByEmail(accounts.db, email)
    if (!reader || reader.email === null) return undefined
    if (reader.emailVerifiedAt === null) return resetLetterFor(accounts, reader.id, reader.email)
    const secret = await keepLink(accounts, {
      readerId: reader.id,
      purpose: 'sign-in',
      email: reader.email,
      seconds: LIFETIME.mailedLink,
    })
    const link = `${accounts.base}/sign-in?link=${secret}`
    return { to: reader.email, ...signInLetter(hostOf(accounts), link) }
  })
}

export interface FirstReader {
  reader: Reader
  /** Where the reader signs in, as long as they have no other way in: else whoever loses a cookie is locked out. */
  link: string | undefined
}

/**
 * The reader whose library is the local one; made at the first start, once by however many processes start together. A link that
 * was given before stops working, unless it may be that of another process that serves the same readers.
 */
export async function ensureFirstReader(
  accounts: Accounts,
  { shared = false }: { shared?: boolean } = {},
): Promise<FirstReader> {
  const { db } = accounts
  const reader = (await findReaderByLibrary(db, LOCAL_LIBRARY)) ?? (await makeFirstReader(accounts))
  if (await canSignIn(accounts, reader)) return { reader, link: undefined }
  if (!shared) await dropLinks(db, reader.id, 'sign-in')
  return { reader, link: await makeSignInLink(accounts, reader.id) }
}

async function makeFirstReader({ db, now }: Accounts): Promise<Reader> {
  const given = { email: null, emailVerifiedAt: null, name: null, library: LOCAL_LIBRARY }
  const made = await insertReader(db, { ...given, at: now().toISOString() })
  const reader = made ?? (await findReaderByLibrary(db, LOCAL_LIBRARY))
  if (reader) return reader
  throw new Error('The first reader was made by another process and deleted at once')
}
