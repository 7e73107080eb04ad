import type { Accounts } from './accounts.ts'

/**
 * Refuses a reader from now on: their browsers are signed out, and no connection or token of theirs is answered until
 * `restoreReader`. Nothing in the library is touched, and queued work goes on. False where there is no such reader.
 */
export function suspendReader({ db, now }: Accounts, readerId: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const row = await transaction
      .updateTable('reader')
      .set((reader) => ({
        suspended_at: reader.fn.coalesce('suspended_at', reader.val(now().toISOString())),
      }))
      .where('id', '=', readerId)
      .returning('id')
      .executeTakeFirst()
    for (const table of ['session', 'one_time_link'] as const)
      await transaction.deleteFrom(table).where('reader_id', '=', readerId).execute()
    return row !== undefined
  })
}

/** Lets a suspended reader in again: their connections and tokens work as before, browsers sign in anew. */
export async function restoreReader({ db }: Accounts, readerId: string): Promise<boolean> {
  const row = await db
    .updateTable('reader')
    .set({ suspended_at: null })
    .where('id', '=', readerId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
