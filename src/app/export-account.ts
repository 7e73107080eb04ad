import type { Library } from '../core/library.ts'
import { Failure } from '../core/failure.ts'
import type { Accounts } from '../features/accounts/accounts.ts'
import { accountFacts } from '../features/exports/account-facts-store.ts'
import { writeArchive } from './export-archive.ts'

const ABOUT = `This archive holds everything that a Commonplace server keeps of one reader.

account.json      who you are here, what you connected, the names of your tokens, your feedback; no passwords, no tokens
`

/**
 * A reader's whole account as a ZIP archive, in bytes as they come: that of their library (see `writeArchive`) with what the
 * server keeps of them beside it. Throws `not_logged_in` where there is no such reader, and what the database and the media
 * store throw.
 */
export async function* exportAccount(
  accounts: Pick<Accounts, 'db' | 'now' | 'base' | 'usage'>,
  readerId: string,
  library: Pick<Library, 'db' | 'outside'>,
): AsyncGenerator<Uint8Array> {
  await accounts.usage.flush()
  const facts = await accountFacts(accounts.db, readerId)
  if (!facts) {
    throw new Failure('not_logged_in', 'There is no such reader any more.', { hint: 'Sign in again.' })
  }
  yield* writeArchive(library, {
    from: accounts.base,
    now: () => accounts.now(),
    account: { about: ABOUT, facts },
  })
}

/** What a browser is told to call the archive. */
export const exportName = (at: Date): string => `commonplace-export-${at.toISOString().slice(0, 10)}.zip`
