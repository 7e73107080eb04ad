import { sql, type RawBuilder } from 'kysely'
import type { Change } from '../../core/library.ts'
import { engineOf } from '../../db/engine.ts'
import type { Db, SyncedTable } from '../../db/schema.ts'

/** A row as it stands. */
export type StandingRow = Record<string, unknown>

export async function findRow(db: Db, table: SyncedTable, id: number): Promise<StandingRow | undefined> {
  const { rows } = await sql<StandingRow>`select * from ${sql.table(table)} where id = ${id}`.execute(db)
  return rows[0]
}

/** The notes on a highlight, those in the trash included. */
export const notesOn = (db: Db, highlightId: number): Promise<StandingRow[]> =>
  db.selectFrom('note').selectAll().where('highlight_id', '=', highlightId).execute()

/** Whether a highlight bears tags that are not of the import, or answers in review. */
export async function isHighlightUsed(db: Db, id: number, own: ReadonlySet<number>): Promise<boolean> {
  const review = await db.selectFrom('review').select('id').where('highlight_id', '=', id).executeTakeFirst()
  return review !== undefined || (await hasOthersTags(db, id, own))
}

export async function hasOthersTags(db: Db, id: number, own: ReadonlySet<number>): Promise<boolean> {
  const taggings = await db.selectFrom('tagging').select('id').where('target_id', '=', id).execute()
  return taggings.some((tagging) => !own.has(tagging.id))
}

/** Whether a source has anything left that is not in the trash: highlights, notes, readings; or a text of another's. */
export async function isSourceUsed(db: Db, id: number, own: ReadonlySet<number>): Promise<boolean> {
  for (const table of ['highlight', 'note', 'read'] as const) {
    const row = await db
      .selectFrom(table)
      .select('id')
      .where('source_id', '=', id)
      .where('trashed_at', 'is', null)
      .executeTakeFirst()
    if (row) return true
  }
  const texts = await db.selectFrom('text').select('id').where('source_id', '=', id).execute()
  const captures = await db
    .selectFrom('capture')
    .select(['id', 'text_id'])
    .where('source_id', '=', id)
    .execute()
  // What was captured because the import asked for it goes with the import.
  const brought = new Set(captures.flatMap((one) => (own.has(one.id) ? (one.text_id ?? []) : [])))
  if (texts.some((text) => !own.has(text.id) && !brought.has(text.id))) return true
  return hasOthersTags(db, id, own)
}

export const hasCapture = async (db: Db, sourceId: number): Promise<boolean> =>
  (await db.selectFrom('capture').select('id').where('source_id', '=', sourceId).executeTakeFirst()) !==
  undefined

export const isTextUsed = async (db: Db, textId: number): Promise<boolean> =>
  (await db
    .selectFrom('highlight')
    .select('id')
    .where('text_id', '=', textId)
    .where('trashed_at', 'is', null)
    .executeTakeFirst()) !== undefined

export const isTagUsed = async (db: Db, tagId: number): Promise<boolean> =>
  (await db.selectFrom('tagging').select('id').where('tag_id', '=', tagId).executeTakeFirst()) !== undefined

/** Forgets what files gave for rows that were taken out again. */
export async function forgetRows(change: Change, ids: readonly number[]): Promise<void> {
  if (ids.length > 0)
    await change.db.deleteFrom('imported').where('row_id', 'in', numbers(change.db, ids)).execute()
}

/** Forgets that a source was given a text. */
export async function forgetText(change: Change, sourceId: number, hash: string): Promise<void> {
  await change.db
    .deleteFrom('imported')
    .where('source_id', '=', sourceId)
    .where('kind', '=', 'text')
    .where('key', '=', hash)
    .execute()
}

function numbers(db: Db, ids: readonly number[]): RawBuilder<number> {
  const { lists } = engineOf(db)
  return lists.rows(lists.bind(ids), 'bigint')
}
