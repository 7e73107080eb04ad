import { sql, type RawBuilder, type Selectable, type SqlBool } from 'kysely'
import { engineOf } from '../../db/engine.ts'
import type { WordColumn, WordRow } from '../../db/full-text.ts'
import type { Db, PassageTable } from '../../db/schema.ts'
import { indexedWords } from './fold-words.ts'

export type Passage = Selectable<PassageTable>
export type NewPassage = Omit<Passage, 'id' | 'embedded'>

const ROWS_A_STATEMENT = 200

/** Adds passages, and gives their words, which the caller puts into the word index. */
export async function addPassages(db: Db, passages: readonly NewPassage[]): Promise<WordRow[]> {
  const words: WordRow[] = []
  for (let from = 0; from < passages.length; from += ROWS_A_STATEMENT) {
    const rows = passages.slice(from, from + ROWS_A_STATEMENT)
    const added = await db.insertInto('passage').values(rows).returning('id').execute()
    // Ids grow in the order of the rows, in whatever order they are returned.
    const ids = added.map(({ id }) => id).toSorted((a, b) => a - b)
    for (const [i, { kind, body }] of rows.entries()) words.push(wordsOf({ id: ids[i]!, kind, body }))
  }
  return words
}

/** A passage as the word index takes it. */
export const wordsOf = ({ id, kind, body }: Pick<Passage, 'id' | 'kind' | 'body'>): WordRow => ({
  id,
  column: kind,
  words: indexedWords(body),
})

/** A list of ids for `in`: one parameter, and so one statement, however long it is. */
export function listed(db: Db, ids: readonly number[]): RawBuilder<number> {
  const { lists } = engineOf(db)
  return lists.rows(lists.bind(ids), 'bigint')
}

/** Removes passages; their words and vectors go with them. */
export async function removePassages(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('passage').where('id', 'in', listed(db, ids)).execute()
}

/** The passages of a source, or of one of its highlights or notes, by id. */
export function passagesOf(
  db: Db,
  sourceId: number,
  owned?: { kind: Passage['kind']; ownerId: number },
): Promise<Passage[]> {
  let query = db.selectFrom('passage').selectAll().where('source_id', '=', sourceId)
  if (owned) query = query.where('kind', '=', owned.kind).where('owner_id', '=', owned.ownerId)
  return query.orderBy('id').execute()
}

/** Passages by their ids, those that are there, in no order. */
export const findPassages = (db: Db, ids: readonly number[]): Promise<Passage[]> =>
  db.selectFrom('passage').selectAll().where('id', 'in', listed(db, ids)).execute()

/** The source of each passage, and the row that its words stand in. */
export const sourcesOf = (
  db: Db,
  ids: readonly number[],
): Promise<Pick<Passage, 'id' | 'source_id' | 'owner_id'>[]> =>
  db
    .selectFrom('passage')
    .select(['id', 'source_id', 'owner_id'])
    .where('id', 'in', listed(db, ids))
    .execute()

const SMALL_KINDS = sql<SqlBool>`kind in ('highlight', 'note')`

/** Whether a library has more passages of highlights and notes than so many. */
export async function hasMoreMarked(db: Db, most: number): Promise<boolean> {
  const row = await db
    .selectFrom('passage')
    .select('id')
    .where(SMALL_KINDS)
    .orderBy('id')
    .limit(1)
    .offset(most)
    .executeTakeFirst()
  return row !== undefined
}

/** All passages of highlights and notes. */
export async function markedPassages(db: Db): Promise<number[]> {
  const rows = await db.selectFrom('passage').select('id').where(SMALL_KINDS).orderBy('id').execute()
  return rows.map(({ id }) => id)
}

/** The passages of some kinds in a few sources, with their words; undefined where they are more than so many. */
export async function passagesIn(
  db: Db,
  { sources, columns, most }: { sources: readonly number[]; columns: readonly WordColumn[]; most: number },
): Promise<Passage[] | undefined> {
  const of = db
    .selectFrom('passage')
    .where('source_id', 'in', listed(db, sources))
    .where('kind', 'in', columns)
  const last = await of.select('source_id').limit(1).offset(most).executeTakeFirst()
  return last ? undefined : of.selectAll().execute()
}

/** The highlight that each of these notes is on; notes on a source as a whole are left out. */
export async function highlightsOfNotes(db: Db, ids: readonly number[]): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('note')
    .select(['id', 'highlight_id'])
    .where('id', 'in', listed(db, ids))
    .execute()
  return new Map(rows.flatMap(({ id, highlight_id }) => (highlight_id === null ? [] : [[id, highlight_id]])))
}

/** First and last passage of each source. */
export const rangesOf = (
  db: Db,
  sources: readonly number[],
): Promise<{ source_id: number; first: number; last: number }[]> =>
  db
    .selectFrom('passage')
    .select((of) => ['source_id', of.fn.min('id').as('first'), of.fn.max('id').as('last')])
    .where('source_id', 'in', listed(db, sources))
    .groupBy('source_id')
    .execute()
