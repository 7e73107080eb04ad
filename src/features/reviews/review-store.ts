import { sql, type Expression, type Selectable, type SqlBool } from 'kysely'
import type { Db, ReviewTable } from '../../db/schema.ts'
import { engineOf } from '../../db/engine.ts'

export type Review = Selectable<ReviewTable>

const rowsOf = (db: Db, ids: readonly number[]) => {
  const { lists } = engineOf(db)
  return lists.rows<number>(lists.bind(ids), 'bigint')
}

/** The answer that says what is known of a highlight: the newest, whichever device it was given on. */
export const newestReview = (db: Db, highlightId: number): Promise<Review | undefined> =>
  db
    .selectFrom('review')
    .selectAll()
    .where('highlight_id', '=', highlightId)
    .orderBy('reviewed_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()

/** The same of several highlights. */
export async function newestReviews(db: Db, highlightIds: readonly number[]): Promise<Map<number, Review>> {
  if (highlightIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('review')
    .selectAll()
    .where('highlight_id', 'in', rowsOf(db, highlightIds))
    .orderBy('reviewed_at')
    .orderBy('id')
    .execute()
  return new Map(rows.map((row) => [row.highlight_id, row]))
}

/** A reader's day, as instants in ISO 8601. */
export interface DaySpan {
  start: string
  end: string
}

export interface DueHighlight {
  id: number
  sourceId: number
  reviewedAt: string
  dueAt: string
}

/** What a day begins with: answers of the day itself do not count; those of a clock that was ahead do, so that they hold. */
const outsideDay = ({ start, end }: DaySpan): Expression<SqlBool> =>
  sql<SqlBool>`(reviewed_at < ${start} or reviewed_at >= ${end})`

/** An id as digits of one length, so that texts are in the order of the ids (below 2^53). */
const LEADING = 10_000_000_000_000_000n
const INSTANT = 24
const DIGITS = 17

/**
 * Highlights that were due before the end of a day when it began, but for the trash. The newest answer of each is found by
 * one pass over an index: the greatest of time, id and due date in one text.
 */
export async function listDue(db: Db, day: DaySpan): Promise<DueHighlight[]> {
  const key = sql<string>`max(reviewed_at || cast(id + ${sql.lit(LEADING)} as text) || due_at)`
  const newest = db
    .selectFrom('review')
    .select(['highlight_id', key.as('newest')])
    .where(outsideDay(day))
    .groupBy('highlight_id')
    .having(sql<SqlBool>`substr(${key}, ${sql.lit(INSTANT + DIGITS + 1)}) < ${day.end}`)
  const rows = await db
    .selectFrom(newest.as('last'))
    .innerJoin('highlight', 'highlight.id', 'last.highlight_id')
    .innerJoin('source', 'source.id', 'highlight.source_id')
    .select(['highlight.id', 'highlight.source_id', 'last.newest'])
    .where('highlight.trashed_at', 'is', null)
    .where('source.trashed_at', 'is', null)
    .execute()
  return rows.map(({ id, source_id, newest }) => ({
    id,
    sourceId: source_id,
    reviewedAt: newest.slice(0, INSTANT),
    dueAt: newest.slice(INSTANT + DIGITS),
  }))
}

/** The highlights that were answered on a day. */
export async function answeredOn(db: Db, { start, end }: DaySpan): Promise<Set<number>> {
  const rows = await db
    .selectFrom('review')
    .select('highlight_id')
    .distinct()
    .where('reviewed_at', '>=', start)
    .where('reviewed_at', '<', end)
    .execute()
  return new Set(rows.map(({ highlight_id }) => highlight_id))
}

/** Sources that have highlights, but for the trash. */
export async function sourcesWithHighlights(db: Db): Promise<number[]> {
  const rows = await db
    .selectFrom('source')
    .select('source.id')
    .where('source.trashed_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('highlight')
          .select('highlight.id')
          .whereRef('highlight.source_id', '=', 'source.id')
          .where('highlight.trashed_at', 'is', null),
      ),
    )
    .execute()
  return rows.map(({ id }) => id)
}

/** Highlights of some sources that were never answered before a day began, with when each was made. */
export const listNew = (
  db: Db,
  sourceIds: readonly number[],
  day: DaySpan,
): Promise<{ id: number; source_id: number; created_at: string }[]> =>
  db
    .selectFrom('highlight')
    .select(['highlight.id', 'highlight.source_id', 'highlight.created_at'])
    .where('highlight.source_id', 'in', rowsOf(db, sourceIds))
    .where('highlight.trashed_at', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('review')
            .select('review.id')
            .whereRef('review.highlight_id', '=', 'highlight.id')
            .where(outsideDay(day)),
        ),
      ),
    )
    .execute()
