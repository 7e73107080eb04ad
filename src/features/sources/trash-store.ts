import type { Db } from '../../db/schema.ts'
import type { Source } from './source-store.ts'

/** What lies in the trash, last thrown away first. */
export function listTrash(db: Db): Promise<Source[]> {
  return db
    .selectFrom('source')
    .selectAll()
    .where('trashed_at', 'is not', null)
    .orderBy('trashed_at', 'desc')
    .execute()
}

/** Ids of what was thrown away before an instant. */
export async function listExpired(
  db: Db,
  table: 'source' | 'note' | 'highlight' | 'read',
  before: string,
): Promise<number[]> {
  const rows = await db
    .selectFrom(table)
    .select('id')
    .where('trashed_at', '<', before)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Ids of the notes on a highlight, those in the trash included. */
export async function listNotesOn(db: Db, highlightId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('note')
    .select('id')
    .where('highlight_id', '=', highlightId)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}
