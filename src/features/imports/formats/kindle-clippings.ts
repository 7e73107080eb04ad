import { breather } from '../../../core/breath.ts'
import { joinVersions, type Versioned, type VersionGroup } from '../clipping-versions.ts'
import type { ImportFormat } from '../define-format.ts'
import type { ImportReport, RowPlace } from '../import-report.ts'
import {
  highlightOf,
  itemOf,
  noSource,
  noteOf,
  type ImportedHighlight,
  type ImportedItem,
  type ImportedLocator,
  type ImportedNote,
} from '../imported.ts'
import {
  clippingLimit,
  locatorOf,
  namedKind,
  readPlace,
  speaksOfPlace,
  type ClippingKind,
  type KindlePlace,
} from '../kindle-words.ts'
import { authorNames, fullText, oneLine } from '../names.ts'
import { readTime } from '../read-time.ts'
import type { ReadTime } from '../written-time.ts'

const SEPARATOR = /^\s{0,9}={10,99}\s{0,9}$/
/** The second line of a clipping: a stroke, then words with a number or a bar. */
const SECOND_LINE = /^[\uFEFF\u200B\s]*[-–—•*]\s*\S.*(?:[|｜]|\d)/u
/** Titles with line ends were seen; more lines than this are none. */
const MOST_TITLE_LINES = 5

/**
 * Kindle's `My Clippings.txt`, in every language and of every age of the device: it is read by its structure. So are the files
 * that other programs write in this form.
 */
export const kindleClippings: ImportFormat = {
  id: 'kindle-clippings',
  title: 'Kindle, My Clippings.txt',
  keepsVersions: true,
  recognises: (file) => {
    if (!file.head.includes('==========')) return false
    const lines = file.head.split(/\r\n|\r|\n/)
    return (
      lines.some((line) => SEPARATOR.test(line)) && lines.some((line, i) => i > 0 && SECOND_LINE.test(line))
    )
  },
  read: async function* (file, report) {
    const breathe = breather()
    const books = new Map<string, Book>()
    for (const block of blocksOf(file.text)) {
      await breathe()
      const clipping = readClipping(block, report)
      if (!clipping) continue
      const book = books.get(clipping.key)
      if (book) book.clippings.push(clipping)
      else
        books.set(clipping.key, { title: clipping.title, authors: clipping.authors, clippings: [clipping] })
    }
    for (const book of books.values()) {
      await breathe()
      const item = itemOfBook(book, report)
      if (item) yield item
    }
  },
}

interface Block {
  row: number
  line: number
  lines: string[]
  /** False for the last one of a file that ends without a separator. */
  isClosed: boolean
}

function* blocksOf(text: string): Generator<Block> {
  let row = 0
  let number = 0
  let begin = 1
  let lines: string[] = []
  const block = (isClosed: boolean): Block | undefined => {
    const first = lines.findIndex((line) => oneLine(line) !== '')
    if (first === -1) return undefined
    return { row: ++row, line: begin + first, lines: lines.slice(first), isClosed }
  }
  for (const line of linesOf(text)) {
    number++
    if (!SEPARATOR.test(line)) {
      lines.push(line)
      continue
    }
    const closed = block(true)
    if (closed) yield closed
    lines = []
    begin = number + 1
  }
  const open = block(false)
  if (open) yield open
}

function* linesOf(text: string): Generator<string> {
  const lines = /\r(?!\n)/.test(text) ? text.replaceAll(/\r\n?/g, '\n') : text
  let from = 0
  for (let end = lines.indexOf('\n'); end !== -1; end = lines.indexOf('\n', from)) {
    yield lines.slice(from, lines[end - 1] === '\r' ? Math.max(from, end - 1) : end)
    from = end + 1
  }
  if (from < lines.length) yield lines.slice(from)
}

interface Clipping extends Versioned {
  key: string
  title: string
  authors: string[]
  place: KindlePlace
  stated: ReadTime
  /** The last part of the second line. */
  dateText: string
  where: RowPlace
}

interface Book {
  title: string
  authors: string[]
  clippings: Clipping[]
}

function readClipping(block: Block, report: ImportReport): Clipping | undefined {
  const { row, line, lines } = block
  const where: RowPlace = { row, line, text: lines.slice(0, 12).join(' ') }
  const second = lines.findIndex((text, i) => i > 0 && i <= MOST_TITLE_LINES && SECOND_LINE.test(text))
  if (second === -1) {
    // The second line without a first: the title is missing.
    const isHeadless = SECOND_LINE.test(lines[0] ?? '') && (lines[1] ?? '').trim() === ''
    report.pass('refused', isHeadless ? 'no_title' : 'unrecognised', where)
    return undefined
  }
  const { title, authors } = readTitle(lines.slice(0, second).join(' '))
  const { placeText, dateText } = partsOf(lines[second]!)
  const body = fullText(lines.slice(second + 1).join('\n'))
  if (title === '') {
    report.pass('refused', 'no_title', where)
    return undefined
  }
  const limit = clippingLimit(body)
  const place = readPlace(placeText)
  const kind = kindOf(placeText, body, place)
  if (limit && limit.kept === '') {
    report.pass('refused', 'clipping_limit', where)
    return undefined
  }
  if (kind === 'bookmark') {
    report.pass('bookmark', 'bookmark', where)
    return undefined
  }
  if (body === '') {
    report.pass('refused', 'no_words', where)
    return undefined
  }
  report.take()
  if (limit) report.remark('cut_by_limit', where)
  if (!block.isClosed && !limit) report.remark('cut_file', where)
  if (namedKind(placeText) === undefined) report.remark('kind_guessed', where)
  if (place.range === null && place.page === null) report.remark('place_unread', where)
  const stated = readTime(dateText)
  if (stated.doubt === 'unread') report.remark('date_unread', where)
  if (stated.doubt === 'day') report.remark('time_unread', where)
  if (stated.doubt === 'weekday') report.remark('weekday_odd', where)
  return {
    key: `${title}\u001f${authors.join('\u001f')}`,
    title,
    authors,
    kind,
    body: limit?.kept ?? body,
    range: place.range,
    time: stated.time,
    row,
    place,
    stated,
    dateText,
    where,
  }
}

