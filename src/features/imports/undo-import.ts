import type { Change, Library } from '../../core/library.ts'
import { Failure } from '../../core/failure.ts'
import type { Schema, SyncedTable } from '../../db/schema.ts'
import { indexHighlight, indexNote, indexSource } from '../search/index-source.ts'
import { isMediaNamed, listHistory, listMedia } from '../sources/owned-store.ts'
import { eraseHighlight, eraseNote, eraseSource } from '../sources/trash.ts'
import { batchesOf, failImport, findImport, noteUndone, type ImportedRow } from './import-store.ts'
import {
  findRow,
  forgetRows,
  forgetText,
  hasCapture,
  isHighlightUsed,
  isSourceUsed,
  isTagUsed,
  isTextUsed,
  notesOn,
  type StandingRow,
} from './undo-store.ts'

const COUNTED = ['source', 'highlight', 'note', 'read'] as const
type Counted = (typeof COUNTED)[number]

export interface UndoneImport {
  importId: number
  /** False where it had been undone before. */
  isNew: boolean
  removed: Record<Counted, number>
  /** What stays, because the reader has done something with it since. */
  kept: Record<Counted, number>
}

export interface UndoOptions {
  signal?: AbortSignal
  onProgress?: (done: number, total: number) => void
}

const ROWS_A_CHANGE = 200
/** A file of media that was put so lately may be wanted by a capture that is about to name it. */
const LATELY_MS = 3_600_000

/** What stays because of another row is looked at after it. */
const ORDER: readonly (keyof Schema)[] = [
  'highlight',
  'note',
  'read',
  'text',
  'source',
  'source_url',
  'tagging',
  'version',
  'tag',
]

/**
 * Takes out again what an import brought, for ever: the same file can be imported anew. What the reader has written to, tagged,
 * changed or reviewed since stays, and so does the source of it; so does what was there before, as it was before. An import that
 * still runs is ended first. May be called again where it was cut short. Throws `import_not_found`.
 */
export async function undoImport(
  library: Library,
  id: number,
  options: UndoOptions = {},
): Promise<UndoneImport> {
  const { signal, onProgress } = options
  const undone: UndoneImport = { importId: id, isNew: true, removed: noneOf(), kept: noneOf() }
  const { undone_at } = await findImport(library.db, id)
  if (undone_at !== null) return { ...undone, isNew: false }
  await library.change((change) => failImport(change, id, withdrawn()))
  const rows: ImportedRow[] = []
  for await (const batch of batchesOf(library.db, id)) rows.push(...batch.toReversed())
  const own = new Set(rows.map(([, rowId]) => rowId))
  const changed = new Map<number, Set<string>>()
  for (const [, rowId, fields] of rows)
    for (const field of Object.keys(fields ?? {}))
      changed.set(rowId, (changed.get(rowId) ?? new Set()).add(field))
  const steps = [
    ...rows.filter(([, , fields]) => fields !== undefined),
    ...ORDER.flatMap((table) => rows.filter(([name, , fields]) => name === table && fields === undefined)),
  ]
  for (let from = 0; from < steps.length; from += ROWS_A_CHANGE) {
    signal?.throwIfAborted()
    onProgress?.(from, steps.length)
    const media = await library.change(async (change) => {
      const undo = new Undo(change, { own, changed, undone })
      for (const step of steps.slice(from, from + ROWS_A_CHANGE)) await undo.take(step)
      await undo.finish()
      return undo.media
    })
    const putBefore = new Date(library.now().getTime() - LATELY_MS)
    for (const hash of media)
      if (!(await isMediaNamed(library.db, hash))) await library.outside.media.remove(hash, { putBefore })
  }
  await library.change((change) => noteUndone(change, id))
  return undone
}

const noneOf = (): Record<Counted, number> => ({ source: 0, highlight: 0, note: 0, read: 0 })

const withdrawn = (): Failure =>
  new Failure('cancelled', 'The import was undone before it had ended.', {
    hint: 'Import the file again if you want it.',
  })

interface UndoParts {
  /** Ids of all rows of the import. */
  own: ReadonlySet<number>
  /** Fields that the import itself has changed, by row. */
  changed: ReadonlyMap<number, ReadonlySet<string>>
  undone: UndoneImport
}

/** The undo of some rows in one change. */
class Undo {
  readonly media = new Set<string>()
  readonly #change: Change
  readonly #parts: UndoParts
  readonly #gone: number[] = []
  readonly #stale = new Set<number>()

  constructor(change: Change, parts: UndoParts) {
    this.#change = change
    this.#parts = parts
  }

