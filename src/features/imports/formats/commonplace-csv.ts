import { breather } from '../../../core/breath.ts'
import { CSV_COLUMNS } from '../../exports/highlight-csv.ts'
import { readCell, splitNames, splitNotes } from '../../exports/csv-cells.ts'
import { csvRecords } from '../csv-records.ts'
import { columnName, findCsvHeader, hasColumns } from '../csv-table.ts'
import type { ImportFormat } from '../define-format.ts'
import {
  highlightOf,
  itemOf,
  noSource,
  noteOf,
  type ImportedHighlight,
  type ImportedItem,
  type ImportedLocator,
  type ImportedSource,
} from '../imported.ts'
import { readTime } from '../read-time.ts'

type Column = (typeof CSV_COLUMNS)[number]

const KINDS = new Map<string, ImportedSource['kind']>(
  (['book', 'article', 'pdf', 'video', 'podcast'] as const).map((kind) => [kind, kind]),
)

/** What `export_highlights` and `commonplace export highlights.csv` write, read back exactly (docs/exporting.md). */
export const commonplaceCsv: ImportFormat = {
  id: 'commonplace-csv',
  title: 'Commonplace, CSV of highlights',
  recognises: ({ csv }) =>
    hasColumns(csv, 'highlight', 'source', 'source tags', 'locator', 'source id', 'highlight id'),
  read: async function* (file, report) {
    const breathe = breather()
    const header = findCsvHeader(file.text)
    if (!header) return
    const places = new Map(header.columns.map((name, at) => [name, at]))
    const items = new Map<string, ImportedItem>()
    let row = 1
    // Cells as they stand: the blanks around what they hold are part of it.
    for (const record of csvRecords(file.text.slice(header.end), header.delimiter)) {
      await breathe()
      const { cells } = record
      if (cells.every((cell) => cell === '')) continue
      const place = {
        row: ++row,
        line: header.line + record.line - 2,
        text: cells.join(', ').slice(0, 1_000),
      }
      if (cells.length > header.columns.length) {
        report.pass('refused', record.open ? 'open_quote' : 'too_many_columns', place)
        continue
      }
      const get = (column: Column): string => readCell(cells[places.get(columnName(column)) ?? -1] ?? '')
      const quote = get('highlight')
      if (quote === '') {
        report.pass('refused', 'no_words', place)
        continue
      }
      const source = sourceOf(get)
      if (source.title === null && source.url === null) {
        report.pass('refused', 'no_title', place)
        continue
      }
      report.take()
      const key = get('source_id') || JSON.stringify([source.title, source.authors, source.url])
      let item = items.get(key)
      if (!item) {
        item = itemOf(source)
        item.tags = splitNames(get('source_tags'))
        item.reading.saved = readTime(get('saved_at')).time
        items.set(key, item)
      }
      item.highlights.push(highlightFrom(get, quote, row))
    }
    yield* items.values()
  },
}

function sourceOf(get: (column: Column) => string): ImportedSource {
  const kind = KINDS.get(get('type').trim().toLowerCase()) ?? 'article'
  const url = get('url')
  return {
    ...noSource(kind),
    title: get('source') || null,
    authors: splitNames(get('authors')),
    url: /^https?:/i.test(url) ? url : null,
    isbns: splitNames(get('isbns')),
    language: get('language') || null,
    published: get('published') || null,
    publisher: get('publisher') || null,
    site: get('site') || null,
  }
}

function highlightFrom(get: (column: Column) => string, quote: string, row: number): ImportedHighlight {
  const { time: created } = readTime(get('highlighted_at'))
  return {
    ...highlightOf(quote, row),
    locator: locatorOf(get('locator')),
    notes: splitNotes(get('notes')).map((body) => ({ ...noteOf(body, row), created })),
    tags: splitNames(get('tags')),
    color: get('color') || null,
    created,
  }
}

function locatorOf(cell: string): ImportedLocator | null {
  if (cell === '') return null
  let told: unknown
  try {
    told = JSON.parse(cell)
  } catch {
    return null
  }
  if (typeof told !== 'object' || told === null) return null
  const fields = new Map<string, unknown>(Object.entries(told))
  const words = (name: string): string | undefined => {
    const value = fields.get(name)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const number = (name: string): number | undefined => {
    const value = fields.get(name)
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined
  }
  const page = words('page')
  const location = words('location')
  const cfi = words('cfi')
  const seconds = number('seconds')
  const percent = number('percent')
  const chapter = words('chapter')
  const label = words('label')
  const locator: ImportedLocator = {
    ...(page !== undefined && { page }),
    ...(location !== undefined && { location }),
    ...(cfi !== undefined && { cfi }),
    ...(seconds !== undefined && { seconds }),
    ...(percent !== undefined && { percent }),
    ...(chapter !== undefined && { chapter }),
    ...(label !== undefined && { label }),
  }
  return Object.keys(locator).length > 0 ? locator : null
}
