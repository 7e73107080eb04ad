import type { Library } from '../core/library.ts'
import type { ExportEntry } from '../features/exports/export-entry.ts'
import { emptyManifest, exportLibrary } from '../features/exports/export-library.ts'
import { ARCHIVE_FORMAT, ARCHIVE_VERSION } from '../features/exports/import-archive.ts'
import { writeZip } from './zip.ts'

const README = `library/*.jsonl   every table of your library, one row a line, as JSON
library/media.jsonl  which file under media/ belongs to which row
texts/*.md        the text of every source, with what is known of it at the top
notes/*.md        what you marked and wrote in it
media/            pages and files as they came, covers, and reports on imported files
manifest.json     how much of everything there is; written last

What lies in the trash is in library/*.jsonl and in media/, and not among texts/ and notes/.
docs/export-format.md of Commonplace explains every field. "commonplace import" makes an empty library this one again.
`

export interface ArchiveOptions {
  /** Where the library lives: the address of a server, or `local`. */
  from: string
  now: () => Date
  /** What a server keeps of the reader beside the library. */
  account?: { about: string; facts: object }
  /** Told before each file of the archive. */
  onFile?: (name: string) => void
}

/**
 * A whole library as a ZIP archive, in bytes as they come: one page, text or file is in memory at a time, and while nobody takes
 * what is there nothing more is read. The directory comes last: what breaks off is no archive. Throws what the database and the
 * media store throw.
 */
export async function* writeArchive(
  library: Pick<Library, 'db' | 'outside'>,
  { from, now, account, onFile }: ArchiveOptions,
): AsyncGenerator<Uint8Array> {
  const madeAt = now()
  const manifest = emptyManifest()
  async function* entries(): AsyncGenerator<ExportEntry> {
    const readme = account
      ? account.about + README
      : `This archive holds a whole Commonplace library.\n\n${README}`
    yield { name: 'README.txt', content: [readme] }
    if (account) yield { name: 'account.json', content: [pretty(account.facts)] }
    for await (const entry of exportLibrary(library, manifest)) {
      onFile?.(entry.name)
      yield entry
    }
    const about = { format: ARCHIVE_FORMAT, version: ARCHIVE_VERSION, from, madeAt: madeAt.toISOString() }
    yield {
      name: 'manifest.json',
      content: [pretty({ ...about, endedAt: now().toISOString(), ...manifest })],
    }
  }
  yield* writeZip(entries(), madeAt)
}

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
