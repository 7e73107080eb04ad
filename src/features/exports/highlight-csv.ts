import type { Db } from '../../db/schema.ts'
import { placeInSource } from '../highlights/place-in-source.ts'
import { authorsOf, isbnsOf, tagsOf } from '../sources/source-store.ts'
import { csvCell, csvRow, csvRowOf, joinNames, joinNotes } from './csv-cells.ts'
import {
  csvNotes,
  csvSources,
  highlightsAfter,
  FIRST_IN_CSV,
  type CsvHighlight,
  type CsvPlace,
  type CsvSource,
} from './highlight-csv-store.ts'

/** The columns in their order, as docs/exporting.md explains them; a new one comes last. */
export const CSV_COLUMNS = [
  'source',
  'authors',
  'type',
  'url',
  'highlight',
  'location',
  'notes',
  'tags',
  'color',
  'highlighted_at',
  'source_tags',
  'saved_at',
  'published',
  'site',
  'publisher',
  'language',
  'isbns',
  'locator',
  'source_id',
  'highlight_id',
] as const

export interface CsvPage {
  /** Whole rows, under the header on the first page. */
  csv: string
  rows: number
  /** Where the next page begins; undefined after the last. */
  next: CsvPlace | undefined
}

/**
 * A page of the file of all highlights, a row each. Pages that follow one another are one file, whatever their sizes. A highlight
 * that is there throughout, and does not move in its text, is in it once, while others come and go. Without `notes` their column
 * is empty.
 */
export async function csvPage(
  db: Db,
  { after, limit, notes }: { after?: CsvPlace | undefined; limit: number; notes: boolean },
): Promise<CsvPage> {
  const found = await highlightsAfter(db, after ?? FIRST_IN_CSV, limit + 1)
  const page = found.slice(0, limit)
  const rows = await rowsOf(db, page, notes)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    csv: (after ? '' : csvRow(CSV_COLUMNS)) + rows.join(''),
    rows: page.length,
    next: last && { source: last.source_id, start: last.start_offset, id: last.id },
  }
}

const PAGE = 1_000

/** The whole file, in the pieces that `csvPage` gives. */
export async function* writeHighlightCsv(
  db: Db,
  { notes = true, onRows }: { notes?: boolean; onRows?: (rows: number) => void } = {},
): AsyncGenerator<string> {
  for (let after: CsvPlace | undefined; ;) {
    const { csv, rows, next } = await csvPage(db, { after, limit: PAGE, notes })
    yield csv
    onRows?.(rows)
    if (!next) return
    after = next
  }
}

async function rowsOf(db: Db, page: readonly CsvHighlight[], withNotes: boolean): Promise<string[]> {
  if (page.length === 0) return []
  const ids = page.map(({ id }) => id)
  const sourceIds = [...new Set(page.map(({ source_id }) => source_id))]
  const sources = new Map((await csvSources(db, { ids: sourceIds })).map((source) => [source.id, source]))
  const tags = await tagsOf(db, [...sourceIds, ...ids])
  const notes = new Map<number | null, string[]>()
  if (withNotes)
    for (const { highlight_id, body } of await csvNotes(db, { ids })) {
      const same = notes.get(highlight_id)
      if (same) same.push(body)
      else notes.set(highlight_id, [body])
    }
  const ofSource = new Map<number, SourceCells>()
  const ofLocator = new Map<string | null, [location: string, locator: string]>()
  return page.flatMap((highlight) => {
    const { id, source_id, quote, locator, color, written, created_at } = highlight
    const source = sources.get(source_id)
    // Gone between one question and the next.
    if (!source) return []
    let cells = ofSource.get(source_id)
    if (!cells) ofSource.set(source_id, (cells = sourceCells(source, tags.get(source_id) ?? [])))
    let place = ofLocator.get(locator)
    if (!place)
      ofLocator.set(locator, (place = [csvCell(locationOf(locator)), csvCell(locatorCell(locator))]))
    return csvRowOf([
      cells.front,
      csvCell(quote),
      place[0],
      csvCell(joinNotes(notes.get(id) ?? [])),
      csvCell(joinNames(tags.get(id) ?? [])),
      csvCell(color ?? ''),
      // What came without an hour, or without a date, stays so.
      csvCell(written ?? created_at),
      cells.back,
      place[1],
      cells.id,
      String(id),
    ])
  })
}

/** What each row of a source has before and behind what is of the highlight, safe already. */
interface SourceCells {
  front: string
  back: string
  id: string
}

const sourceCells = (source: CsvSource, tags: readonly string[]): SourceCells => ({
  front: joined([source.title, joinNames(authorsOf(source)), source.kind, source.url ?? '']),
  back: joined([
    joinNames(tags),
    source.created_at,
    source.published ?? '',
    source.site ?? '',
    source.publisher ?? '',
    source.language ?? '',
    joinNames(isbnsOf(source)),
  ]),
  id: String(source.id),
})

const joined = (cells: readonly string[]): string => cells.map(csvCell).join(',')

function locationOf(locator: string | null): string {
  if (locator === null) return ''
  const { location, seconds } = placeInSource(locator)
  return [location, seconds === null ? null : clock(seconds)].filter((part) => part !== null).join(', ')
}

/** `1:02:03`, as players show it. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds)
  const two = (value: number): string => String(value).padStart(2, '0')
  const hours = Math.floor(whole / 3_600)
  const minutes = Math.floor((whole % 3_600) / 60)
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}

const NAMED = ['page', 'location', 'cfi', 'seconds', 'percent', 'chapter', 'label']

/** In one spelling, however it was stored: names in one order, pages and locations as texts. */
function locatorCell(locator: string | null): string {
  if (locator === null) return ''
  let stored: unknown
  try {
    stored = JSON.parse(locator)
  } catch {
    return ''
  }
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return ''
  const told = new Map<string, unknown>(Object.entries(stored))
  const entries = NAMED.flatMap((name) => {
    const value = told.get(name) ?? null
    return value === null ? [] : [[name, name === 'page' || name === 'location' ? String(value) : value]]
  })
  return entries.length === 0 ? '' : JSON.stringify(Object.fromEntries(entries))
}
