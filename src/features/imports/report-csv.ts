import { csvRow } from '../exports/csv-cells.ts'
import type { ReportRow } from './row-outcomes.ts'

const COLUMNS = [
  'file',
  'row',
  'line',
  'part',
  'fate',
  'reason',
  'message',
  'excerpt',
  'source_id',
  'highlight_id',
  'note_id',
] as const

export interface FileReport {
  /** What the file is called; blank where nobody said. */
  file: string
  rows: Iterable<ReportRow>
}

/** The reports on files as one table: a line for each of their rows. A spreadsheet runs nothing of it. */
export function* reportCsv(reports: Iterable<FileReport>): Generator<string> {
  yield csvRow(COLUMNS)
  for (const { file, rows } of reports) {
    for (const { row, line, part, fate, reason, message, excerpt, source, highlight, note } of rows)
      yield csvRow([
        file,
        shown(row),
        shown(line),
        part ?? '',
        fate,
        reason,
        message,
        excerpt,
        id(source),
        id(highlight),
        id(note),
      ])
  }
}

const shown = (number: number | null): string => (number === null ? '' : String(number))

/** Of a trial, what would be new has no id yet. */
const id = (number: number | null): string => (number === null || number < 0 ? '' : String(number))
