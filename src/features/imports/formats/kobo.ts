import { languageTag } from '../../capture/language-tag.ts'
import { isbn13Of } from '../../sources/isbn.ts'
import { breather } from '../../../core/breath.ts'
import type { ImportFormat } from '../define-format.ts'
import { openForeignDatabase, type ForeignDatabase, type ForeignRow } from '../foreign-database-store.ts'
import type { RowPlace } from '../import-report.ts'
import {
  highlightOf,
  itemOf,
  noSource,
  noteOf,
  type ImportedItem,
  type ImportedLocator,
} from '../imported.ts'
import { nameOfFile } from '../koreader.ts'
import { authorNames, fullText, oneLine } from '../names.ts'
import { datedRow } from '../read-dates.ts'

const BOOKMARK = [
  'BookmarkID',
  'VolumeID',
  'ContentID',
  'StartContainerPath',
  'StartOffset',
  'Text',
  'Annotation',
  'DateCreated',
  'ChapterProgress',
  'Hidden',
  'Type',
  'Color',
]
const CONTENT = [
  'ContentID',
  'ContentType',
  'BookID',
  'Title',
  'Attribution',
  'VolumeIndex',
  'ISBN',
  'Language',
  'Publisher',
  'ReadStatus',
  '___PercentRead',
]
/** As the devices with colours number them. */
const COLORS = ['yellow', 'pink', 'blue', 'green']

/**
 * `KoboReader.sqlite` of a Kobo reader. Its times are in UTC, though older ones do not say so
 * (https://github.com/OGKevin/kobo.koplugin reads them so on the device itself).
 */
export const kobo: ImportFormat = {
  id: 'kobo',
  title: 'Kobo, KoboReader.sqlite',
  recognises: (file) => file.isSqlite && file.hasTable('Bookmark') && file.hasTable('content'),
  read: async function* (file, report) {
    const breathe = breather()
    const database = openForeignDatabase(file.bytes, file.tables)
    try {
      const content = readContent(database)
      const books = new Map<string, { item: ImportedItem; places: Map<number, Place> }>()
      let row = 0
      for (const mark of database.rows('Bookmark', BOOKMARK)) {
        await breathe()
        const quote = fullText(textIn(mark, 'Text'))
        const note = fullText(textIn(mark, 'Annotation'))
        const type = textIn(mark, 'Type').toLowerCase()
        const volume = textIn(mark, 'VolumeID')
        const place: RowPlace = { row: ++row, text: `${quote} ${note}` }
        const known = content.get(volume)
        const name = oneLine(textIn(known, 'Title')) || (volume.includes('/') ? nameOfFile(volume) : '')
        if (/^(?:true|1)$/i.test(textIn(mark, 'Hidden'))) report.pass('left', 'deleted', place)
        else if (type === 'markup' && quote === '' && note === '') report.pass('refused', 'drawing', place)
        else if (type === 'dogear' || (quote === '' && note === ''))
          report.pass('bookmark', 'bookmark', place)
        else if (name === '') report.pass('refused', 'no_title', place)
        else {
          report.take()
          if (oneLine(textIn(known, 'Title')) === '')
            report.remark('title_from_name', { ...place, text: name })
          let book = books.get(volume)
          if (!book) {
            book = { item: itemOf(sourceOf(name, known)), places: new Map() }
            readState(known, book.item)
            books.set(volume, book)
          }
          const created = textIn(mark, 'DateCreated')
          const dated = datedRow(
            /\dT\d\d:\d\d:\d\d(?:\.\d+)?$/.test(created) ? `${created}Z` : created,
            place,
            report,
          )
          const locator = locatorOf(mark, content)
          const notes = note === '' ? [] : [{ ...noteOf(note, row), created: dated.created }]
          book.places.set(row, placeOf(mark, content))
          const color = mark['Color']
          if (quote === '') book.item.notes.push(...notes.map((alone) => ({ ...alone, locator })))
          else
            book.item.highlights.push({
              ...highlightOf(quote, row),
              ...dated,
              locator,
              notes,
              color: typeof color === 'number' ? (COLORS[color] ?? null) : null,
            })
        }
      }
      for (const { item, places } of books.values()) {
        item.highlights.sort((a, b) => inBook(places.get(a.row)!, places.get(b.row)!))
        yield item
      }
    } finally {
      database.close()
    }
  },
}

