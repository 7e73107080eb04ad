import type { Letter } from '../../core/mail.ts'
import type { ServerDb } from '../../db/server/schema.ts'
import type { Accounts } from './accounts.ts'
import { hashChosenPassword } from './chosen-password.ts'
import { resetLetter } from './letters.ts'
import { LIFETIME } from './lifetimes.ts'
import { dropLinks, findLink, keepLink, takeLink } from './one-time-link-store.ts'
import { findReader, findReaderByEmail, keepPassword, setEmail } from './reader-store.ts'
import { countLetter, hostOf, sendLetter } from './send-letter.ts'
import { endSessions } from './session-store.ts'

/**
 * Sends a link to choose a new password, if there is a reader with this address. Whether there is one shows in nothing. Throws
 * `rate_limited`.
 */
export async function askForReset(accounts: Accounts, email: string, address: string): Promise<void> {
  await countLetter(accounts, email, address)
  sendLetter(accounts, async () => {
    const reader = await findReaderByEmail(accounts.db, email)
    if (!reader || reader.email === null) return undefined
    return resetLetterFor(accounts, reader.id, reader.email)
  })
}

/** The letter with a link that holds for an hour, once. */
export async function resetLetterFor(accounts: Accounts, readerId: string, email: string): Promise<Letter> {
  return { to: email, ...resetLetter(hostOf(accounts), await mailedResetLink(accounts, readerId, email)) }
}

export const mailedResetLink = async (accounts: Accounts, readerId: string, email: string): Promise<string> =>
  addressOf(
    accounts,
    await keepLink(accounts, { readerId, purpose: 'reset', email, seconds: LIFETIME.resetLink }),
  )

/** A link that the operator passes on to a reader who cannot sign in any more; it holds for a day, once. */
export const makeResetLink = async (accounts: Accounts, readerId: string): Promise<string> =>
  addressOf(accounts, await keepLink(accounts, { readerId, purpose: 'reset', seconds: LIFETIME.signInLink }))

const addressOf = ({ base }: Accounts, secret: string): string => `${base}/reset?link=${secret}`

/** Whether a link for a new password still holds. */
export const holdsResetLink = async (accounts: Accounts, secret: string): Promise<boolean> =>
  (await findLink(accounts, 'reset', secret)) !== undefined

/**
 * Sets the password by a link and uses the link up; every session and every other link of the reader's is over. False where the
 * link does not hold. Throws `invalid_input`, with the link unused, where the password is too short or too long.
 */
export async function resetPassword(accounts: Accounts, secret: string, password: string): Promise<boolean> {
  if (!(await holdsResetLink(accounts, secret))) return false
  const hash = await hashChosenPassword(accounts, password)
  const at = accounts.now().toISOString()
  return accounts.db.transaction().execute(async (db) => {
    const link = await takeLink(db, accounts, 'reset', secret)
    if (!link) return false
    const reader = await findReader(db, link.readerId)
    if (!reader) return false
    if (link.email !== null && link.email === reader.email) {
      // Whoever made the account did not have this mailbox as far as anybody knows, so nothing that they set up stays.
      if (reader.emailVerifiedAt === null) await dropUnproved(db, reader.id)
      await setEmail(db, reader.id, link.email, at)
    }
    await keepPassword(db, reader.id, hash, at)
    await dropLinks(db, reader.id)
    await endSessions(db, reader.id)
    return true
  })
}

async function dropUnproved(db: ServerDb, readerId: string): Promise<void> {
  for (const table of ['passkey', 'external_identity', 'oauth_grant', 'personal_token'] as const)
    await db.deleteFrom(table).where('reader_id', '=', readerId).execute()
}
