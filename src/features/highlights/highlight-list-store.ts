import { sql, type ExpressionBuilder } from 'kysely'
import { z } from 'zod'
import type { Db, Schema } from '../../db/schema.ts'
import type { ListPlace } from '../sources/source-list-store.ts'
import { aliasTarget } from '../sources/source-store.ts'
import type { Highlight } from './highlight-store.ts'

const LISTED = [
  'id',
  'source_id',
  'quote',
  'start_offset',
  'state',
  'locator',
  'color',
  'written',
  'created_at',
  'updated_at',
] as const

export type ListedHighlight = Pick<Highlight, (typeof LISTED)[number]>

/** Of sources that are not in the trash. */
const ofSourceThatIsThere = ({ exists, selectFrom }: ExpressionBuilder<Schema, 'highlight'>) =>
  exists(
    selectFrom('source')
      .select('source.id')
      .whereRef('source.id', '=', 'highlight.source_id')
      .where('source.trashed_at', 'is', null),
  )

/** Highlights that are there to be seen: neither they nor their source lie in the trash. */
const visible = (db: Db) =>
  db.selectFrom('highlight').where('highlight.trashed_at', 'is', null).where(ofSourceThatIsThere)

/** Highlights of the whole library, last made first. */
export function listRecent(
  db: Db,
  { after, limit }: { after?: ListPlace | undefined; limit: number },
): Promise<ListedHighlight[]> {
  let query = visible(db).select(LISTED)
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.at}, ${after.id})`)
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
}

export async function countHighlights(db: Db): Promise<number> {
  const { count } = await visible(db)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Where a list in the order of the text goes on. */
export type ReadingPlace = z.output<typeof readingPlace>

/** What has no place in the text comes last. */
const start = sql<number>`coalesce(start_offset, ${sql.lit(Number.MAX_SAFE_INTEGER)})`

export const readingPlace = z.object({ start: z.number(), at: z.string(), id: z.number() })

export const readingPlaceOf = ({ start_offset, created_at, id }: ListedHighlight): ReadingPlace => ({
  start: start_offset ?? Number.MAX_SAFE_INTEGER,
  at: created_at,
  id,
})

/** A source's highlights in the order of its text. */
export function listInSource(
  db: Db,
  sourceId: number,
  { after, limit }: { after?: ReadingPlace | undefined; limit: number },
): Promise<ListedHighlight[]> {
  let query = db
    .selectFrom('highlight')
    .select(LISTED)
    .where('source_id', '=', sourceId)
    .where('trashed_at', 'is', null)
  if (after)
    query = query.where(
      sql<boolean>`(${start}, created_at, id) > (cast(${after.start} as bigint), ${after.at}, ${after.id})`,
    )
  return query.orderBy(start).orderBy('created_at').orderBy('id').limit(limit).execute()
}

/** The highlight that an id stands for, as far as it is there to be seen. */
export async function findHighlight(db: Db, id: number): Promise<ListedHighlight | undefined> {
  const found = await visible(db).select(LISTED).where('highlight.id', '=', id).executeTakeFirst()
  if (found) return found
  const target = await aliasTarget(db, id)
  return target === undefined ? undefined : findHighlight(db, target)
}

/** Highlights by their ids, as far as they are there to be seen. */
export async function listedByIds(db: Db, ids: readonly number[]): Promise<Map<number, ListedHighlight>> {
  if (ids.length === 0) return new Map()
  const rows = await visible(db).select(LISTED).where('highlight.id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Highlights by their ids, those in the trash left out. */
export async function highlightsByIds(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, Pick<Highlight, 'id' | 'quote'>>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('highlight')
    .select(['id', 'quote'])
    .where('id', 'in', ids)
    .where('trashed_at', 'is', null)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** How many comments each highlight has. */
export async function countNotes(db: Db, ids: readonly number[]): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('note')
    .select(({ fn }) => ['highlight_id', fn.countAll<number>().as('count')])
    .where('highlight_id', 'in', ids)
    .where('kind', '=', 'comment')
    .where('trashed_at', 'is', null)
    .groupBy('highlight_id')
    .execute()
  return new Map(rows.map(({ highlight_id, count }) => [highlight_id ?? 0, Number(count)]))
}

/** The newest highlights whose ids begin with these digits. */
export async function highlightIdsBeginning(db: Db, digits: string, most: number): Promise<number[]> {
  const rows = await visible(db)
    .select('highlight.id')
    .where(sql<boolean>`cast(highlight.id as text) like ${`${digits}%`}`)
    .orderBy('created_at', 'desc')
    .orderBy('highlight.id', 'desc')
    .limit(most)
    .execute()
  return rows.map(({ id }) => id)
}
