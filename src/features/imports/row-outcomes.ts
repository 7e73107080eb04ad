import { preview } from '../../core/text.ts'
import type { ImportReport, RowOutcome } from './import-report.ts'

/** What a row that was taken has become: `deleted` where the reader has thrown away here what it was. */
export type TakenFate = 'new' | 'changed' | 'there' | 'deleted'

/** Ids of what a row is in the library; of a trial, below zero for what would be new. */
export interface Became {
  source: number
  highlight?: number | undefined
  note?: number | undefined
  excerpt?: string
}

interface TakenRow {
  fate: TakenFate
  source: number
  highlight: number | null
  note: number | null
  excerpt: string
}

const WEIGHT: Record<TakenFate, number> = { new: 3, changed: 2, deleted: 1, there: 0 }
const EXCERPT = 120

/** What became of each row of a file that was taken; of one that holds several things, the most that became of any. */
export class RowOutcomes {
  readonly #rows = new Map<number, TakenRow>()
  readonly #isWanted: boolean

  /** `isWanted`: where nobody asks for the report, nothing is kept. */
  constructor(isWanted: boolean) {
    this.#isWanted = isWanted
  }

  get taken(): ReadonlyMap<number, TakenRow> {
    return this.#rows
  }

  tell(row: number, fate: TakenFate, { source, highlight, note, excerpt = '' }: Became): void {
    if (!this.#isWanted) return
    const known = this.#rows.get(row)
    if (!known) {
      this.#rows.set(row, {
        fate,
        source,
        highlight: highlight ?? null,
        note: note ?? null,
        excerpt,
      })
      return
    }
    if (WEIGHT[fate] > WEIGHT[known.fate]) known.fate = fate
    known.highlight ??= highlight ?? null
    known.note ??= note ?? null
    if (known.excerpt === '') known.excerpt = excerpt
  }

  /** Takes over what was told of other rows, with the ids that they have got. */
  add(others: RowOutcomes, idOf: (id: number) => number): void {
    for (const [row, { fate, source, highlight, note, excerpt }] of others.#rows) {
      this.tell(row, fate, {
        source: idOf(source),
        ...(highlight !== null && { highlight: idOf(highlight) }),
        ...(note !== null && { note: idOf(note) }),
        excerpt,
      })
    }
  }
}

const cut = (text: string): string =>
  preview(
    text
      .slice(0, 4 * EXCERPT)
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .trim(),
    EXCERPT,
  ).toWellFormed()

const SAID: Record<TakenFate, string> = {
  new: 'new',
  changed: 'changed',
  there: 'there already',
  deleted: 'deleted here',
}
const MESSAGES: Record<TakenFate, string> = {
  new: '',
  changed: 'It was there already, and has now what the file has more of it.',
  there: '',
  deleted: 'You deleted it here; it stays so.',
}

/** One row of a file and what became of it. */
export interface ReportRow {
  row: number
  line: number | null
  part: string | null
  fate: string
  reason: string
  message: string
  excerpt: string
  source: number | null
  highlight: number | null
  note: number | null
}

/** Every row of a file once, in its order: what became of what was taken, why the others were not, and what else there is to know. */
export function reportRows(report: Pick<ImportReport, 'outcomes'>, { taken }: RowOutcomes): ReportRow[] {
  const remarks = new Map<number, RowOutcome[]>()
  const rows: ReportRow[] = []
  const nothing = { source: null, highlight: null, note: null }
  const told = new Map<number, RowOutcome>()
  for (const outcome of report.outcomes) {
    if (outcome.fate !== 'remark') told.set(outcome.row, outcome)
    else remarks.set(outcome.row, [...(remarks.get(outcome.row) ?? []), outcome])
  }
  const extra = (row: number): RowOutcome[] => remarks.get(row) ?? []
  for (const [row, { fate, source, highlight, note, excerpt }] of taken) {
    const more = extra(row)
    rows.push({
      row,
      line: more[0]?.line ?? null,
      part: more[0]?.part ?? null,
      fate: SAID[fate],
      reason: more.map(({ reason }) => reason).join(' '),
      message: [MESSAGES[fate], ...more.map(({ message }) => message)].filter(Boolean).join(' '),
      excerpt: cut(excerpt),
      source,
      highlight,
      note,
    })
  }
  for (const [row, outcome] of told) {
    if (taken.has(row)) continue
    const { line, part, fate, reason, message, excerpt } = outcome
    const more = extra(row)
    rows.push({
      row,
      line,
      part,
      fate,
      reason: [reason, ...more.map((one) => one.reason)].join(' '),
      message: [message, ...more.map((one) => one.message)].join(' '),
      excerpt,
      ...nothing,
    })
  }
  for (const [row, [first]] of remarks) {
    // A remark on the file as a whole, or on what was joined to another row.
    if (first && !taken.has(row) && !told.has(row)) rows.push({ ...first, ...nothing })
  }
  return rows.toSorted((a, b) => a.row - b.row)
}
