import { languageTag } from '../../capture/language-tag.ts'
import { breather } from '../../../core/breath.ts'
import type { ImportFormat } from '../define-format.ts'
import { openForeignDatabase, type ForeignRow } from '../foreign-database-store.ts'
import type { ImportFile } from '../import-file.ts'
import type { ImportReport, RowPlace } from '../import-report.ts'
import {
  highlightOf,
  itemOf,
  noSource,
  noteOf,
  type ImportedItem,
  type ImportedLocator,
} from '../imported.ts'
import { authorNames, fullText, oneLine } from '../names.ts'
import type { WrittenTime } from '../written-time.ts'

const ANNOTATION = [
  'ZANNOTATIONASSETID',
  'ZANNOTATIONSELECTEDTEXT',
  'ZANNOTATIONNOTE',
  'ZANNOTATIONLOCATION',
  'ZFUTUREPROOFING5',
  'ZANNOTATIONSTYLE',
  'ZANNOTATIONTYPE',
  'ZANNOTATIONDELETED',
  'ZANNOTATIONCREATIONDATE',
  'ZPLLOCATIONRANGESTART',
  'ZPLABSOLUTEPHYSICALLOCATION',
]
const ASSET = [
  'ZASSETID',
  'ZTITLE',
  'ZAUTHOR',
  'ZLANGUAGE',
  'ZISFINISHED',
  'ZREADINGPROGRESS',
  'ZLASTOPENDATE',
  'ZISSAMPLE',
]
const STYLES = ['underline', 'green', 'blue', 'yellow', 'pink', 'purple']
const POSITION = 3
const BOOKMARK = 1

/**
 * Apple Books keeps highlights (`AEAnnotation*.sqlite`) and titles (`BKLibrary*.sqlite`) apart: either is known here, and both
 * are needed for highlights. Highlights in PDFs lie in the PDFs themselves.
 */
export const appleBooks: ImportFormat = {
  id: 'apple-books',
  title: 'Apple Books, AEAnnotation*.sqlite and BKLibrary*.sqlite',
  isOneOfSeveral: true,
  recognises: (file) => isAnnotations(file) || isLibrary(file),
  read: async function* (file, report) {
    const breathe = breather()
    const files = [file, ...file.beside]
    const books = new Map<string, { item: ImportedItem; asset: ForeignRow }>()
    const library = files.find(isLibrary)
    for (const asset of library ? rowsOf(library, 'ZBKLIBRARYASSET', ASSET) : [])
      books.set(textIn(asset, 'ZASSETID'), { item: itemOf(sourceOf(asset)), asset })
    /** By highlight's row: where it begins. */
    const begins = new Map<number, number>()
    let row = 0
    const annotations = files.find(isAnnotations)
    for (const annotation of annotations ? rowsOf(annotations, 'ZAEANNOTATION', ANNOTATION) : []) {
      await breathe()
      const quote = fullText(textIn(annotation, 'ZANNOTATIONSELECTEDTEXT'))
      const note = fullText(textIn(annotation, 'ZANNOTATIONNOTE'))
      const place: RowPlace = { row: ++row, text: `${quote} ${note}` }
      const book = books.get(textIn(annotation, 'ZANNOTATIONASSETID'))
      const type = annotation['ZANNOTATIONTYPE']
      if (annotation['ZANNOTATIONDELETED'] === 1) report.pass('left', 'deleted', place)
      else if (type === POSITION) report.pass('left', 'position', place)
      else if (type === BOOKMARK || (quote === '' && note === '')) report.pass('bookmark', 'bookmark', place)
      else if (!book) report.pass('refused', library ? 'no_title' : 'title_elsewhere', place)
      else if (book.item.source.title === null) report.pass('refused', 'no_title', place)
      else {
        report.take()
        begins.set(row, Number(annotation['ZPLLOCATIONRANGESTART'] ?? 0))
        takeAnnotation(annotation, quote, note, book.item, row)
      }
    }
    for (const { item, asset } of books.values()) {
      readState(asset, item)
      if (!takeBook(item, asset, ++row, report)) continue
      item.highlights.sort(
        (a, b) =>
          (begins.get(a.row) ?? 0) - (begins.get(b.row) ?? 0) ||
          comparePlaces(a.locator, b.locator) ||
          a.row - b.row,
      )
      yield item
    }
  },
}

