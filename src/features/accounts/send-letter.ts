import type { Letter } from '../../core/mail.ts'
import type { Accounts } from './accounts.ts'
import { countAttempt, networkOf } from './rate-counter-store.ts'
import { emailKey } from './reader-store.ts'

/** Counts a letter that somebody asks for, whether it will be sent or not. Throws `rate_limited`. */
export async function countLetter(accounts: Accounts, email: string, address: string): Promise<void> {
  await countAttempt(accounts, 'mailByAddress', networkOf(address))
  await countAttempt(accounts, 'mailTo', emailKey(email))
  await countAttempt(accounts, 'mailInAll', '')
}

/**
 * Looks up what to write, and sends it, after the answer that is being made: whether there is anything to send shows neither
 * in it nor in its time. Nothing is sent where `write` gives nothing or no mail is configured.
 */
export function sendLetter(accounts: Accounts, write: () => Promise<Letter | undefined>): void {
  const { mail, background } = accounts
  if (!mail) return
  background.run('mail', async () => {
    const written = await write()
    if (written) await mail.send(written)
  })
}

/** The server as letters call it. */
export const hostOf = ({ base }: Accounts): string => new URL(base).host
