import { z } from 'zod'
import { breather } from '../../core/breath.ts'
import { Failure } from '../../core/failure.ts'
import type { Change, Library } from '../../core/library.ts'
import { toFailure } from '../../core/to-failure.ts'
import { reserveNumbers } from '../../db/replica.ts'
import { indexSources } from '../search/index-source.ts'
import { readRow, type ArchivedRow } from './archive-fields.ts'
import { ArchiveOwners } from './archive-owners.ts'
import {
  dropMissingTexts,
  dropSettings,
  firstFilled,
  insertArchived,
  sourceIdsAfter,
} from './import-archive-store.ts'
import {
  bytesInMemory,
  damagedArchive,
  readZip,
  unpackFile,
  unpackLines,
  type Archive,
  type ArchiveBytes,
} from './read-zip.ts'
import { takeMedia } from './import-media.ts'
import { EXPORTED_TABLES, type ExportedTable } from './tables.ts'

/** What `exportLibrary` writes, and the version of it. */
export const ARCHIVE_FORMAT = 'commonplace-export'
export const ARCHIVE_VERSION = 1

export interface ArchiveImport {
  /** Rows that went in, by the name of their file (`sources`, `highlights` …). */
  rows: Record<string, number>
  media: number
  /** Files that the archive itself says it does not have. */
  missingMedia: number
  /** Rows that belong to others which are not in the archive: made while it was written. */
  leftOut: number
}

export interface ImportArchiveOptions {
  /** Reads and checks everything, and writes nothing. */
  dryRun?: boolean
  signal?: AbortSignal
  onProgress?: (done: number, total: number, what: string) => void
  /** What else belongs to the one change, once all rows are there. */
  finish?: (change: Change) => Promise<void>
}

const WANTED = /^(?:manifest\.json|library\/[a-z-]+\.jsonl|media\/.+)$/

/** Whether a file is a whole-library archive of ours, as far as its directory can be read. */
export async function isLibraryArchive(file: Uint8Array | ArchiveBytes): Promise<boolean> {
  try {
    const files = await readZip(sourceOf(file), (name) => WANTED.test(name))
    return files.has('manifest.json') && files.has('library/sources.jsonl')
  } catch {
    return false
  }
}

/**
 * Makes an empty library the one that an archive holds, a local one or that of an account: the same rows under the same ids, the
 * same files. What is derived (the search index, vectors, keys for matching) is made anew. Everything is read and checked first;
 * then the files are put in, then all rows in one change: what fails leaves no row. A page of rows or a file is in memory at a
 * time.
 *
 * Fails with `library_not_empty`, `damaged_file`, `encrypted_file`, `too_large`, `unsupported_type`, `library_too_new`,
 * `read_only`.
 */
export async function importArchive(
  library: Library,
  file: Uint8Array | ArchiveBytes,
  { dryRun = false, signal, onProgress = () => {}, finish }: ImportArchiveOptions = {},
): Promise<ArchiveImport> {
  await refuseFilled(library)
  const bytes = sourceOf(file)
  const files = await readZip(bytes, (name) => WANTED.test(name))
  const archive = { bytes, files, signal: signal ?? new AbortController().signal }
  const stated = await readManifest(archive)
  const total = Object.values(stated.tables).reduce((sum, { rows }) => sum + rows, 0)
  const checked = await checkRows(archive, stated, (done) => onProgress(done, total, 'Checking the archive'))
  const media = await takeMedia(library, archive, dryRun, onProgress)
  const result = { ...checked.counts, media: media.files, missingMedia: media.missing }
  if (dryRun) return result
  try {
    await library.change(async (change) => {
      await refuseFilled({ db: change.db })
      await reserveNumbers(change.db, checked.highest)
      await dropSettings(change)
      await insertRows(change, archive, media.renamed, (done) => onProgress(done, total, 'Taking in'))
      await dropMissingTexts(change)
      await indexAll(change, archive.signal, onProgress)
      await finish?.(change)
    })
  } catch (error) {
    const failure = toFailure(error)
    throw failure.code === 'internal_error' && !signal?.aborted ? damagedArchive(error) : failure
  }
  return result
}

const sourceOf = (file: Uint8Array | ArchiveBytes): ArchiveBytes =>
  file instanceof Uint8Array ? bytesInMemory(file) : file

async function refuseFilled({ db }: Pick<Library, 'db'>): Promise<void> {
  if ((await firstFilled(db)) === undefined) return
  throw new Failure(
    'library_not_empty',
    'An archive becomes a whole library, and there is something in this one already.',
    {
      hint: 'Name a folder without a library (--library DIR, or COMMONPLACE_LIBRARY) and import it there. To put single highlights into this library, import their CSV.',
    },
  )
}

