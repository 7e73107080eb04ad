import { csvRow } from '../exports/csv-cells.ts'
import type { ReportRow } from './row-outcomes.ts'

const COLUMNS = [
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

/** The report on a file as a table: a line for each of its rows. A spreadsheet runs nothing of it. */
export function* reportCsv(rows: Iterable<ReportRow>): Generator<string> {
  yield csvRow(COLUMNS)
  for (const { row, line, part, fate, reason, message, excerpt, source, highlight, note } of rows)
    yield csvRow([
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

const shown = (number: number | null): string => (number === null ? '' : String(number))

/** Of a trial, what would be new has no id yet. */
const id = (number: number | null): string => (number === null || number < 0 ? '' : String(number))
