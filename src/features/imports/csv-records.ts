/** One record of a file of separated values (RFC 4180 with the usual liberties). */
export interface CsvRecord {
  cells: string[]
  /** Offsets of the record in the text; its line end is outside. */
  start: number
  end: number
  /** Line at which it begins, from 1. */
  line: number
  /** A quotation mark stood where none may stand, and was taken for one of the text. */
  stray: boolean
  /** A quotation mark was opened and never closed: only the first line of the record was read, without quoting. */
  open: boolean
}

/** A cell that is longer was opened by a quotation mark that nobody closed. */
const MOST_RECORD = 1_000_000
/** After so many open quotation marks they are taken for ordinary characters. */
const MOST_OPEN = 100

const QUOTE = 34
const LF = 10
const CR = 13

/**
 * Splits separated values into records. Line ends of all systems may be mixed, cells may hold line ends and doubled quotation
 * marks, and a quotation mark in the wrong place is one of the text. An open one costs its own line and never the rest of the
 * file. Empty lines are no records.
 */
export function* csvRecords(text: string, delimiter: string): Generator<CsvRecord, void, undefined> {
  const split = delimiter.charCodeAt(0)
  const loneCr = /\r(?!\n)/.test(text)
  let at = 0
  let line = 1
  let opened = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === LF || code === CR) {
      at = afterLineEnd(text, at)
      line++
      continue
    }
    const record = opened < MOST_OPEN ? readRecord(text, at, split, line) : undefined
    if (record) {
      yield record
      line += lineEnds(text, at, record.end, loneCr)
      at = record.end
    } else {
      opened++
      const end = endOfLine(text, at)
      yield { cells: unquoted(text.slice(at, end), delimiter), start: at, end, line, stray: true, open: true }
      at = end
    }
  }
}

/** Undefined where a quotation mark is not closed. */
function readRecord(text: string, start: number, split: number, line: number): CsvRecord | undefined {
  const cells: string[] = []
  let stray = false
  let at = start
  for (;;) {
    if (text.charCodeAt(at) === QUOTE) {
      let value = ''
      let from = at + 1
      let look = from
      for (;;) {
        const quote = text.indexOf('"', look)
        if (quote === -1 || quote - start > MOST_RECORD) return undefined
        const next = text.charCodeAt(quote + 1)
        if (next === QUOTE) {
          value += text.slice(from, quote + 1)
          from = look = quote + 2
        } else if (next === split || next === LF || next === CR || quote + 1 >= text.length) {
          cells.push(value === '' ? text.slice(from, quote) : value + text.slice(from, quote))
          at = quote + 1
          break
        } else {
          stray = true
          look = quote + 1
        }
      }
    } else {
      const from = at
      let code = text.charCodeAt(at)
      while (at < text.length && code !== split && code !== LF && code !== CR) {
        if (code === QUOTE) stray = true
        code = text.charCodeAt(++at)
      }
      cells.push(text.slice(from, at))
    }
    if (text.charCodeAt(at) !== split) return { cells, start, end: at, line, stray, open: false }
    at++
  }
}

function unquoted(line: string, delimiter: string): string[] {
  return line.split(delimiter).map((cell) => cell.replace(/^"([^"]*)"?$/, '$1'))
}

function endOfLine(text: string, at: number): number {
  let end = at
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === LF || code === CR) break
  }
  return end
}

function afterLineEnd(text: string, at: number): number {
  return at + (text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? 2 : 1)
}

function lineEnds(text: string, start: number, end: number, loneCr: boolean): number {
  if (loneCr) return text.slice(start, end).split(/\r\n|\r|\n/).length - 1
  let count = 0
  // Bounded by the record: beyond it another line end is found, and no more of the text is looked at.
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count++
  return count
}