interface Content {
  get(id: string): ForeignRow | undefined
  /** The title that the table of contents gives a file of the book. */
  chapterOf(id: string): string
}

function readContent(database: ForeignDatabase): Content {
  const byId = new Map<string, ForeignRow>()
  const chapters = new Map<string, { title: string; index: number }>()
  for (const row of database.rows('content', CONTENT)) {
    const id = textIn(row, 'ContentID')
    byId.set(id, row)
    if (numberIn(row, 'ContentType') !== 899) continue
    // `book!!chapter.xhtml#part-1`: the file, a place in it, and the entry's number.
    const file = id.replace(/#.*$/, '').replace(/-\d+$/, '')
    const index = numberIn(row, 'VolumeIndex') ?? Infinity
    const before = chapters.get(file)
    if (!before || index < before.index) chapters.set(file, { title: oneLine(textIn(row, 'Title')), index })
  }
  return {
    get: (id) => byId.get(id),
    chapterOf: (id) => {
      const file = id.replace(/#.*$/, '')
      const listed = chapters.get(file)?.title ?? ''
      if (listed !== '') return listed
      const own = byId.get(id) ?? byId.get(file)
      const title = oneLine(textIn(own, 'Title'))
      // Without a table of contents it is the name of the file.
      return /\.x?html?$/i.test(title) || numberIn(own, 'ContentType') === 6 ? '' : title
    },
  }
}

function sourceOf(title: string, row: ForeignRow | undefined): ImportedItem['source'] {
  const isbn = isbn13Of(textIn(row, 'ISBN'))
  return {
    ...noSource('book'),
    title,
    authors: authorNames(textIn(row, 'Attribution')),
    isbns: isbn === undefined ? [] : [isbn],
    language: languageTag(textIn(row, 'Language')),
    publisher: oneLine(textIn(row, 'Publisher')) || null,
  }
}

/** 0 is unread, 1 begun, 2 finished; the device keeps no date of either. */
function readState(row: ForeignRow | undefined, item: ImportedItem): void {
  const status = numberIn(row, 'ReadStatus')
  if (status === 1 || status === 2) item.reading.status = status === 1 ? 'reading' : 'finished'
  const percent = numberIn(row, '___PercentRead')
  if (percent !== null && percent > 0 && percent <= 100) item.reading.percent = percent
}

function locatorOf(mark: ForeignRow, content: Content): ImportedLocator | null {
  const chapter = content.chapterOf(textIn(mark, 'ContentID'))
  return chapter === '' ? null : { chapter }
}

/** Where a mark stands in its book: the chapter's number, then how far into it, then its place in the markup. */
interface Place {
  chapter: number
  file: string
  progress: number
  path: number[]
  offset: number
  row: string
}

function placeOf(mark: ForeignRow, content: Content): Place {
  const id = textIn(mark, 'ContentID')
  const row = content.get(id) ?? content.get(id.replace(/#.*$/, ''))
  return {
    chapter: numberIn(row, 'VolumeIndex') ?? Infinity,
    file: id,
    progress: numberIn(mark, 'ChapterProgress') ?? 0,
    path: [...textIn(mark, 'StartContainerPath').matchAll(/\d+/g)].map(Number),
    offset: numberIn(mark, 'StartOffset') ?? 0,
    row: textIn(mark, 'DateCreated'),
  }
}

const byName = new Intl.Collator('en', { numeric: true })

/** By numbers, so that chapter 2 comes before chapter 11 where only names of files are known. */
function inBook(a: Place, b: Place): number {
  if (a.chapter !== b.chapter) return a.chapter < b.chapter ? -1 : 1
  if (a.file !== b.file) {
    const byFile = byName.compare(a.file, b.file)
    if (byFile !== 0) return byFile
  }
  if (a.progress !== b.progress) return a.progress - b.progress
  for (let i = 0; i < Math.max(a.path.length, b.path.length); i++) {
    const [one = -1, other = -1] = [a.path[i], b.path[i]]
    if (one !== other) return one - other
  }
  return a.offset - b.offset || (a.row < b.row ? -1 : a.row > b.row ? 1 : 0)
}

function textIn(row: ForeignRow | undefined, column: string): string {
  const value = row?.[column]
  return value === null || value === undefined ? '' : String(value)
}

function numberIn(row: ForeignRow | undefined, column: string): number | null {
  const value = row?.[column]
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
    ? Number(value)
    : null
}
