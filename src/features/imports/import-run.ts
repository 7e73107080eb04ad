import { Failure } from '../../core/failure.ts'
import type { Change, Library } from '../../core/library.ts'
import { readSettings } from '../../core/settings.ts'
import { toFailure } from '../../core/to-failure.ts'
import type { Db } from '../../db/schema.ts'
import { keepOriginal, readCarriedText, type CarriedText } from './carried-text.ts'
import { findAnchors } from './find-anchors.ts'
import { ImportPlan, placeholders } from './import-plan.ts'
import type { ImportReport } from './import-report.ts'
import { addBatch, lastChange, noteImport, type ImportCounts } from './import-store.ts'
import type { ImportedItem } from './imported.ts'
import { KnownLibrary } from './known-library.ts'
import { planItem } from './plan-item.ts'
import type { Planning } from './planning.ts'
import { RowOutcomes } from './row-outcomes.ts'
import { writePlan } from './write-plan-store.ts'

/** Sources, highlights and notes that one transaction takes: a tenth of a second, in which nobody else can write. */
const BATCH = 250

/** The import that a run writes for. */
export interface Writer {
  importId: number
  /** What it had brought before it was cut short. */
  before: ImportCounts
  isResumed: boolean
}

export interface RunOptions {
  /** Absent for a trial, which writes nothing. */
  writer?: Writer
  joinsVersions: boolean
  /** Whether what became of each row is wanted. */
  isReported: boolean
  fetches?: boolean
  signal?: AbortSignal
  onProgress?: (done: number) => void
}

/** What a run fails with that finds its import undone or ended. */
export const ended = (): Failure =>
  new Failure('cancelled', 'The import was ended by somebody else.', {
    hint: 'Import the file again if you want what is in it.',
  })

/** The items of one file on their way into the library, batch by batch. */
export class ImportRun {
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
    this.outcomes = new RowOutcomes(options.isReported)
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
    const outcomes = new RowOutcomes(this.#options.isReported)
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
