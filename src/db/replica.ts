import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** Local libraries draw from 1 to 8191; 0 is the server's. */
const REPLICAS = 8192

/**
 * Makes sure that ids are drawn under a number of this very file. A copied or restored file bears another mark than the one
 * its number was drawn under, and draws a new number before its first write: two files never give out the same id.
 */
export async function ensureReplica(db: Kysely<Schema>, fileMark: string): Promise<void> {
  const current = await db.selectFrom('replica').selectAll().where('current', '=', 1).executeTakeFirst()
  if (current?.file_mark === fileMark) return
  await db.transaction().execute(async (transaction) => {
    const known = await transaction.selectFrom('replica').selectAll().execute()
    if (known.some((row) => row.current === 1 && row.file_mark === fileMark)) return
    await transaction.updateTable('replica').set({ current: 0 }).execute()
    const taken = new Set(known.map(({ number }) => number))
    let number = randomInt(1, REPLICAS)
    while (taken.has(number) && taken.size < REPLICAS - 1) number = randomInt(1, REPLICAS)
    await transaction
      .insertInto('replica')
      .values({ number, counter: 0, current: 1, file_mark: fileMark })
      .execute()
  })
}
