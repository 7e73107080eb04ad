import { openImport } from '../../src/features/imports/formats.ts'
import { ImportReport } from '../../src/features/imports/import-report.ts'
import type { ImportedHighlight, ImportedItem, ImportedNote } from '../../src/features/imports/imported.ts'

export interface ReadImport {
  format: string
  items: ImportedItem[]
  report: ImportReport
  /** Row and reason of everything that is not simply in the items. */
  outcomes: string[]
}

const bytesOf = (file: string | Uint8Array): Uint8Array =>
  typeof file === 'string' ? new TextEncoder().encode(file) : file

/** Reads a whole export. */
export async function readImport(
  file: string | Uint8Array,
  ...beside: (string | Uint8Array)[]
): Promise<ReadImport> {
  const report = new ImportReport()
  const { format, items } = openImport(bytesOf(file), report, beside.map(bytesOf))
  const read: ImportedItem[] = []
  for await (const item of items) read.push(item)
  return {
    format: format.id,
    items: read,
    report,
    outcomes: report.outcomes.map(({ row, fate, reason }) => `${row} ${fate} ${reason}`),
  }
}

export const highlightsOf = ({ items }: ReadImport): ImportedHighlight[] =>
  items.flatMap((item) => item.highlights)

export const notesOf = ({ items }: ReadImport): ImportedNote[] =>
  items.flatMap((item) => [...item.notes, ...item.highlights.flatMap((highlight) => highlight.notes)])

/** Rows that are in the items, each once. */
export function rowsOf(read: ReadImport): number[] {
  return [
    ...read.items.flatMap((item) => item.rows),
    ...highlightsOf(read).map((highlight) => highlight.row),
    ...notesOf(read).map((note) => note.row),
  ].toSorted((a, b) => a - b)
}

/** What must hold of every file: each row is in the items or has its outcome, and the counts say so. */
export function checkAccount(read: ReadImport): void {
  const { report } = read
  const { refused, left, joined, bookmark } = report.counts
  const sum = report.taken + refused + left + joined + bookmark
  if (report.rows !== sum) throw new Error(`${report.rows} rows, ${sum} accounted for`)
  const taken = new Set(rowsOf(read))
  if (taken.size !== report.taken) throw new Error(`${report.taken} rows taken, ${taken.size} in the items`)
  for (const { row, fate } of report.outcomes)
    if (fate !== 'remark' && taken.has(row)) throw new Error(`row ${row} is ${fate}, and in the items`)
}