/** The last balanced brackets of the line hold the authors: `Title (ed.) (Roe, Sam)`, `飘（上下） (外国文学名著名译丛书) ((美)米切尔)`. */
export function readTitle(stated: string): { title: string; authors: string[] } {
  const line = oneLine(stated)
  if (!/[)）]$/u.test(line)) return { title: line, authors: [] }
  let depth = 0
  for (let i = line.length - 1; i >= 0; i--) {
    if (/[)）]/u.test(line[i]!)) depth++
    if (/[(（]/u.test(line[i]!) && --depth === 0) {
      const inner = line.slice(i + 1, -1).trim()
      const title = line.slice(0, i).trim()
      // A number or a date in brackets belongs to the title, and brackets alone are one.
      if (title === '' || !/\p{L}/u.test(inner)) return { title: line, authors: [] }
      return { title, authors: authorNames(inner) }
    }
  }
  return { title: line, authors: [] }
}

/** The parts of the second line, which bars part: where it stands, and last the date, which can be missing. */
function partsOf(line: string): { placeText: string; dateText: string } {
  const parts = line
    .replace(/^[\uFEFF\u200B\s]*[-–—•*]\s*/u, '')
    .split(/[|｜]/u)
    .map((part) => part.trim())
  const last = parts.at(-1)!
  // Of three the last is the date; of two it may be the location, where the date is missing.
  const isDate = parts.length > 2 || (parts.length === 2 && !isPlace(last))
  return isDate
    ? { placeText: parts.slice(0, -1).join(' | '), dateText: last }
    : { placeText: parts.join(' | '), dateText: '' }
}

function isPlace(text: string): boolean {
  return /\d/.test(text) && !/\d{1,2}:\d{2}/.test(text) && speaksOfPlace(text) && readTime(text).time === null
}

function kindOf(placeText: string, body: string, { range }: KindlePlace): ClippingKind {
  // In every language a highlight has a range, if only from 14 to 14, and a note has one number.
  const hasRange = /\d\s?[-–—~〜]\s?#?\d/u.test(placeText)
  const named = namedKind(placeText)
  if (named === 'bookmark') return body !== '' && hasRange ? 'highlight' : 'bookmark'
  if (named !== undefined) return named
  if (body === '') return 'bookmark'
  return hasRange || range === null ? 'highlight' : 'note'
}

function itemOfBook(book: Book, report: ImportReport): ImportedItem | undefined {
  const joined = joinVersions(book.clippings)
  for (const group of joined.highlights) {
    for (const other of group.repeated) report.takeBack('joined', 'repeated', other.where)
    for (const other of group.earlier) report.takeBack('joined', 'earlier_version', other.where)
    for (const other of group.earlierNotes) passNote(other, group.notes, report)
  }
  for (const other of joined.aloneEarlier) passNote(other, joined.alone, report)
  for (const note of joined.alone) report.remark('note_alone', note.where)
  const item = itemOf({ ...noSource('book'), title: book.title, authors: book.authors })
  item.highlights = inOrder(joined.highlights).map(highlightFrom)
  item.notes = joined.alone.map(noteFrom)
  return item
}

function passNote(note: Clipping, kept: readonly Clipping[], report: ImportReport): void {
  const isRepeated = kept.some((other) => other.body === note.body)
  report.takeBack('joined', isRepeated ? 'repeated' : 'earlier_note', note.where)
}

/** By place where all of them have one of the same kind; the file is in the order of writing. */
function inOrder(groups: readonly VersionGroup<Clipping>[]): readonly VersionGroup<Clipping>[] {
  const byFile = groups.toSorted((a, b) => a.last.row - b.last.row)
  const unit = byFile[0]?.last.range?.unit
  if (unit === undefined || byFile.some((group) => group.last.range?.unit !== unit)) return byFile
  return byFile.toSorted((a, b) => {
    const [one, other] = [a.last.range!, b.last.range!]
    return one.start - other.start || one.end - other.end || a.last.row - b.last.row
  })
}

function highlightFrom({ last, earlier, notes }: VersionGroup<Clipping>): ImportedHighlight {
  return {
    ...highlightOf(last.body, last.row),
    locator: locatorOf(last.place),
    created: last.time,
    unreadDate: last.stated.doubt === 'unread' ? last.dateText : null,
    earlier: earlier.map((version) => version.body),
    notes: notes.map(noteFrom),
  }
}

function noteFrom(note: Clipping): ImportedNote {
  const locator: ImportedLocator | null = locatorOf(note.place)
  return { ...noteOf(note.body, note.row), created: note.time, locator }
}
