import { sql } from 'kysely'
import type { Db, SourceKind } from '../../db/schema.ts'
import { listed } from '../search/passage-store.ts'
import type { Source } from './source-store.ts'

const NAMED = ['id', 'title', 'kind', 'authors', 'url'] as const
const LISTED = [...NAMED, 'site', 'language', 'published', 'created_at', 'updated_at'] as const

export type NamedSource = Pick<Source, (typeof NAMED)[number]>
export type ListedSource = Pick<Source, (typeof LISTED)[number]>

/** Where a list that goes by its first day goes on: after this row. */
export interface ListPlace {
  at: string
  id: number
}

export interface SourceFilter {
  kinds?: readonly SourceKind[] | undefined
  /** Only these. */
  ids?: readonly number[] | undefined
}

function fitting(db: Db, { kinds, ids }: SourceFilter) {
  let query = db.selectFrom('source').where('trashed_at', 'is', null)
  if (kinds) query = query.where('kind', 'in', kinds)
  if (ids) query = query.where('id', 'in', listed(db, ids))
  return query
}

/** Sources with a text and without, last added first. */
export function listSources(
  db: Db,
  { after, limit, ...filter }: SourceFilter & { after?: ListPlace | undefined; limit: number },
): Promise<ListedSource[]> {
  let query = fitting(db, filter).select(LISTED)
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.at}, ${after.id})`)
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
}

/** How many sources there are, the trash not counted. */
export async function countListed(db: Db, filter: SourceFilter): Promise<number> {
  const { count } = await fitting(db, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Titles and authors of sources by their ids, those in the trash left out. */
export const titlesById = (
  db: Db,
  ids: readonly number[],
): Promise<Pick<Source, 'id' | 'title' | 'authors'>[]> =>
  fitting(db, { ids }).select(['id', 'title', 'authors']).execute()

/** What is said of sources wherever they are named, by their ids. */
export async function namedSources(db: Db, ids: readonly number[]): Promise<Map<number, NamedSource>> {
  if (ids.length === 0) return new Map()
  const sources = await db.selectFrom('source').select(NAMED).where('id', 'in', ids).execute()
  return new Map(sources.map((source) => [source.id, source]))
}

/** How many highlights and comments sources have, the trash not counted. */
export async function countMarks(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, { highlights: number; notes: number }>> {
  const counts = new Map(ids.map((id) => [id, { highlights: 0, notes: 0 }]))
  if (ids.length === 0) return counts
  const rows = await db
    .selectFrom('highlight')
    .select((of) => [of.val('highlights').as('what'), 'source_id', of.fn.countAll<number>().as('count')])
    .where('source_id', 'in', ids)
    .where('trashed_at', 'is', null)
    .groupBy('source_id')
    .unionAll((of) =>
      of
        .selectFrom('note')
        .leftJoin('highlight', 'highlight.id', 'note.highlight_id')
        .select((as) => [as.val('notes').as('what'), 'note.source_id', as.fn.countAll<number>().as('count')])
        .where('note.source_id', 'in', ids)
        .where('note.kind', '=', 'comment')
        .where('note.trashed_at', 'is', null)
        .where('highlight.trashed_at', 'is', null)
        .groupBy('note.source_id'),
    )
    .execute()
  for (const { what, source_id, count } of rows) {
    const marks = counts.get(source_id)
    if (marks) marks[what === 'notes' ? 'notes' : 'highlights'] = Number(count)
  }
  return counts
}

/** The newest sources whose ids begin with these digits. */
export async function sourceIdsBeginning(db: Db, digits: string, most: number): Promise<number[]> {
  const rows = await db
    .selectFrom('source')
    .select('id')
    .where('trashed_at', 'is', null)
    .where(sql<boolean>`cast(id as text) like ${`${digits}%`}`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  return rows.map(({ id }) => id)
}