  async take([table, id, fields]: ImportedRow): Promise<void> {
    if (!isUndone(table)) return
    const row = await findRow(this.#change.db, table, id)
    if (!row) return
    if (fields !== undefined) return this.#putBack(table, row, fields)
    const removed = await this.#remove(table, row)
    if (removed) this.#gone.push(id)
    const counted = COUNTED.find((name) => name === table)
    if (counted) this.#parts.undone[removed ? 'removed' : 'kept'][counted]++
  }

  async finish(): Promise<void> {
    await forgetRows(this.#change, this.#gone)
    for (const id of this.#stale) await indexSource(this.#change, id)
  }

  /** Fields that still are what the import made them become what they were. */
  async #putBack(
    table: SyncedTable,
    row: StandingRow,
    fields: Readonly<Record<string, readonly [before: unknown, after: unknown]>>,
  ): Promise<void> {
    const id = Number(row['id'])
    const back = Object.entries(fields).flatMap(([field, [before, after]]) =>
      row[field] === after ? [[field, before]] : [],
    )
    await this.#change.update(table, id, Object.fromEntries(back))
    if (table === 'highlight') await indexHighlight(this.#change, id)
    else if (table === 'note') await indexNote(this.#change, id)
    else if (table === 'source') this.#stale.add(id)
  }

  async #remove(table: SyncedTable, row: StandingRow): Promise<boolean> {
    const change = this.#change
    const { db } = change
    const { own } = this.#parts
    const id = Number(row['id'])
    switch (table) {
      case 'highlight': {
        const notes = await notesOn(db, id)
        const isUsed =
          notes.some((note) => note['trashed_at'] === null && !this.#isUntouchedNote(note)) ||
          (await isHighlightUsed(db, id, own)) ||
          this.#isEdited(row, ['quote', 'color'], 'text_id')
        if (row['trashed_at'] === null && isUsed) return false
        await eraseHighlight(change, id)
        for (const note of notes) this.#removedNote(note)
        return true
      }
      case 'note': {
        if (row['trashed_at'] === null && !this.#isUntouchedNote(row)) return false
        // A note stays with a highlight that stays.
        const on = Number(row['highlight_id'])
        if (own.has(on) && (await findRow(db, 'highlight', on))) return false
        await eraseNote(change, id)
        return true
      }
      case 'read':
        if (
          row['trashed_at'] === null &&
          this.#isEdited(row, ['status', 'started_on', 'finished_on', 'rating', 'review'])
        )
          return false
        return change.erase('read', id)
      case 'text':
        return this.#removeText(row)
      case 'source': {
        const isNamed = this.#isEdited(row, ['title']) && !(await hasCapture(db, id))
        if (row['trashed_at'] === null && (isNamed || (await isSourceUsed(db, id, own)))) return false
        for (const hash of await listMedia(db, id)) this.media.add(hash)
        await eraseSource(change, id)
        return true
      }
      case 'tag':
        return (await isTagUsed(db, id)) ? false : change.erase('tag', id)
      case 'source_url':
        return own.has(Number(row['source_id'])) ? false : change.erase('source_url', id)
      case 'tagging':
        return (await this.#isKept(row['target_id'])) ? false : change.erase('tagging', id)
      case 'version':
        return (await this.#isKept(row['row_id'])) ? false : change.erase('version', id)
      default:
        return change.erase(table, id)
    }
  }

  /** A text in which nothing of the reader's stands; its source then has none, as before. */
  async #removeText(row: StandingRow): Promise<boolean> {
    const change = this.#change
    const [id, sourceId] = [Number(row['id']), Number(row['source_id'])]
    if (await isTextUsed(change.db, id)) return false
    const source = await findRow(change.db, 'source', sourceId)
    if (source?.['text_id'] === id) {
      await change.update('source', sourceId, { text_id: null, words: null })
      this.#stale.add(sourceId)
    }
    for (const version of await listHistory(change.db, id)) await change.erase(version.table, version.id)
    await forgetText(change, sourceId, String(row['hash']))
    if (typeof row['raw'] === 'string') this.media.add(row['raw'])
    return change.erase('text', id)
  }

  #isUntouchedNote(note: StandingRow): boolean {
    return this.#parts.own.has(Number(note['id'])) && !this.#isEdited(note, ['body'])
  }

  #removedNote(note: StandingRow): void {
    const id = Number(note['id'])
    this.#gone.push(id)
    if (this.#parts.own.has(id)) this.#parts.undone.removed.note++
  }

  /** Whether a row was new with the import and stays all the same. */
  async #isKept(given: unknown): Promise<boolean> {
    const id = Number(given)
    if (!this.#parts.own.has(id)) return false
    for (const table of ['highlight', 'source', 'note'] as const)
      if (await findRow(this.#change.db, table, id)) return true
    return false
  }

  /** Whether somebody else than the import changed one of these fields; `unlessWith` is changed along with them by the program. */
  #isEdited(row: StandingRow, fields: readonly string[], unlessWith?: string): boolean {
    const clocks = JSON.parse(String(row['clocks'])) as Record<string, string>
    const byImport = this.#parts.changed.get(Number(row['id']))
    const ownClock = unlessWith === undefined ? undefined : clocks[unlessWith]
    return fields.some(
      (field) => clocks[field] !== undefined && clocks[field] !== ownClock && !byImport?.has(field),
    )
  }
}

const UNDONE = new Set<string>(ORDER)

const isUndone = (table: keyof Schema): table is SyncedTable => UNDONE.has(table)
