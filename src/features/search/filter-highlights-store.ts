import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely'
import { nameKey } from '../../core/text.ts'
import type { WordColumn } from '../../db/full-text.ts'
import type { Db, Schema } from '../../db/schema.ts'
import { listed } from './passage-store.ts'
import type { QueryFilter } from './query.ts'
import type { Hit } from './search.ts'
import type { SearchScope } from './search-scope.ts'

type Where = ExpressionBuilder<Schema, 'highlight'>

/** On itself or on its source. */
const isTagged = (tag: string): Expression<SqlBool> => sql<SqlBool>`exists (
  select 1 from tag join tagging on tagging.tag_id = tag.id
  where tag.name_key = ${nameKey(tag)} and tagging.target_id in (highlight.id, highlight.source_id))`

const conditions = (where: Where, { tags, notTags }: QueryFilter): Expression<SqlBool>[] => [
  ...tags.map(isTagged),
  ...notTags.map((tag) => where.not(isTagged(tag))),
]

/**
 * The highlights that fit what a question says of tags, and the notes on them where notes are searched; undefined where it says
 * nothing of tags.
 */
export async function bearersOf(
  db: Db,
  filter: QueryFilter,
  columns: readonly WordColumn[],
): Promise<Set<number> | undefined> {
  if (filter.tags.length === 0 && filter.notTags.length === 0) return undefined
  const fitting = db
    .selectFrom('highlight')
    .select('highlight.id')
    .where('highlight.trashed_at', 'is', null)
    .where('highlight.source_id', 'in', db.selectFrom('source').select('id').where('trashed_at', 'is', null))
    .where((where) => where.and(conditions(where, filter)))
  const owners = new Set((await fitting.execute()).map(({ id }) => id))
  if (!columns.includes('note')) return owners
  const notes = await db.selectFrom('note').select('id').where('highlight_id', 'in', fitting).execute()
  for (const { id } of notes) owners.add(id)
  return owners
}

/** Highlights that a filter alone finds, last made first. */
export async function newestHighlights(
  db: Db,
  { sources, owners, columns, excluded }: SearchScope,
  limit: number,
): Promise<Hit[]> {
  if ((!sources && !owners) || !columns.includes('highlight')) return []
  let query = db.selectFrom('highlight').select(['id', 'source_id']).where('trashed_at', 'is', null)
  if (sources) query = query.where('source_id', 'in', listed(db, [...sources]))
  if (owners) query = query.where('id', 'in', listed(db, [...owners]))
  const rows = await query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + excluded.size)
    .execute()
  return rows
    .filter(({ id }) => !excluded.has(id))
    .slice(0, limit)
    .map(({ id, source_id }) => ({
      sourceId: source_id,
      highlightId: id,
      passageId: undefined,
      score: 0,
      matched: 'words',
    }))
}
