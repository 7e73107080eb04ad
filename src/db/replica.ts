import { randomInt } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
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
    const number = freeNumber(taken)
    await transaction.insertInto('replica').values({ number, counter: 0, current: 1, file_mark }).execute()
  })
}

/** Ids that are not in an archive may have been given out between those that are, and after them. */
const SPARE = 2 ** 20

/**
 * Takes over ids that were drawn elsewhere, given by their number with the highest counter of each: none of them is ever given
 * out here. A local library that counts under one of the numbers draws another; that of a server, which has but one, goes on
 * behind them. To be called before a change draws its first id.
 */
export async function reserveNumbers(
  transaction: Transaction<Schema>,
  highest: ReadonlyMap<number, number>,
): Promise<void> {
  const known = await transaction.selectFrom('replica').selectAll().execute()
  const current = known.find((row) => row.current === 1)
  for (const [number, counter] of highest) {
    const row = known.find((one) => one.number === number)
    const isServers = number === 0 && row === current
    if (row)
      await transaction
        .updateTable('replica')
        .set({
          counter: Math.max(row.counter, counter + (isServers ? SPARE : 0)),
          current: isServers ? 1 : 0,
        })
        .where('number', '=', number)
        .execute()
    else
      await transaction.insertInto('replica').values({ number, counter, current: 0, file_mark: '' }).execute()
  }
  if (!current || current.number === 0 || !highest.has(current.number)) return
  const taken = new Set([...known.map(({ number }) => number), ...highest.keys()])
  const { file_mark } = current
  await transaction
    .insertInto('replica')
    .values({ number: freeNumber(taken), counter: 0, current: 1, file_mark })
    .execute()
}

function freeNumber(taken: ReadonlySet<number>): number {
  let number = randomInt(1, REPLICAS)
  while (taken.has(number) && taken.size < REPLICAS - 1) number = randomInt(1, REPLICAS)
  return number
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
