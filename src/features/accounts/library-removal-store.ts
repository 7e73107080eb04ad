import type { ServerDb } from '../../db/server/schema.ts'
import { deleteReader, findReader, type Reader } from './reader-store.ts'

/** A library that is to be removed though its reader is gone already. */
export interface LibraryRemoval {
  readerId: string
  library: string
  /** ISO 8601. */
  askedAt: string
}

/**
 * Deletes a reader with everything that hangs on them, and notes that their library has to follow: `db` is a transaction, so
 * that there is never the one without the other. Gives the reader that was, or undefined where there is none.
 */
export async function removeReader(db: ServerDb, readerId: string, at: Date): Promise<Reader | undefined> {
  const reader = await findReader(db, readerId)
  if (!reader || !(await deleteReader(db, readerId))) return undefined
  await db
    .insertInto('library_removal')
    .values({ reader_id: readerId, library: reader.library, asked_at: at.toISOString() })
    .execute()
  return reader
}

export const listRemovals = (db: ServerDb): Promise<LibraryRemoval[]> =>
  db
    .selectFrom('library_removal')
    .select(['reader_id as readerId', 'library', 'asked_at as askedAt'])
    .orderBy('asked_at')
    .execute()

export async function dropRemoval(db: ServerDb, readerId: string): Promise<void> {
  await db.deleteFrom('library_removal').where('reader_id', '=', readerId).execute()
}
