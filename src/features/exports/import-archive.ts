import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { z } from 'zod'
import { breather } from '../../core/breath.ts'
import { Failure } from '../../core/failure.ts'
import type { Change, Library } from '../../core/library.ts'
import { toFailure } from '../../core/to-failure.ts'
import { reserveNumbers } from '../../db/replica.ts'
import { nameKey } from '../../core/text.ts'
import { indexSources } from '../search/index-source.ts'
import { readRow, type ArchivedRow } from './archive-fields.ts'
import {
  addressKey,
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
  type ArchiveBytes,
  type ZipFile,
} from './read-zip.ts'
import { EXPORTED_TABLES, type ExportedTable } from './tables.ts'

const pack = promisify(gzip)

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

interface Archive {
  bytes: ArchiveBytes
  files: ReadonlyMap<string, ZipFile>
  signal: AbortSignal
}

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

/** What rows of an archive belong to, so that none goes in without it. */
class Owners {
  readonly #ids = new Map<ExportedTable, Set<number>>(
    (['source', 'highlight', 'tag', 'import'] as const).map((table) => [table, new Set()]),
  )
  /** Keys under which there may be but one row. */
  readonly #keys = new Set<string>()

  /** Whether everything is there that the row belongs to; it is then known itself. */
  take(table: ExportedTable, row: ArchivedRow): boolean {
    if (!this.#fits(table, row)) return false
    this.#ids.get(table)?.add(row.id)
    return true
  }

  #fits(table: ExportedTable, row: ArchivedRow): boolean {
    // What is remembered of imports outlives what they brought.
    const outlives = table === 'import' || table === 'imported'
    if (!outlives && !this.#has('source', row['source_id'])) return false
    if (!this.#has('highlight', row['highlight_id']) || !this.#has('tag', row['tag_id'])) return false
    if (!this.#has('import', row['import_id'])) return false
    const key = keyOf(table, row)
    if (key === undefined) return true
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    return true
  }

  #has(table: ExportedTable, id: string | number | null | undefined): boolean {
    return id === undefined || id === null || this.#ids.get(table)?.has(Number(id)) === true
  }
}

function keyOf(table: ExportedTable, row: ArchivedRow): string | undefined {
  if (table === 'source_url') return `u ${addressKey(String(row['url']))}`
  if (table === 'tag') return `t ${nameKey(String(row['name']))}`
  if (table === 'tagging') return `g ${row['target_id']} ${row['tag_id']}`
  if (table === 'setting') return `s ${row['key']}`
  return undefined
}

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
  const owners = new Owners()
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

const mediaRow = z.object({
  kind: z.string(),
  media: z.string(),
  file: z.string().nullable(),
})

interface TakenMedia {
  files: number
  missing: number
  /** Originals that are packed again to other bytes, by their old name. */
  renamed: Map<string, string>
}

const MOST_FILE = 2 ** 30

/** Puts in the files, each under the name that rows have for it. What is there already counts as put anew. */
async function takeMedia(
  { outside: { media } }: Pick<Library, 'outside'>,
  { bytes, files, signal }: Archive,
  dryRun: boolean,
  onProgress: (done: number, total: number, what: string) => void,
): Promise<TakenMedia> {
  const taken: TakenMedia = { files: 0, missing: 0, renamed: new Map() }
  const list = files.get('library/media.jsonl')
  if (!list) throw damagedArchive(new RangeError('media'))
  const total = [...files.keys()].filter((name) => name.startsWith('media/')).length
  const done = new Set<string>()
  for await (const line of unpackLines(bytes, list)) {
    signal.throwIfAborted()
    let row: z.output<typeof mediaRow>
    try {
      row = mediaRow.parse(JSON.parse(line))
    } catch (error) {
      throw damagedArchive(error)
    }
    if (done.has(row.media)) continue
    done.add(row.media)
    if (row.file === null) {
      taken.missing++
      continue
    }
    const file = files.get(row.file)
    if (!file || file.size > MOST_FILE) throw damagedArchive(new RangeError(`media: ${row.file}`))
    const parts: Uint8Array[] = []
    for await (const part of unpackFile(bytes, file)) parts.push(part)
    const whole = Buffer.concat(parts)
    // Originals are kept packed and go out as they came.
    const kept = hashOf(whole) === row.media || row.kind !== 'original' ? whole : await pack(whole)
    const hash = hashOf(kept)
    if (hash !== row.media) {
      if (row.kind !== 'original') throw damagedArchive(new RangeError(`media: ${row.file}`))
      // Another version of zlib packs to other bytes.
      taken.renamed.set(row.media, hash)
    }
    if (!dryRun) await media.put(kept)
    onProgress(++taken.files, total, 'Taking in files')
  }
  return taken
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function insertRows(
  change: Change,
  archive: Archive,
  renamed: ReadonlyMap<string, string>,
  onRows: (done: number) => void,
): Promise<void> {
  const owners = new Owners()
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
