import { randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** Local libraries draw from 1 to 8191; 0 is the server's. */
const REPLICAS = 8192

/** What tells a file from a copy of it. */
export interface FileMark {
  inode: string
  /** When the inode was made, where that is known. */
  born?: string
}

/**
 * Makes sure that ids are drawn under a number of this very file. A copied or restored file bears another mark than the one
 * its number was drawn under, and draws a new number before its first write: two files never give out the same id.
 */
export async function ensureReplica(db: Kysely<Schema>, mark: FileMark): Promise<void> {
  const file_mark = JSON.stringify(mark)
  const current = await db.selectFrom('replica').selectAll().where('current', '=', 1).executeTakeFirst()
  if (current?.file_mark === file_mark) return
  await db.transaction().execute(async (transaction) => {
    const known = await transaction.selectFrom('replica').selectAll().execute()
    const own = known.find((row) => row.current === 1 && isOf(row.file_mark, mark))
    if (own) {
      // The birth has become known, or no longer is.
      if (mark.born !== undefined)
        await transaction.updateTable('replica').set({ file_mark }).where('number', '=', own.number).execute()
      return
    }
    await transaction.updateTable('replica').set({ current: 0 }).execute()
    const taken = new Set(known.map(({ number }) => number))
    let number = randomInt(1, REPLICAS)
    while (taken.has(number) && taken.size < REPLICAS - 1) number = randomInt(1, REPLICAS)
    await transaction.insertInto('replica').values({ number, counter: 0, current: 1, file_mark }).execute()
  })
}

/** Whether a number was drawn under this mark; what only one of the two knows tells nothing. */
function isOf(stored: string, { inode, born }: FileMark): boolean {
  const then = parse(stored)
  if (then?.inode !== inode) return false
  return then.born === undefined || born === undefined || then.born === born
}

/** The mark as it was stored; undefined for that of a restored library, which is blank. */
const parse = (stored: string): FileMark | undefined =>
  stored === '' ? undefined : (JSON.parse(stored) as FileMark)
