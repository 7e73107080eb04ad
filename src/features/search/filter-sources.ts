import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely'
import type { Library } from '../../core/library.ts'
import { readSettings, type Settings } from '../../core/settings.ts'
import { nameKey } from '../../core/text.ts'
import type { Schema } from '../../db/schema.ts'
import { findSource, readingState } from '../sources/source-store.ts'
import { foldWords } from './fold-words.ts'
import { fullText } from './indexes.ts'
import { emptyFilter, type QueryFilter } from './query.ts'
import { listed, sourcesOf } from './passage-store.ts'

export interface FilterRights {
  highlights: boolean
  notes: boolean
}

type Where = ExpressionBuilder<Schema, 'source'>

/** Titles by that many bearers of a name are looked at. */
const AUTHORED = 20_000

/**
 * Ids of the sources that fit a filter, last saved first; undefined where it asks for nothing. What the caller may not see
 * decides nothing: `is:noted` without the right to read notes fits no source.
 */
export async function filterSources(
  library: Library,
  filter: QueryFilter,
  rights: FilterRights,
): Promise<number[] | undefined> {
  const { columns: _, notColumns: _not, ...ofSources } = filter
  const { columns: __, notColumns: __not, ...nothing } = emptyFilter()
  if (JSON.stringify(ofSources) === JSON.stringify(nothing)) return undefined
  const { db } = library
  const settings = filter.before || filter.after ? await readSettings(db) : undefined
  const span = settings && (await spanOf(filter, settings))
  let query = db
    .selectFrom('source')
    .select(['source.id', 'source.authors'])
    .where('trashed_at', 'is', null)
    .where((where) => where.and(conditions(where, filter, rights)))
  if (span?.from) query = query.where('created_at', '>=', span.from)
  if (span?.to) query = query.where('created_at', '<', span.to)
  for (const [wanted, ids] of [
    [true, filter.sources],
    [false, filter.notSources],
  ] as const) {
    if (ids.length === 0) continue
    const live = await Promise.all(ids.map(async (id) => (await findSource(db, id))?.id ?? -1))
    query = query.where('source.id', wanted ? 'in' : 'not in', live)
  }
  for (const author of filter.authors) {
    const titles = await fullText(db).match(
      db,
      { match: { all: author.split(' ').map((word) => ({ phrase: [word], prefix: true })) }, in: ['head'] },
      { order: 'newest', limit: AUTHORED },
    )
    const sources = (await sourcesOf(db, titles)).map(({ source_id }) => source_id)
    query = query.where('source.id', 'in', listed(db, sources))
  }
  const rows = await query.orderBy('created_at', 'desc').orderBy('source.id', 'desc').execute()
  return rows
    .filter(({ authors }) => {
      if (filter.authors.length === 0 && filter.notAuthors.length === 0) return true
      const names = (JSON.parse(authors) as string[]).map(foldWords)
      const wrote = (name: string) => names.some((full) => holdsName(full, name))
      return filter.authors.every(wrote) && !filter.notAuthors.some(wrote)
    })
    .map(({ id }) => id)
}

/**
 * The sources whose passages may be looked at for a unit; undefined where all may. What a highlight has of its own (tags, that it
 * is one) is not asked of its source.
 */
export async function sourcesInReach(
  library: Library,
  filter: QueryFilter,
  rights: FilterRights,
  sourceId: number | undefined,
  unit: 'source' | 'highlight',
): Promise<number[] | undefined> {
  const marks = filter.marks.filter((mark) => mark !== 'highlighted')
  const asked = unit === 'source' ? filter : { ...filter, tags: [], notTags: [], marks }
  const fitting = await filterSources(library, asked, rights)
  if (sourceId === undefined) return fitting
  return !fitting || fitting.includes(sourceId) ? [sourceId] : []
}

/** Each word of the given name begins a word of the full one. */
const holdsName = (full: string, name: string): boolean =>
  name.split(' ').every((part) => ` ${full}`.includes(` ${part}`))

function conditions(where: Where, filter: QueryFilter, rights: FilterRights): Expression<SqlBool>[] {
  const all: Expression<SqlBool>[] = []
  if (filter.kinds.length > 0) all.push(where('kind', 'in', filter.kinds))
  if (filter.notKinds.length > 0) all.push(where('kind', 'not in', filter.notKinds))
  for (const tag of filter.tags) all.push(isTagged(tag, rights))
  for (const tag of filter.notTags) all.push(where.not(isTagged(tag, rights)))
  if (filter.states.length > 0) all.push(where(readingState, 'in', filter.states))
  if (filter.notStates.length > 0) all.push(where(readingState, 'not in', filter.notStates))
  for (const mark of filter.marks) all.push(isMarked(mark, rights))
  for (const mark of filter.notMarks) all.push(where.not(isMarked(mark, rights)))
  return all
}

function isTagged(tag: string, { highlights }: FilterRights): Expression<SqlBool> {
  const onHighlight = highlights
    ? sql`or tagging.target_id in (
        select id from highlight where highlight.source_id = source.id and highlight.trashed_at is null)`
    : sql``
  return sql<SqlBool>`exists (
    select 1 from tag join tagging on tagging.tag_id = tag.id
    where tag.name_key = ${nameKey(tag)} and (tagging.target_id = source.id ${onHighlight}))`
}

function isMarked(mark: 'highlighted' | 'noted', rights: FilterRights): Expression<SqlBool> {
  if (!(mark === 'highlighted' ? rights.highlights : rights.notes)) return sql<SqlBool>`1 = 0`
  return mark === 'highlighted'
    ? sql<SqlBool>`exists (
        select 1 from highlight where highlight.source_id = source.id and highlight.trashed_at is null)`
    : sql<SqlBool>`exists (
        select 1 from note where note.source_id = source.id and note.kind = 'comment' and note.trashed_at is null)`
}

/** From and to (exclusive) as instants: days begin where the reader's do. */
async function spanOf(
  { before, after }: QueryFilter,
  settings: Settings,
): Promise<{ from: string | undefined; to: string | undefined }> {
  const { Temporal } = await import('temporal-polyfill')
  const startOf = (date: string, further: boolean): string => {
    const [year, month, day] = date.split('-').map(Number)
    const first = Temporal.PlainDate.from({ year: year!, month: month ?? 1, day: day ?? 1 })
    const step = day !== undefined ? { days: 1 } : month !== undefined ? { months: 1 } : { years: 1 }
    const instant = (further ? first.add(step) : first)
      .toZonedDateTime({
        timeZone: settings.timeZone,
        plainTime: Temporal.PlainTime.from({ hour: settings.dayEndHour }),
      })
      .toInstant()
    return new Date(instant.epochMilliseconds).toISOString()
  }
  return { from: after && startOf(after, true), to: before && startOf(before, false) }
}
