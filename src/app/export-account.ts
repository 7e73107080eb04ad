import type { Library } from '../core/library.ts'
import { Failure } from '../core/failure.ts'
import type { Accounts } from '../features/accounts/accounts.ts'
import { accountFacts } from '../features/exports/account-facts-store.ts'
import type { ExportEntry } from '../features/exports/export-entry.ts'
import { emptyManifest, exportLibrary } from '../features/exports/export-library.ts'
import { writeZip } from './zip.ts'

const FORMAT = 'commonplace-export'
const VERSION = 1

const README = `This archive holds everything that a Commonplace server keeps of one reader.

account.json      who you are here, what you connected, the names of your tokens, your feedback; no passwords, no tokens
library/*.jsonl   every table of your library, one row a line, as JSON
library/media.jsonl  which file under media/ belongs to which row
texts/*.md        the text of every source, with what is known of it at the top
notes/*.md        what you marked and wrote in it
media/            pages and files as they came, and covers
manifest.json     how much of everything there is; written last

What lies in the trash is in library/*.jsonl and in media/, and not among texts/ and notes/.
docs/export-format.md of Commonplace explains every field.
`

/**
 * A reader's whole account as a ZIP archive, in bytes as they come: one page, text or file is in memory at a time, and while
 * nobody takes what is there nothing more is read. The directory comes last: what breaks off is no archive. Throws
 * `not_logged_in` where there is no such reader, and what the database and the media store throw.
 */
export async function* exportAccount(
  accounts: Pick<Accounts, 'db' | 'now' | 'base' | 'usage'>,
  readerId: string,
  library: Pick<Library, 'db' | 'outside'>,
): AsyncGenerator<Uint8Array> {
  const madeAt = accounts.now()
  await accounts.usage.flush()
  const account = await accountFacts(accounts.db, readerId)
  if (!account) {
    throw new Failure('not_logged_in', 'There is no such reader any more.', { hint: 'Sign in again.' })
  }
  const manifest = emptyManifest()
  async function* entries(): AsyncGenerator<ExportEntry> {
    yield { name: 'README.txt', content: [README] }
    yield { name: 'account.json', content: [pretty(account)] }
    yield* exportLibrary(library, manifest)
    const about = { format: FORMAT, version: VERSION, from: accounts.base, madeAt: madeAt.toISOString() }
    yield {
      name: 'manifest.json',
      content: [pretty({ ...about, endedAt: accounts.now().toISOString(), ...manifest })],
    }
  }
  yield* writeZip(entries(), madeAt)
}

/** What a browser is told to call the archive. */
export const exportName = (at: Date): string => `commonplace-export-${at.toISOString().slice(0, 10)}.zip`

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
