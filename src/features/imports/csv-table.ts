import { csvRecords, type CsvRecord } from './csv-records.ts'
import type { ImportReport, RowReason } from './import-report.ts'

export interface CsvHeader {
  delimiter: string
  /** Lower case, without the difference of spaces and underscores. */
  columns: string[]
  /** Offset at which the rows begin. */
  end: number
  /** Line at which they begin, from 1. */
  line: number
}

/** Comma, then what spreadsheets write where the comma is the decimal point, then what is pasted from them. */
const DELIMITERS = [',', ';', '\t', '|']

/** The first record of a file as the names of its columns; undefined where it has fewer than two. */
export function findCsvHeader(text: string): CsvHeader | undefined {
  // Excel writes its separator into a line of its own.
  const stated = /^(?:\s*\n)?"?sep=([,;\t|])"?\r?\n/i.exec(text)
  const from = stated?.[0].length ?? 0
  let best: (CsvHeader & { stray: boolean }) | undefined
  for (const delimiter of stated ? [stated[1]!] : DELIMITERS) {
    const [first] = csvRecords(text.slice(from), delimiter)
    if (!first) continue
    const columns = columnsOf(first, delimiter)
    if (columns.length < 2) continue
    // A separator that leaves quotation marks in the wrong places is not the one.
    if (best && (first.stray === best.stray ? columns.length <= best.columns.length : first.stray)) continue
    const line = first.line + text.slice(from + first.start, from + first.end).split(/\r\n|\r|\n/).length
    best = { stray: first.stray, delimiter, columns, end: from + first.end, line: line + (stated ? 1 : 0) }
  }
  if (!best) return undefined
  const { stray: _, ...header } = best
  return header
}

function columnsOf(record: CsvRecord, delimiter: string): string[] {
  return (unwrapped(record.cells, delimiter) ?? record.cells).map(columnName)
}

export const columnName = (cell: string): string =>
  cell
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/[\s_]+/g, ' ')
    .trim()
    .toLowerCase()

export const hasColumns = (header: CsvHeader | undefined, ...names: string[]): boolean =>
  header !== undefined && names.every((name) => header.columns.includes(name))

export interface CsvRow {
  /** As a spreadsheet counts: the header is 1. */
  row: number
  line: number
  part: string | null
  /** The text of the row, for a report. */
  text: string
  /** Trimmed; empty where the column or the cell is missing. */
  get: (column: string) => string
}

/**
 * The rows under a header, one by one. What cannot be read as a row is passed in the report with its reason: one that has more
 * cells than the header, and one with a quotation mark that is never closed (the rows after it are found again). Rows that a
 * spreadsheet has quoted as a whole are unwrapped. Rows without any content are none. `numbers` goes on from the number of the
 * row before.
 */
export function* csvRows(
  text: string,
  header: CsvHeader,
  report: ImportReport,
  numbers = { row: 1 },
  part: string | null = null,
): Generator<CsvRow, void, undefined> {
  const width = header.columns.length
  const places = new Map<string, number>()
  header.columns.forEach((name, i) => {
    if (!places.has(name)) places.set(name, i)
  })
  // Only the rows are split, so that offsets and lines count from there.
  const rows = text.slice(header.end)
  for (const whole of csvRecords(rows, header.delimiter)) {
    for (const record of swallowed(rows, whole, header) ?? [whole]) {
      const cells = unwrapped(record.cells, header.delimiter, width) ?? record.cells
      if (cells.every((cell) => cell.trim() === '')) continue
      const place = {
        row: ++numbers.row,
        part,
        line: header.line + record.line - 2,
        text: rows.slice(record.start, Math.min(record.end, record.start + 1000)),
      }
      const reason = faultOf(record, cells, width)
      if (reason !== undefined) {
        report.pass('refused', reason, place)
        continue
      }
      if (record.open) report.remark('stray_quote', place)
      yield {
        ...place,
        get: (column) => {
          const at = places.get(column)
          return at === undefined ? '' : (cells[at]?.trim() ?? '')
        },
      }
    }
  }
}

/** A longer line that a quotation mark was left open in is no row, but what is left of many. */
const MOST_OPEN_LINE = 1_000_000

function faultOf(record: CsvRecord, cells: readonly string[], width: number): RowReason | undefined {
  if (record.open && (cells.length !== width || record.end - record.start > MOST_OPEN_LINE))
    return 'open_quote'
  return cells.slice(width).some((cell) => cell.trim() !== '') ? 'too_many_columns' : undefined
}

/** A row that became a single cell: its own cells, if there are as many as the header has. */
function unwrapped(cells: readonly string[], delimiter: string, width?: number): string[] | undefined {
  const [only] = cells
  if (cells.length !== 1 || only === undefined || !only.includes(delimiter)) return undefined
  const inner = [...csvRecords(only, delimiter)]
  const [first] = inner
  if (inner.length !== 1 || !first || first.open) return undefined
  return width === undefined || first.cells.length === width ? first.cells : undefined
}

/**
 * An open quotation mark can be closed by one of a later row, and everything between would be one cell. That shows: a
 * quotation mark in the wrong place, and lines after the first that are whole rows by themselves.
 */
function swallowed(text: string, record: CsvRecord, header: CsvHeader): CsvRecord[] | undefined {
  if (!record.stray || record.open) return undefined
  const raw = text.slice(record.start, record.end)
  const ends = [...raw.matchAll(/\r\n|\r|\n/g)]
  const [firstEnd] = ends
  if (!firstEnd) return undefined
  const rest = [...csvRecords(raw.slice(firstEnd.index), header.delimiter)]
  if (rest.length !== ends.length) return undefined
  if (rest.some((row) => row.open || row.cells.length !== header.columns.length)) return undefined
  const line = raw.slice(0, firstEnd.index)
  const [broken] = csvRecords(line, header.delimiter)
  if (!broken) return undefined
  const shift = record.start + firstEnd.index
  return [
    { ...broken, start: record.start, end: shift, line: record.line },
    ...rest.map((row) => ({
      ...row,
      start: row.start + shift,
      end: row.end + shift,
      line: row.line + record.line - 1,
    })),
  ]
}