const manifestShape = z.object({
  format: z.literal(ARCHIVE_FORMAT),
  version: z.int().min(1),
  tables: z.record(z.string(), z.object({ rows: z.int().min(0) })),
})

const MOST_MANIFEST = 64 * 2 ** 20

async function readManifest({ bytes, files }: Archive): Promise<z.output<typeof manifestShape>> {
  const file = files.get('manifest.json')
  if (!file || !files.has('library/sources.jsonl') || file.size > MOST_MANIFEST)
    throw new Failure('unsupported_type', 'The file is no archive of a Commonplace library.', {
      hint: 'Give the ZIP file that `commonplace export library.zip` or the page “Your data” of a server wrote.',
    })
  const parts: Uint8Array[] = []
  for await (const part of unpackFile(bytes, file)) parts.push(part)
  let stated: z.output<typeof manifestShape>
  try {
    stated = manifestShape.parse(JSON.parse(Buffer.concat(parts).toString('utf8')))
  } catch (error) {
    throw damagedArchive(error)
  }
  if (stated.version > ARCHIVE_VERSION)
    throw new Failure('library_too_new', 'The archive was made by a newer Commonplace.', {
      hint: 'Upgrade Commonplace, then import it. Nothing of it was taken in.',
    })
  return stated
}

const TABLES = Object.keys(EXPORTED_TABLES) as ExportedTable[]

async function* rowsIn({ bytes, files, signal }: Archive, table: ExportedTable): AsyncGenerator<ArchivedRow> {
  const file = files.get(`library/${EXPORTED_TABLES[table].file}.jsonl`)
  // A table that came to be after the archive was made.
  if (!file) return
  const breathe = breather()
  let last = 0
  for await (const line of unpackLines(bytes, file)) {
    signal.throwIfAborted()
    await breathe()
    let row: ArchivedRow
    try {
      row = readRow(table, line)
    } catch (error) {
      throw damagedArchive(error)
    }
    if (row.id <= last) throw damagedArchive(new RangeError(`${table}: order of ids`))
    last = row.id
    yield row
  }
}

const REPLICA_SPAN = 2 ** 40

/** Reads every row once. */
async function checkRows(
  archive: Archive,
  { tables }: z.output<typeof manifestShape>,
  onRows: (done: number) => void,
): Promise<{ counts: Pick<ArchiveImport, 'rows' | 'leftOut'>; highest: Map<number, number> }> {
  const owners = new ArchiveOwners()
  const highest = new Map<number, number>()
  const rows: Record<string, number> = {}
  let leftOut = 0
  let done = 0
  for (const table of TABLES) {
    const { file } = EXPORTED_TABLES[table]
    let found = 0
    let taken = 0
    for await (const row of rowsIn(archive, table)) {
      found++
      if (owners.take(table, row)) taken++
      else leftOut++
      const number = Math.floor(row.id / REPLICA_SPAN)
      highest.set(number, Math.max(highest.get(number) ?? 0, row.id % REPLICA_SPAN))
      if (++done % 1_000 === 0) onRows(done)
    }
    if (found !== (tables[file]?.rows ?? 0)) throw damagedArchive(new RangeError(`${table}: number of rows`))
    rows[file] = taken
  }
  return { counts: { rows, leftOut }, highest }
}

async function insertRows(
  change: Change,
  archive: Archive,
  renamed: ReadonlyMap<string, string>,
  onRows: (done: number) => void,
): Promise<void> {
  const owners = new ArchiveOwners()
  let done = 0
  for (const table of TABLES) {
    let page: ArchivedRow[] = []
    for await (const row of rowsIn(archive, table)) {
      done++
      if (!owners.take(table, row)) continue
      if (table === 'text' && renamed.size > 0)
        row['raw'] = renamed.get(String(row['raw'])) ?? row['raw'] ?? null
      page.push(row)
      if (page.length < EXPORTED_TABLES[table].page) continue
      await insertArchived(change, table, page)
      page = []
      onRows(done)
    }
    await insertArchived(change, table, page)
  }
}

const SOURCES = 50

async function indexAll(
  change: Change,
  signal: AbortSignal,
  onProgress: (done: number, total: number, what: string) => void,
): Promise<void> {
  let done = 0
  for (let last = 0; ;) {
    signal.throwIfAborted()
    const ids = await sourceIdsAfter(change.db, last, SOURCES)
    if (ids.length === 0) return
    last = ids.at(-1)!
    await indexSources(change, ids)
    done += ids.length
    onProgress(done, done, 'Making the search index')
  }
}
