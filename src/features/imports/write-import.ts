import { createHash } from 'node:crypto'
import type { Failure } from '../../core/failure.ts'
import type { Library } from '../../core/library.ts'
import { toFailure } from '../../core/to-failure.ts'
import { VERSION } from '../../core/version.ts'
import { openImport } from './formats.ts'
import { ImportPlan } from './import-plan.ts'
import { ImportReport } from './import-report.ts'
import { ended, ImportRun, type Writer } from './import-run.ts'
import {
  beginImport,
  completeImport,
  countsOf,
  failImport,
  findImport,
  findSameFile,
  findUnfinished,
  noteImport,
  type Import,
  type ImportCounts,
} from './import-store.ts'
import { RowOutcomes } from './row-outcomes.ts'
import { undoImport } from './undo-import.ts'

export interface WriteOptions {
  /** What the file is called. */
  name?: string | null
  /** Files that were given with it. */
  beside?: readonly Uint8Array[]
  /** Finds out what would become of everything, and writes nothing. */
  dryRun?: boolean
  /** Queues the capture of pages that come without a text. */
  fetches?: boolean
  /** Whether what became of each row is wanted, for a report. */
  reports?: boolean
  /** Keeps the report, which is then made, and gives the name of the file that it is kept in. */
  keepReport?: (report: ImportReport, outcomes: RowOutcomes) => Promise<string>
  /** An import that was begun already. */
  importId?: number
  signal?: AbortSignal
  /** Told now and then: rows of the file that are done. */
  onProgress?: (done: number) => void
}

export interface WrittenImport {
  /** Null where nothing was written. */
  importId: number | null
  /** Id and title of the kind of file. */
  format: { id: string; title: string }
  /** Whether it took up an import that was cut short. */
  isResumed: boolean
  report: ImportReport
  outcomes: RowOutcomes
  counts: ImportCounts
  /** Set where this very file had come in before, and was not read again for that. */
  cameInAt?: string
}

/**
 * Brings an export of another program into the library. What is there already is not added again, what the reader has changed
 * or deleted here stays so. Written in batches, each whole in itself: after a crash the same file again finishes the work.
 *
 * Fails with `unsupported_type`, `damaged_file` or `too_large` for a file that cannot be read, and then nothing of it stays;
 * with `cancelled` where it was interrupted or undone meanwhile, and then what was done stays.
 */
export async function writeImport(
  library: Library,
  bytes: Uint8Array,
  options: WriteOptions = {},
): Promise<WrittenImport> {
  const { beside = [], dryRun = false, importId } = options
  const report = new ImportReport()
  let opened: ReturnType<typeof openImport>
  try {
    opened = openImport(bytes, report, beside)
  } catch (error) {
    if (importId !== undefined && !dryRun) await endBadly(library, importId, toFailure(error))
    throw error
  }
  const { format, items } = opened
  const same = isReported(options) || options.fetches ? undefined : await findSame(library, bytes, options)
  if (same) return wasThere(same, format, report)
  const writer = dryRun ? undefined : await begin(library, format.id, bytes, options)
  const run = new ImportRun(library, report, {
    ...options,
    joinsVersions: format.keepsVersions ?? false,
    isReported: isReported(options),
    ...(writer && { writer }),
  })
  try {
    for await (const item of items) await run.take(item)
    await run.flush()
  } catch (error) {
    if (writer) await giveUp(library, writer.importId, error)
    throw error
  }
  const counts = run.total()
  if (writer) {
    const { importId: id } = writer
    const kept = await options.keepReport?.(report, run.outcomes)
    const end = { counts, remarks: remarksOn(report), ...(kept !== undefined && { report: kept }) }
    await library.change((change) => completeImport(change, id, end))
  }
  return {
    importId: writer?.importId ?? null,
    format: { id: format.id, title: format.title },
    isResumed: writer?.isResumed ?? false,
    report,
    outcomes: run.outcomes,
    counts,
  }
}

/** The import that brought all of this in already. */
async function findSame(
  { db }: Library,
  bytes: Uint8Array,
  { beside = [], dryRun = false, importId }: WriteOptions,
): Promise<Import | undefined> {
  if (dryRun || importId !== undefined) return undefined
  return findSameFile(db, hashOfFiles([bytes, ...beside]), VERSION)
}

/** What the reader has changed or deleted here since stays so in any case: reading the file again would find nothing. */
function wasThere(
  before: Import,
  { id, title }: WrittenImport['format'],
  report: ImportReport,
): WrittenImport {
  const { rows = 0, skipped = 0, deleted = 0, ...counts } = countsOf(before)
  const { sources = 0, highlights = 0, notes = 0, changed = 0, unchanged = 0 } = counts
  return {
    importId: null,
    format: { id, title },
    isResumed: false,
    report,
    outcomes: new RowOutcomes(false),
    counts: {
      ...new ImportPlan(() => 0).counts,
      rows,
      rows_done: rows,
      skipped,
      deleted,
      unchanged: sources + highlights + notes + changed + unchanged,
    },
    ...(before.finished_at !== null && { cameInAt: before.finished_at }),
  }
}

async function begin(
  library: Library,
  format: string,
  bytes: Uint8Array,
  { beside = [], name = null, importId }: WriteOptions,
): Promise<Writer> {
  const file_hash = hashOfFiles([bytes, ...beside])
  return library.change(async (change): Promise<Writer> => {
    const own =
      importId === undefined
        ? await findUnfinished(change.db, file_hash)
        : await findImport(change.db, importId)
    const id =
      own?.id ?? (await beginImport(change, { kind: 'file', format, name, file_hash, version: VERSION }))
    const goesOn = await noteImport(change, id, { format })
    if (!goesOn) throw ended()
    const before = own ? countsOf(own) : {}
    return { importId: id, before, isResumed: (before.rows_done ?? 0) > 0 }
  })
}

/** Of one file its SHA-256, whatever the order of several. */
export function hashOfFiles(files: readonly Uint8Array[]): string {
  const hashes = files.map((file) => createHash('sha256').update(file).digest('hex'))
  return hashes.length === 1
    ? hashes[0]!
    : createHash('sha256').update(hashes.toSorted().join('\n')).digest('hex')
}

/** Of a file that turned out to be unreadable nothing stays; of one that was interrupted what is done, to be gone on with. */
async function giveUp(library: Library, importId: number, error: unknown): Promise<void> {
  const failure = toFailure(error)
  if (!['damaged_file', 'too_large', 'unsupported_type', 'encrypted_file'].includes(failure.code)) return
  await endBadly(library, importId, failure)
  await undoImport(library, importId)
}

const endBadly = (library: Library, importId: number, failure: Failure): Promise<boolean> =>
  library.change((change) => failImport(change, importId, failure))

const MOST_REMARKS = 20

/** What a reader should know beside the counts: how many rows stayed out, and why. */
function remarksOn({ outcomes }: ImportReport): string[] {
  const reasons = new Map<string, number>()
  for (const { fate, message } of outcomes)
    if (fate === 'refused') reasons.set(message, (reasons.get(message) ?? 0) + 1)
  return [...reasons]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MOST_REMARKS)
    .map(([message, rows]) => `${rows === 1 ? '1 row' : `${rows.toLocaleString('en')} rows`}: ${message}`)
}

const isReported = ({ reports = false, keepReport }: WriteOptions): boolean =>
  reports || keepReport !== undefined
