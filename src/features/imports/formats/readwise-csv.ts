import { isbn13Of } from '../../sources/isbn.ts'
import { breather } from '../../../core/breath.ts'
import { hasColumns, type CsvRow } from '../csv-table.ts'
import type { ImportFormat } from '../define-format.ts'
import { GatheredSources } from '../gather-sources.ts'
import {
  highlightOf,
  noSource,
  noteOf,
  type ImportedHighlight,
  type ImportedLocator,
  type ImportedSource,
} from '../imported.ts'
import { authorNames, fullText, oneLine, tagsIn } from '../names.ts'
import { datedRow } from '../read-dates.ts'
import { kindOfAddress, webAddress } from '../web-address.ts'

/**
 * Highlights as Readwise exports them (`Highlight, Book Title, Book Author, Amazon Book ID, Note, Color, Tags, Location Type,
 * Location, Highlighted at, Document tags`) and as it takes them in (`Highlight, Title, Author, URL, Note, Location, Date`),
 * which other programs write as well.
 */
export const readwiseCsv: ImportFormat = {
  id: 'readwise-csv',
  title: 'Readwise, CSV of highlights',
  recognises: ({ csv }) =>
    hasColumns(csv, 'highlight') && (hasColumns(csv, 'book title') || hasColumns(csv, 'title')),
  read: async function* (file, report) {
    const breathe = breather()
    const sources = new GatheredSources()
    /** Numbers of the rows' own order, by highlight. */
    const order = new Map<ImportedHighlight, { type: string; place: number }>()
    for (const row of file.csvRows(report)) {
      await breathe()
      const source = sourceOf(row)
      if (!source) {
        report.pass('refused', 'no_title', row)
        continue
      }
      const quote = fullText(row.get('highlight'))
      const note = fullText(row.get('note') || row.get('personal note') || row.get('notes'))
      if (quote === '' && note === '') {
        report.pass('refused', 'no_words', row)
        continue
      }
      report.take()
      const item = sources.of(source)
      for (const tag of tagsIn(row.get('document tags'), ','))
        if (!item.tags.includes(tag)) item.tags.push(tag)
      const dated = datedRow(
        row.get('highlighted at') || row.get('date') || row.get('date of highlight'),
        row,
        report,
      )
      const notes = note === '' ? [] : [{ ...noteOf(note, row.row), created: dated.created }]
      if (quote === '') {
        item.notes.push(...notes)
        continue
      }
      const highlight: ImportedHighlight = {
        ...highlightOf(quote, row.row),
        ...dated,
        locator: locatorOf(row),
        color: row.get('color').toLowerCase() || row.get('colour').toLowerCase() || null,
        tags: tagsIn(row.get('tags'), ','),
        notes,
      }
      item.highlights.push(highlight)
      const place = Number(row.get('location') || Number.NaN)
      order.set(highlight, { type: row.get('location type').toLowerCase(), place })
    }
    for (const item of sources.values()) {
      const places = item.highlights.map((highlight) => order.get(highlight)!)
      const isOrdered = places.every(({ type, place }) => type === places[0]?.type && Number.isFinite(place))
      if (isOrdered) item.highlights.sort((a, b) => order.get(a)!.place - order.get(b)!.place)
      yield item
    }
  },
}

function sourceOf(row: CsvRow): ImportedSource | undefined {
  const title = oneLine(row.get('book title') || row.get('title'))
  const url = webAddress(row.get('url') || row.get('source url') || row.get('book url'))
  if (title === '' && url === null) return undefined
  const asin = row.get('amazon book id')
  const isbn = isbn13Of(asin) ?? isbn13Of(row.get('isbn'))
  return {
    ...noSource(kindOf(url, asin, row.get('location type').toLowerCase())),
    title: title || null,
    authors: authorNames(row.get('book author') || row.get('author') || row.get('authors')),
    url,
    isbns: isbn === undefined ? [] : [isbn],
  }
}

/** The file does not say what was read: only books have pages, Kindle locations or a number at Amazon. */
function kindOf(url: string | null, asin: string, type: string): ImportedSource['kind'] {
  if (asin !== '' || type === 'page' || type === 'location') return 'book'
  if (type === 'time_offset') return 'podcast'
  if (url !== null) return kindOfAddress(url)
  return type === '' ? 'book' : 'article'
}

function locatorOf(row: CsvRow): ImportedLocator | null {
  const place = row.get('location').replace(/\.0$/, '')
  const chapter = oneLine(row.get('chapter title') || row.get('chapter'))
  const locator: ImportedLocator = { ...(chapter !== '' && { chapter }) }
  const type = row.get('location type').toLowerCase()
  if (place !== '' && place !== '0') {
    if (type === 'page') locator.page = place
    else if (type === 'location') locator.location = place
    else if (type === 'time_offset' && /^\d+(?:\.\d+)?$/.test(place)) locator.seconds = Number(place)
    // `order` and `offset` only say what comes before what.
    else if (type === '') locator.label = place
  }
  return Object.keys(locator).length > 0 ? locator : null
}
