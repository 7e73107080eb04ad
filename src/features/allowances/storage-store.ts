import type { ServerDb } from '../../db/server/schema.ts'

/** Bytes of a reader's media as they were last counted, with what was stored since. */
export interface StoredMedia {
  bytes: number
  /** ISO 8601; empty where something was removed since. */
  countedAt: string
}

export async function storedMedia(db: ServerDb, readerId: string): Promise<StoredMedia | undefined> {
  const row = await db
    .selectFrom('storage_use')
    .select(['media_bytes', 'counted_at'])
    .where('reader_id', '=', readerId)
    .executeTakeFirst()
  return row && { bytes: Number(row.media_bytes), countedAt: row.counted_at }
}

/** Notes what a reader's media were counted as. A reader who is gone has none. */
export async function keepStoredMedia(
  db: ServerDb,
  readerId: string,
  { bytes, countedAt }: StoredMedia,
): Promise<void> {
  await db
    .insertInto('storage_use')
    .columns(['reader_id', 'media_bytes', 'counted_at'])
    .expression((of) =>
      of
        .selectFrom('reader')
        .select((row) => ['id', row.val(bytes).as('media_bytes'), row.val(countedAt).as('counted_at')])
        .where('id', '=', readerId),
    )
    .onConflict((conflict) =>
      conflict.column('reader_id').doUpdateSet({ media_bytes: bytes, counted_at: countedAt }),
    )
    .execute()
}

/**
 * Takes `bytes` of a reader's room where there is that much below `most` (absent: no limit), and says whether there was: one
 * statement, so that several who store at once, in however many replicas, never take the same room.
 */
export async function takeRoom(
  db: ServerDb,
  readerId: string,
  bytes: number,
  most: number | undefined,
): Promise<boolean> {
  const row = await db
    .updateTable('storage_use')
    .set((use) => ({ media_bytes: use('media_bytes', '+', bytes) }))
    .where('reader_id', '=', readerId)
    .$if(most !== undefined, (query) =>
      query.where((use) => use(use('media_bytes', '+', bytes), '<=', most!)),
    )
    .returning('reader_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Gives room back that was taken for what was not stored after all. */
export async function giveRoomBack(db: ServerDb, readerId: string, bytes: number): Promise<void> {
  await db
    .updateTable('storage_use')
    .set((use) => ({ media_bytes: use('media_bytes', '-', bytes) }))
    .where('reader_id', '=', readerId)
    .where('media_bytes', '>=', bytes)
    .execute()
}

/** Has a reader's media counted anew before the next is stored. */
export async function countAnew(db: ServerDb, readerId: string): Promise<void> {
  await db.updateTable('storage_use').set({ counted_at: '' }).where('reader_id', '=', readerId).execute()
}