const isAnnotations = (file: ImportFile): boolean => file.isSqlite && file.hasTable('ZAEANNOTATION')
const isLibrary = (file: ImportFile): boolean => file.isSqlite && file.hasTable('ZBKLIBRARYASSET')

function* rowsOf(file: ImportFile, table: string, columns: readonly string[]): Generator<ForeignRow> {
  const database = openForeignDatabase(file.bytes, file.tables)
  try {
    yield* database.rows(table, columns)
  } finally {
    database.close()
  }
}

function sourceOf(asset: ForeignRow): ImportedItem['source'] {
  return {
    ...noSource('book'),
    title: oneLine(textIn(asset, 'ZTITLE')) || null,
    authors: authorNames(textIn(asset, 'ZAUTHOR')),
    language: languageTag(textIn(asset, 'ZLANGUAGE')),
  }
}

function takeAnnotation(
  annotation: ForeignRow,
  quote: string,
  note: string,
  item: ImportedItem,
  row: number,
): void {
  const created = coreDataTime(annotation['ZANNOTATIONCREATIONDATE'])
  const locator = locatorOf(annotation)
  const notes = note === '' ? [] : [{ ...noteOf(note, row), created }]
  if (quote === '') {
    item.notes.push(...notes.map((alone) => ({ ...alone, locator })))
    return
  }
  const style = annotation['ZANNOTATIONSTYLE']
  item.highlights.push({
    ...highlightOf(quote, row),
    locator,
    notes,
    created,
    color: typeof style === 'number' ? (STYLES[style] ?? null) : null,
  })
}

function locatorOf(annotation: ForeignRow): ImportedLocator | null {
  const cfi = textIn(annotation, 'ZANNOTATIONLOCATION').trim()
  const chapter = oneLine(textIn(annotation, 'ZFUTUREPROOFING5'))
  if (cfi === '' && chapter === '') return null
  return { ...(cfi !== '' && { cfi }), ...(chapter !== '' && { chapter }) }
}

/** By the numbers of their EPUB CFI, which stand in the order of the book. */
function comparePlaces(a: ImportedLocator | null, b: ImportedLocator | null): number {
  const steps = (cfi: string | undefined): number[] =>
    [...(cfi ?? '').replaceAll(/\[[^\]]*\]/g, '').matchAll(/\d+/g)].map(Number)
  const [one, other] = [steps(a?.cfi), steps(b?.cfi)]
  for (let i = 0; i < Math.min(one.length, other.length); i++)
    if (one[i] !== other[i]) return one[i]! - other[i]!
  return one.length - other.length
}

function readState(asset: ForeignRow, item: ImportedItem): void {
  const progress = asset['ZREADINGPROGRESS']
  if (typeof progress === 'number' && progress > 0 && progress <= 1)
    item.reading.percent = Math.round(progress * 1000) / 10
  if (asset['ZISFINISHED'] === 1) item.reading.status = 'finished'
}

/** Whether a book of the library goes in: one that has marks, or that was opened and is no sample. */
function takeBook(item: ImportedItem, asset: ForeignRow, row: number, report: ImportReport): boolean {
  const place: RowPlace = { row, text: item.source.title ?? '' }
  const hasMarks = item.highlights.length + item.notes.length > 0
  const wasRead =
    item.reading.status !== null || item.reading.percent !== null || asset['ZLASTOPENDATE'] !== null
  if (!hasMarks && item.source.title === null) report.pass('refused', 'no_title', place)
  else if (!hasMarks && (!wasRead || asset['ZISSAMPLE'] === 1)) report.pass('left', 'unread_sample', place)
  else {
    report.take()
    item.rows.push(row)
    return true
  }
  return false
}

const CORE_DATA_EPOCH = Date.UTC(2001, 0, 1)

/** Core Data counts seconds from the first of January 2001, UTC. */
function coreDataTime(seconds: string | number | null | undefined): WrittenTime | null {
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds < 7e9)) return null
  return new Date(CORE_DATA_EPOCH + Math.round(seconds * 1000)).toISOString()
}

function textIn(row: ForeignRow, column: string): string {
  const value = row[column]
  return value === null || value === undefined ? '' : String(value)
}
