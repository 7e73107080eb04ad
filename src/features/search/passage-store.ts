import type { Selectable } from 'kysely'
import type { Db, PassageTable } from '../../db/schema.ts'
import { foldWords } from './fold-words.ts'
import { fullText } from './indexes.ts'

export type Passage = Selectable<PassageTable>
export type NewPassage = Omit<Passage, 'id' | 'embedded'>

const ROWS_A_STATEMENT = 200

/** Adds passages and their words. */
export async function addPassages(db: Db, passages: readonly NewPassage[]): Promise<void> {
  for (let from = 0; from < passages.length; from += ROWS_A_STATEMENT) {
    const rows = passages.slice(from, from + ROWS_A_STATEMENT)
    const added = await db.insertInto('passage').values(rows).returning('id').execute()
    // Ids grow in the order of the rows, in whatever order they are returned.
    const ids = added.map(({ id }) => id).toSorted((a, b) => a - b)
    await fullText.add(
      db,
      rows.map(({ kind, body }, i) => ({ id: ids[i]!, column: kind, words: foldWords(body) })),
    )
  }
}

/** Removes passages; their words and vectors go with them. */
export async function removePassages(db: Db, ids: readonly number[]): Promise<void> {
  for (let from = 0; from < ids.length; from += ROWS_A_STATEMENT) {
    await db
      .deleteFrom('passage')
      .where('id', 'in', ids.slice(from, from + ROWS_A_STATEMENT))
      .execute()
  }
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
export async function findPassages(db: Db, ids: readonly number[]): Promise<Passage[]> {
  const found: Passage[] = []
  for (let from = 0; from < ids.length; from += 500) {
    const some = ids.slice(from, from + 500)
    found.push(...(await db.selectFrom('passage').selectAll().where('id', 'in', some).execute()))
  }
  return found
}
