import type { Selectable } from 'kysely'
import type { ServerDb, ServerSchema } from '../../db/server/schema.ts'

export interface CreditMonth {
  spent: number
  /** On top of the allowance. */
  granted: number
}

export type CreditEntry = Selectable<ServerSchema['credit_entry']>

export async function monthOf(db: ServerDb, readerId: string, month: string): Promise<CreditMonth> {
  const row = await db
    .selectFrom('credit_month')
    .select(['spent', 'granted'])
    .where('reader_id', '=', readerId)
    .where('month', '=', month)
    .executeTakeFirst()
  return row ?? { spent: 0, granted: 0 }
}

/** Notes an entry; false where there is one under its key already. */
export async function addEntry(db: ServerDb, entry: CreditEntry): Promise<boolean> {
  const added = await db
    .insertInto('credit_entry')
    .values(entry)
    .onConflict((conflict) => conflict.columns(['reader_id', 'key']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return added !== undefined
}

export const findEntry = (db: ServerDb, readerId: string, key: string): Promise<CreditEntry | undefined> =>
  db
    .selectFrom('credit_entry')
    .selectAll()
    .where('reader_id', '=', readerId)
    .where('key', '=', key)
    .executeTakeFirst()

/** The latest first. */
export const listEntries = (db: ServerDb, readerId: string, limit: number): Promise<CreditEntry[]> =>
  db
    .selectFrom('credit_entry')
    .selectAll()
    .where('reader_id', '=', readerId)
    .orderBy('at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Spends within allowance and grants, in one statement; false where there are not enough. */
export async function spend(
  db: ServerDb,
  readerId: string,
  month: string,
  amount: number,
  allowance: number,
): Promise<boolean> {
  await beginMonth(db, readerId, month)
  const row = await db
    .updateTable('credit_month')
    .set((of) => ({ spent: of('spent', '+', amount) }))
    .where('reader_id', '=', readerId)
    .where('month', '=', month)
    .where((of) => of(of('spent', '+', amount), '<=', of('granted', '+', allowance)))
    .returning('spent')
    .executeTakeFirst()
  return row !== undefined
}

export async function giveBack(db: ServerDb, readerId: string, month: string, amount: number): Promise<void> {
  await db
    .updateTable('credit_month')
    .set((of) => ({ spent: of('spent', '-', amount) }))
    .where('reader_id', '=', readerId)
    .where('month', '=', month)
    .execute()
}

/** False where there is no such reader. */
export async function grant(db: ServerDb, readerId: string, month: string, amount: number): Promise<boolean> {
  await beginMonth(db, readerId, month)
  const row = await db
    .updateTable('credit_month')
    .set((of) => ({ granted: of('granted', '+', amount) }))
    .where('reader_id', '=', readerId)
    .where('month', '=', month)
    .returning('granted')
    .executeTakeFirst()
  return row !== undefined
}

async function beginMonth(db: ServerDb, readerId: string, month: string): Promise<void> {
  await db
    .insertInto('credit_month')
    .columns(['reader_id', 'month'])
    .expression((of) =>
      of
        .selectFrom('reader')
        .select((row) => ['id', row.val(month).as('month')])
        .where('id', '=', readerId),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
