import { Failure } from '../../../core/failure.ts'
import { isbn13Of } from '../../sources/isbn.ts'
import { languageTag } from '../../capture/language-tag.ts'
import type { ImportFormat } from '../define-format.ts'
import type { ImportReport, RowPlace } from '../import-report.ts'
import {
  highlightOf,
  itemOf,
  noSource,
  noteOf,
  type ImportedItem,
  type ImportedLocator,
} from '../imported.ts'
import { koreaderAuthors, nameOfFile } from '../koreader.ts'
import { readLuaTable, type LuaTable, type LuaValue } from '../lua-table.ts'
import { fullText, oneLine } from '../names.ts'
import { datedRow } from '../read-dates.ts'

/**
 * The file that KOReader keeps beside a book (`Book.sdr/metadata.epub.lua`): `annotations`, or in files from before 2024
 * `highlight` and `bookmarks`. It is read as data and never run. Its times are those of the device's clock.
 */
export const koreaderLua: ImportFormat = {
  id: 'koreader-lua',
  title: 'KOReader, metadata.*.lua',
  recognises: ({ head }) =>
    /^\s*(?:--[^\n]*\s*)*return\s*\{/.test(head) &&
    /\[\s*"(?:annotations|highlight|bookmarks|doc_props|doc_path|partial_md5_checksum|stats)"\s*\]/.test(
      head,
    ),
  read: async function* (file, report) {
    const table = tableOf(file.bytes)
    const props = tableAt(table, 'custom_props')
    const document = tableAt(table, 'doc_props')
    const stats = tableAt(table, 'stats')
    const field = (name: string): string =>
      [props, document, stats].map((part) => text(part?.get(name))).find((value) => value.trim() !== '') ?? ''
    const path =
      text(table.get('doc_path')) ||
      (/^\s*--\s*(\S.*)\.sdr\/metadata\.(?:[\w]+\.)?lua/m.exec(file.head)?.[1] ?? '')
    const title = oneLine(field('title'))
    const name = title || nameOfFile(path)
    const isbns = [...field('identifiers').matchAll(/[\dX-]{10,17}/gi)].flatMap(
      ([isbn]) => isbn13Of(isbn) ?? [],
    )
    const item = itemOf({
      ...noSource('book'),
      title: name,
      authors: koreaderAuthors(field('authors')),
      language: languageTag(field('language')),
      description: fullText(field('description')) || null,
      isbns: [...new Set(isbns)],
    })
    readSummary(table, item)
    let row = 0
    const known = new Set<string>()
    for (const annotation of annotationsIn(table)) {
      const place: RowPlace = { row: ++row, text: `${annotation.quote} ${annotation.note}` }
      const key = JSON.stringify([annotation.quote, annotation.note, annotation.time, annotation.page])
      if (name === '') report.pass('refused', 'no_title', place)
      else if (annotation.time !== '' && known.has(key)) report.pass('joined', 'repeated', place)
      else takeAnnotation(annotation, place, item, report)
      known.add(key)
    }
    if (name === '') {
      if (row === 0) throw nothingIn()
      return
    }
    if (title === '' && row > 0) report.remark('title_from_name', { row: 1, text: name })
    const { status, percent, review, rating } = item.reading
    const hasReading = status !== null || percent !== null || review !== null || rating !== null
    if (item.highlights.length + item.notes.length > 0 || hasReading) yield item
  },
}

interface Annotation {
  quote: string
  note: string
  time: string
  chapter: string
  page: string
  color: string
  isBookmark: boolean
  isDrawing: boolean
}

function takeAnnotation(
  annotation: Annotation,
  place: RowPlace,
  item: ImportedItem,
  report: ImportReport,
): void {
  const { quote, note, isBookmark, isDrawing } = annotation
  if (isBookmark && note === '') return report.pass('bookmark', 'bookmark', place)
  if (quote === '' && note === '') return report.pass('refused', isDrawing ? 'drawing' : 'no_words', place)
  report.take()
  const { created, unreadDate } = datedRow(annotation.time, place, report)
  const locator = locatorOf(annotation)
  const notes = note === '' ? [] : [{ ...noteOf(note, place.row), created }]
  if (quote === '' || isBookmark) {
    item.notes.push(...notes.map((alone) => ({ ...alone, locator })))
    return undefined
  }
  item.highlights.push({
    ...highlightOf(quote, place.row),
    locator,
    notes,
    color: annotation.color.toLowerCase() || null,
    created,
    unreadDate,
  })
  return undefined
}

function locatorOf({ page, chapter }: Annotation): ImportedLocator | null {
  if (page === '' && chapter === '') return null
  return { ...(page !== '' && { page }), ...(chapter !== '' && { chapter }) }
}

function annotationsIn(table: LuaTable): Annotation[] {
  // The other two hold what was marked in the same book with the program's other engine.
  const found = ['annotations', 'annotations_rolling', 'annotations_paging'].flatMap((key) =>
    tablesIn(tableAt(table, key)).map(modern),
  )
  if (found.length > 0 || table.has('annotations')) return found
  return older(table)
}

function modern(annotation: LuaTable): Annotation {
  const page = annotation.get('pageref') ?? annotation.get('pageno') ?? annotation.get('page')
  const quote = fullText(text(annotation.get('text')))
  return {
    quote,
    note: fullText(text(annotation.get('note')) || text(annotation.get('notes'))),
    time: text(annotation.get('datetime')),
    chapter: oneLine(text(annotation.get('chapter'))),
    page: pageOf(page),
    color: text(annotation.get('color')),
    // Only what was marked has a drawer or an end; the text of a bookmark is where it lies.
    isBookmark: !annotation.has('drawer') && !annotation.has('pos1'),
    isDrawing: quote === '' && annotation.has('pboxes'),
  }
}

/** Files from before 2024: highlights by page, and their notes among the bookmarks of the same moment. */
function older(table: LuaTable): Annotation[] {
  const bookmarks = tablesIn(tableAt(table, 'bookmarks'))
  const used = new Set<LuaTable>()
  const found: Annotation[] = []
  const pages = [...(tableAt(table, 'highlight') ?? [])].toSorted(([a], [b]) => Number(a) - Number(b))
  for (const [page, marks] of pages) {
    for (const mark of marks instanceof Map ? tablesIn(marks) : []) {
      const time = text(mark.get('datetime'))
      const quote = fullText(text(mark.get('text')))
      const bookmark = bookmarks.find(
        (other) => !used.has(other) && time !== '' && text(other.get('datetime')) === time,
      )
      if (bookmark) used.add(bookmark)
      found.push({
        quote,
        note: bookmark ? noteOfBookmark(bookmark, quote) : '',
        time,
        chapter: oneLine(text(mark.get('chapter')) || text(bookmark?.get('chapter'))),
        page: pageOf(page),
        color: text(mark.get('color')),
        isBookmark: false,
        isDrawing: quote === '' && mark.has('pboxes'),
      })
    }
  }
  for (const bookmark of bookmarks) {
    if (used.has(bookmark)) continue
    const quote = fullText(text(bookmark.get('notes')))
    found.push({
      quote,
      note: noteOfBookmark(bookmark, quote),
      time: text(bookmark.get('datetime')),
      chapter: oneLine(text(bookmark.get('chapter'))),
      page: pageOf(bookmark.get('page') ?? null),
      color: '',
      isBookmark: bookmark.get('highlighted') !== true,
      isDrawing: false,
    })
  }
  return found
}

/** The program filled in `Page 12 the words @ 2020-01-01 10:00:00` by itself, in its own language. */
function noteOfBookmark(bookmark: LuaTable, quote: string): string {
  const note = fullText(text(bookmark.get('text')))
  const automatic = /\d.* @ \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/s.test(note)
  return automatic || note === quote ? '' : note
}

/** Places of the program's own (`/body/DocFragment[8]/…`) say nothing to others. */
function pageOf(value: LuaValue | undefined): string {
  const page = oneLine(text(value))
  return page.startsWith('/') || page.includes('DocFragment') ? '' : page
}

const STATUS = { reading: 'reading', complete: 'finished', abandoned: 'paused' } as const

function readSummary(table: LuaTable, item: ImportedItem): void {
  const summary = tableAt(table, 'summary')
  const status = text(summary?.get('status'))
  if (status === 'reading' || status === 'complete' || status === 'abandoned')
    item.reading.status = STATUS[status]
  const rating = summary?.get('rating')
  if (typeof rating === 'number' && Number.isInteger(rating) && rating >= 1 && rating <= 5)
    item.reading.rating = rating * 4
  item.reading.review = fullText(text(summary?.get('note'))) || null
  const percent = table.get('percent_finished')
  if (typeof percent === 'number' && percent > 0 && percent <= 1)
    item.reading.percent = Math.round(percent * 1000) / 10
}

function tableOf(bytes: Uint8Array): LuaTable {
  try {
    return readLuaTable(bytes)
  } catch (error) {
    throw new Failure('damaged_file', 'The file is cut off, or holds more than plain settings of KOReader.', {
      hint: 'Copy it again from the device. Files that would run as a program are not read.',
      cause: error,
    })
  }
}

function nothingIn(): Failure {
  return new Failure('unsupported_type', 'The file has settings of KOReader and nothing about a book.', {
    hint: 'Give the file metadata.*.lua from the folder with the name of the book and the ending .sdr.',
  })
}

function tableAt(table: LuaTable, key: string): LuaTable | undefined {
  const value = table.get(key)
  return value instanceof Map ? value : undefined
}

/** The tables in a list, by their numbers. */
function tablesIn(list: LuaTable | undefined): LuaTable[] {
  return [...(list ?? [])]
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .flatMap(([, value]) => (value instanceof Map ? [value] : []))
}

function text(value: LuaValue | undefined): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : ''
}
