import type { Accounts } from './accounts.ts'
import { becomeReader, type Refusal } from './become-reader.ts'
import { hashChosenPassword } from './chosen-password.ts'
import { findInvitation } from './invitation-store.ts'
import { knownReaderLetter, signUpLetter } from './letters.ts'
import { after, LIFETIME } from './lifetimes.ts'
import { countAttempt, networkOf } from './rate-counter-store.ts'
import { checkedEmail, findReaderByEmail, type Reader } from './reader-store.ts'
import { mailedResetLink } from './reset-password.ts'
import { hashOf, newSecret } from './secrets.ts'
import { countLetter, hostOf, sendLetter } from './send-letter.ts'

/** What the sign-up page asks of somebody who brings this invitation, or none. */
export type Entrance =
  | { refused: Refusal }
  /** `email` is the only address that the invitation is for. */
  | { asks: 'address' | 'address and password'; email: string | null }
  /** The invitation came by mail, which proves the address. */
  | { asks: 'password'; email: string }

export async function entranceFor(accounts: Accounts, invitation: string | undefined): Promise<Entrance> {
  const { signUp, mail } = accounts
  if (signUp === 'closed') return { refused: 'closed' }
  const found = invitation === undefined ? undefined : await findInvitation(accounts, hashOf(invitation))
  if (!found && signUp === 'invite') return { refused: 'invitation' }
  if (found?.mailed && found.email !== null) return { asks: 'password', email: found.email }
  return { asks: mail ? 'address' : 'address and password', email: found?.email ?? null }
}

export interface SignUp {
  email: string
  password: string
  invitation: string | undefined
  /** Network address of the browser. */
  address: string
}

/**
 * What somebody who wants to become a reader gets: a letter (`mailed`, whether there is such a reader already or not), to be the
 * reader at once where no letter can be sent or one was answered by coming, or a refusal. Throws `invalid_input`,
 * `rate_limited`.
 */
export async function signUp(accounts: Accounts, given: SignUp): Promise<'mailed' | Reader | Refusal> {
  const entrance = await entranceFor(accounts, given.invitation)
  if ('refused' in entrance) return entrance.refused
  await countSignUp(accounts, given.address)
  const invitation = given.invitation === undefined ? undefined : hashOf(given.invitation)
  const email = entrance.email ?? checkedEmail(given.email)
  if (entrance.asks === 'address') {
    await mailSignUp(accounts, email, invitation, given.address)
    return 'mailed'
  }
  return becomeReader(accounts, {
    email,
    verified: entrance.asks === 'password',
    passwordHash: await hashChosenPassword(accounts, given.password),
    ...(invitation !== undefined && { invitation }),
  })
}

/** Counts a reader in the making. Throws `rate_limited`. */
export async function countSignUp(accounts: Accounts, address: string): Promise<void> {
  await countAttempt(accounts, 'signUp', networkOf(address))
  await countAttempt(accounts, 'signUpInAll', '')
}

async function mailSignUp(
  accounts: Accounts,
  email: string,
  invitation: string | undefined,
  address: string,
): Promise<void> {
  await countLetter(accounts, email, address)
  sendLetter(accounts, async () => {
    const { db, now, base } = accounts
    const host = hostOf(accounts)
    const known = await findReaderByEmail(db, email)
    if (known) {
      return { to: email, ...knownReaderLetter(host, await mailedResetLink(accounts, known.id, email)) }
    }
    const secret = newSecret()
    await db
      .insertInto('sign_up')
      .values({
        hash: hashOf(secret),
        email,
        invitation_hash: invitation ?? null,
        expires_at: after(now(), LIFETIME.signUpLink),
      })
      .execute()
    return { to: email, ...signUpLetter(host, `${base}/sign-up?link=${secret}`) }
  })
}

/** The address that a link of a letter is for, as long as it holds. */
export async function addressToSignUp({ db, now }: Accounts, secret: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('sign_up')
    .select('email')
    .where('hash', '=', hashOf(secret))
    .where('expires_at', '>', now().toISOString())
    .executeTakeFirst()
  return row?.email
}

/**
 * Makes the reader whose mailbox the letter reached; the password is chosen by whoever reads it, and not by whoever asked for
 * it. Undefined where the link does not hold. Throws `invalid_input`, with the link unused.
 */
export async function finishSignUp(
  accounts: Accounts,
  secret: string,
  password: string,
): Promise<Reader | Refusal | undefined> {
  const { db, now } = accounts
  if ((await addressToSignUp(accounts, secret)) === undefined) return undefined
  const passwordHash = await hashChosenPassword(accounts, password)
  const row = await db
    .deleteFrom('sign_up')
    .where('hash', '=', hashOf(secret))
    .where('expires_at', '>', now().toISOString())
    .returning(['email', 'invitation_hash'])
    .executeTakeFirst()
  if (!row) return undefined
  return becomeReader(accounts, {
    email: row.email,
    verified: true,
    passwordHash,
    ...(row.invitation_hash !== null && { invitation: row.invitation_hash }),
  })
}
