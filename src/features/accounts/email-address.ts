import { Failure } from '../../core/failure.ts'
import type { Accounts } from './accounts.ts'
import { confirmLetter, movedLetter } from './letters.ts'
import { LIFETIME } from './lifetimes.ts'
import { dropLinks, findLink, keepLink, takeLink } from './one-time-link-store.ts'
import { checkedEmail, findReader, findReaderByEmail, setEmail, type Reader } from './reader-store.ts'
import { countLetter, hostOf, sendLetter } from './send-letter.ts'

/**
 * Gives a reader an address, or proves the one that they have. With mail it counts once the link that is sent there was opened,
 * and gives `asked`; without, it counts at once, as one that nobody proved. Throws `invalid_input`, `rate_limited`.
 */
export async function giveAddress(
  accounts: Accounts,
  reader: Reader,
  email: string,
  address: string,
): Promise<'asked' | 'given'> {
  const to = checkedEmail(email)
  if (!accounts.mail) {
    await setEmail(accounts.db, reader.id, to, null)
    return 'given'
  }
  await countLetter(accounts, to, address)
  sendLetter(accounts, async () => {
    const owner = await findReaderByEmail(accounts.db, to)
    // Somebody else's: that there is such a reader is not told to whoever asks.
    if (owner && owner.id !== reader.id) return undefined
    const secret = await keepLink(accounts, {
      readerId: reader.id,
      purpose: 'email',
      email: to,
      seconds: LIFETIME.emailLink,
    })
    return { to, ...confirmLetter(hostOf(accounts), `${accounts.base}/confirm?link=${secret}`) }
  })
  return 'asked'
}

/** The address that a link is for, as long as it holds and is this reader's. */
export async function addressToConfirm(
  accounts: Accounts,
  secret: string,
  readerId: string,
): Promise<string | undefined> {
  const link = await findLink(accounts, 'email', secret)
  return link?.readerId === readerId ? (link.email ?? undefined) : undefined
}

/**
 * Takes the address of a link as the reader's own, proved: whoever is signed in as the reader has read what was sent there. By
 * the letter alone somebody would prove their address for a stranger's account. The address before is told, and links that were
 * sent there are over. False where the link does not hold, is another reader's, or another reader has the address by now.
 */
export async function confirmAddress(accounts: Accounts, secret: string, readerId: string): Promise<boolean> {
  const at = accounts.now().toISOString()
  if ((await addressToConfirm(accounts, secret, readerId)) === undefined) return false
  const moved = await accounts.db.transaction().execute(async (db) => {
    const link = await takeLink(db, accounts, 'email', secret)
    const reader = link && (await findReader(db, link.readerId))
    if (!reader || link.email === null) return undefined
    try {
      await setEmail(db, reader.id, link.email, at)
    } catch (error) {
      if (error instanceof Failure) return undefined
      throw error
    }
    await dropLinks(db, reader.id)
    return { from: reader.email, to: link.email }
  })
  if (!moved) return false
  const { from, to } = moved
  if (from !== null && from !== to)
    sendLetter(accounts, async () => ({
      to: from,
      ...movedLetter(hostOf(accounts), `${accounts.base}/account`),
    }))
  return true
}
