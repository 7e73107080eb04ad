import { createHash } from 'node:crypto'
import { Failure } from '../../core/failure.ts'
import type { Change, Library } from '../../core/library.ts'
import { readSettings } from '../../core/settings.ts'
import { toFailure } from '../../core/to-failure.ts'
import { VERSION } from '../../core/version.ts'
import type { Db } from '../../db/schema.ts'
import { findAnchors } from './find-anchors.ts'
import { keepOriginal, readCarriedText, type CarriedText } from './carried-text.ts'
import { openImport } from './formats.ts'
import { ImportPlan, placeholders } from './import-plan.ts'
import { ImportReport } from './import-report.ts'
import {
  addBatch,
  beginImport,
  completeImport,
  countsOf,
  failImport,
  findImport,
  findSameFile,
  findUnfinished,
  lastChange,
  noteImport,
  type Import,
  type ImportCounts,
} from './import-store.ts'
import type { ImportedItem } from './imported.ts'
import { KnownLibrary } from './known-library.ts'
import { planItem } from './plan-item.ts'
import type { Planning } from './planning.ts'
import { RowOutcomes } from './row-outcomes.ts'
import { undoImport } from './undo-import.ts'
import { writePlan } from './write-plan-store.ts'

/** Sources, highlights and notes that one transaction takes: a tenth of a second, in which nobody else can write. */
const BATCH = 250

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

interface Writer {
  importId: number
  /** What it had brought before it was cut short. */
  before: ImportCounts
  isResumed: boolean
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

const ended = (): Failure =>
  new Failure('cancelled', 'The import was ended by somebody else.', {
    hint: 'Import the file again if you want what is in it.',
  })

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

interface RunOptions extends WriteOptions {
  writer?: Writer
  joinsVersions: boolean
}

/** The items of one file on their way into the library, batch by batch. */
class ImportRun {
  readonly outcomes: RowOutcomes
  readonly #library: Library
  readonly #report: ImportReport
  readonly #options: RunOptions
  readonly #counts = new ImportPlan(() => 0).counts
  readonly #texts = new Map<ImportedItem, CarriedText>()
  readonly #nextId = placeholders()
  #waiting: ImportedItem[] = []
  #size = 0
  /** What a trial has planned so far stands for what would have been written. */
  #trial: KnownLibrary | undefined

  constructor(library: Library, report: ImportReport, options: RunOptions) {
    this.#library = library
    this.#report = report
    this.#options = options
    this.outcomes = new RowOutcomes(isReported(options))
    if (!options.writer) this.#trial = new KnownLibrary()
  }

  async take(whole: ImportedItem): Promise<void> {
    const { signal } = this.#options
    for (const item of partsOf(whole)) {
      signal?.throwIfAborted()
      await this.#readText(item)
      this.#waiting.push(item)
      this.#size += sizeOf(item)
      if (this.#size >= BATCH) await this.flush()
    }
  }

  async flush(): Promise<void> {
    const items = this.#waiting
    this.#waiting = []
    this.#size = 0
    if (items.length > 0) await this.#write(items)
    this.#texts.clear()
    this.#options.onProgress?.(this.#report.rows)
  }

  total(): ImportCounts {
    const { refused, left, bookmark } = this.#report.counts
    const sum = { ...this.#counts }
    // What an earlier attempt brought counts as brought.
    for (const name of ['sources', 'highlights', 'notes', 'reads', 'tags', 'changed'] as const)
      sum[name] += this.#options.writer?.before[name] ?? 0
    return {
      rows: this.#report.rows,
      rows_done: this.#report.rows,
      skipped: refused + left + bookmark,
      ...sum,
    }
  }

  async #readText(item: ImportedItem): Promise<void> {
    if (item.text === null) return
    let text: CarriedText | undefined
    try {
      text = await readCarriedText(item, this.#options.signal)
    } catch (error) {
      const failure = toFailure(error)
      if (failure.code === 'cancelled') throw error
      this.#report.remark('text_unread', { row: item.rows[0] ?? 0, text: item.source.title ?? '' })
    }
    if (!text) return
    if (this.#options.writer) text.text.raw = await keepOriginal(this.#library.outside.media, item.text)
    this.#texts.set(item, text)
  }

  async #write(items: readonly ImportedItem[]): Promise<void> {
    const { db } = this.#library
    const { writer } = this.#options
    const seen = await lastChange(db)
    const planned = await this.#plan(db, items)
    let { outcomes, plan } = planned
    let idOf = (id: number): number => id
    // What is there already needs no transaction.
    if (writer && !plan.isEmpty) {
      idOf = await this.#library.change(async (change) => {
        // Others may have written meanwhile: then it is planned anew, with nobody else writing.
        if ((await lastChange(change.db)) !== seen)
          ({ outcomes, plan } = await this.#plan(change.db, items, planned.anchors))
        return plan.isEmpty ? idOf : this.#commit(change, writer, plan)
      })
    }
    this.outcomes.add(outcomes, idOf)
    for (const name of Object.keys(this.#counts) as (keyof ImportPlan['counts'])[])
      this.#counts[name] += plan.counts[name]
  }

  async #commit(change: Change, { importId }: Writer, plan: ImportPlan): Promise<(id: number) => number> {
    const counts = this.total()
    for (const name of Object.keys(this.#counts) as (keyof ImportPlan['counts'])[])
      counts[name] = (counts[name] ?? 0) + plan.counts[name]
    if (!(await noteImport(change, importId, { counts }))) throw ended()
    const { idOf, rows } = await writePlan(change, plan)
    await addBatch(change, importId, rows)
    return idOf
  }

  async #plan(db: Db, items: readonly ImportedItem[], found?: Awaited<ReturnType<typeof findAnchors>>) {
    const { joinsVersions, fetches = false } = this.#options
    const library = this.#trial ?? new KnownLibrary()
    await library.learn(db, items)
    const anchors = await findAnchors(db, library, items, found)
    const plan = new ImportPlan(this.#nextId)
    const outcomes = new RowOutcomes(isReported(this.#options))
    const planning: Planning = {
      library,
      plan,
      outcomes,
      at: this.#library.now().toISOString(),
      rules: await readSettings(db),
      joinsVersions,
      fetches,
      anchorOf: anchors.of,
      textOf: (item) => this.#texts.get(item),
    }
    for (const item of items) planItem(item, planning)
    return { plan, outcomes, anchors }
  }
}

const isReported = ({ reports = false, keepReport }: WriteOptions): boolean =>
  reports || keepReport !== undefined

const sizeOf = ({ highlights, notes }: ImportedItem): number =>
  1 +
  highlights.length +
  notes.length +
  highlights.reduce((sum, highlight) => sum + highlight.notes.length, 0)

/** A source with very many highlights goes in by parts. */
function* partsOf(item: ImportedItem): Generator<ImportedItem> {
  const { highlights } = item
  if (highlights.length <= BATCH) return yield item
  yield { ...item, highlights: highlights.slice(0, BATCH) }
  for (let from = BATCH; from < highlights.length; from += BATCH) {
    yield {
      ...item,
      highlights: highlights.slice(from, from + BATCH),
      notes: [],
      privateNote: null,
      tags: [],
      folder: [],
      reading: {
        ...item.reading,
        favourite: false,
        archived: false,
        status: null,
        startedOn: null,
        finishedOn: null,
        rating: null,
        review: null,
      },
      text: null,
      rows: [],
    }
  }
}
