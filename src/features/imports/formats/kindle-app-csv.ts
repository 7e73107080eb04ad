import { csvRecords, type CsvRecord } from '../csv-records.ts'
import type { ImportFormat } from '../define-format.ts'
import type { RowPlace } from '../import-report.ts'
import { highlightOf, itemOf, noSource, noteOf, type ImportedHighlight } from '../imported.ts'
import { clippingLimit, locatorOf, namedKind, readPlace } from '../kindle-words.ts'
import { authorNames, fullText, oneLine } from '../names.ts'

const MOST_PREAMBLE = 15
/** The line that parts the book's name from its annotations. */
const RULE = /^[-–—_]{10,}$/u
/** A location of Kindle holds about so many bytes of text. */
const LOCATION_BYTES = 128

/**
 * What the Kindle app mails as CSV: some lines with the title and authors, a rule, then `Annotation Type, Location, Starred?,
 * Annotation` in the app's language, in the order of the book. It has no dates, and says of a highlight only where it begins.
 */
export const kindleAppCsv: ImportFormat = {
  id: 'kindle-app-csv',
  title: 'Kindle app, CSV of a book’s notes',
  recognises: (file) => findRule(file.head) !== undefined,
  read: async function* (file, report) {
    const text = file.text
    const rule = findRule(text)
    if (!rule) return
    const [title = '', byline = ''] = rule.above
    const item = itemOf({
      ...noSource('book'),
      title: oneLine(title),
      authors: authorNames(
        byline.replace(/^(?:by|von|par|de|di|por|door|av|著者|作者|저자)\s*[:：]?\s+/iu, ''),
      ),
    })
    let row = rule.records
    let isHeader = true
    let open: { highlight: ImportedHighlight; first: number; last: number } | undefined
    for (const record of csvRecords(text.slice(rule.end), rule.delimiter)) {
      const cells = record.cells.map((cell) => cell.trim())
      if (cells.every((cell) => cell === '')) continue
      row++
      if (isHeader) {
        isHeader = false
        continue
      }
      const place: RowPlace = { row, line: rule.line + record.line - 1, text: cells.join(' ') }
      const [type = '', where = '', star = '', ...rest] = cells
      const words = fullText(rest.join(rule.delimiter))
      const limit = clippingLimit(words)
      if (record.open && cells.length !== 4) report.pass('refused', 'open_quote', place)
      else if (cells.length < 4 || type === '') report.pass('refused', 'unrecognised', place)
      else if (limit && limit.kept === '') report.pass('refused', 'clipping_limit', place)
      else if (words === '') {
        const isBookmark = namedKind(type) === 'bookmark' || namedKind(type) === undefined
        report.pass(isBookmark ? 'bookmark' : 'refused', isBookmark ? 'bookmark' : 'no_words', place)
      } else {
        report.take()
        if (limit) report.remark('cut_by_limit', place)
        const at = readPlace(where)
        const color = /[(（]([^()（）]+)[)）]/u.exec(type)?.[1]?.trim().toLowerCase() ?? null
        const isNote = namedKind(type) === 'note' || (namedKind(type) === undefined && color === null)
        if (isNote) {
          const note = { ...noteOf(words, row), locator: locatorOf(at) }
          // The note stands at the end of its highlight, of which the file gives the beginning alone.
          if (open && at.range && at.range.start >= open.first && at.range.start <= open.last)
            open.highlight.notes.push(note)
          else {
            report.remark('note_alone', place)
            item.notes.push(note)
          }
          continue
        }
        const highlight = {
          ...highlightOf(limit?.kept ?? words, row),
          locator: locatorOf(at),
          color,
          favourite: star !== '',
        }
        item.highlights.push(highlight)
        const length =
          at.range?.unit === 'page' ? 1 : Math.ceil(Buffer.byteLength(words) / LOCATION_BYTES) + 1
        open = at.range ? { highlight, first: at.range.start, last: at.range.end + length } : undefined
      }
    }
    if (item.highlights.length > 0 || item.notes.length > 0) yield item
  },
}

interface Rule {
  delimiter: string
  /** Lines between the first and the rule: title, authors, an address. */
  above: string[]
  /** Offset, line and number of records at which the rows begin. */
  end: number
  line: number
  records: number
}

function findRule(text: string): Rule | undefined {
  for (const delimiter of [',', ';', '\t']) {
    const above: CsvRecord[] = []
    for (const record of csvRecords(text, delimiter)) {
      const [first = '', ...others] = record.cells.map((cell) => cell.trim())
      if (others.some((cell) => cell !== '') || above.length > MOST_PREAMBLE) break
      if (!RULE.test(first)) {
        above.push(record)
        continue
      }
      // The first line only says what this is.
      const names = above.slice(1).map((line) => line.cells[0] ?? '')
      const lines = text.slice(0, record.end).split(/\r\n|\r|\n/).length
      return names.length >= 2 && (names[0] ?? '').trim() !== ''
        ? { delimiter, above: names, end: record.end, line: lines, records: above.length + 1 }
        : undefined
    }
  }
  return undefined
}
