import type { ServerDb } from '../../db/server/schema.ts'

/** What one reader may take of a server. */
export interface Allowance {
  /** Bytes of media and texts; 0 is no limit. */
  quotaBytes: number
  /** Whether the Academy's tools may write. */
  academy: boolean
  /** AI credits a month. */
  credits: number
}

/** What was set for one reader or for all; null where it was not. */
export type SetAllowance = { [K in keyof Allowance]: Allowance[K] | null }

const SETTINGS = { quotaBytes: 'quota_bytes', academy: 'academy', credits: 'credits' } as const
const NOTHING_SET: SetAllowance = { quotaBytes: null, academy: null, credits: null }

/**
 * What a reader may take: what was set for them, else what the operator set for all, else what is configured. `configured` is
 * the same on every replica; what was set lies in the database and holds at once.
 */
export async function allowanceOf(db: ServerDb, readerId: string, configured: Allowance): Promise<Allowance> {
  return over(await allowanceSetFor(db, readerId), await allowanceForAll(db, configured))
}

/** What holds for readers for whom nothing was set. */
export const allowanceForAll = async (db: ServerDb, configured: Allowance): Promise<Allowance> =>
  over(await allowanceSetForAll(db), configured)

const over = (set: SetAllowance, otherwise: Allowance): Allowance => ({
  quotaBytes: set.quotaBytes ?? otherwise.quotaBytes,
  academy: set.academy ?? otherwise.academy,
  credits: set.credits ?? otherwise.credits,
})

export async function allowanceSetFor(db: ServerDb, readerId: string): Promise<SetAllowance> {
  const row = await db
    .selectFrom('allowance')
    .select(['quota_bytes', 'academy', 'credits'])
    .where('reader_id', '=', readerId)
    .executeTakeFirst()
  if (!row) return NOTHING_SET
  return {
    quotaBytes: numberOf(row.quota_bytes),
    academy: row.academy === null ? null : Number(row.academy) === 1,
    credits: numberOf(row.credits),
  }
}

export async function allowanceSetForAll(db: ServerDb): Promise<SetAllowance> {
  const rows = await db
    .selectFrom('server_setting')
    .select(['name', 'value'])
    .where('name', 'in', Object.values(SETTINGS))
    .execute()
  const set = new Map(rows.map(({ name, value }) => [name, value]))
  const academy = set.get(SETTINGS.academy)
  return {
    quotaBytes: numberOf(set.get(SETTINGS.quotaBytes)),
    academy: academy === undefined ? null : academy === '1',
    credits: numberOf(set.get(SETTINGS.credits)),
  }
}

/** Sets something for one reader, or with null takes back what was set. False where there is no such reader. */
export async function setAllowance(
  db: ServerDb,
  readerId: string,
  change: Partial<SetAllowance>,
): Promise<boolean> {
  const there = await db.selectFrom('reader').select('id').where('id', '=', readerId).executeTakeFirst()
  if (!there) return false
  const columns = {
    ...('quotaBytes' in change && { quota_bytes: change.quotaBytes ?? null }),
    ...('academy' in change && { academy: flagOf(change.academy ?? null) }),
    ...('credits' in change && { credits: change.credits ?? null }),
  }
  await db
    .insertInto('allowance')
    .values({ reader_id: readerId, quota_bytes: null, academy: null, credits: null, ...columns })
    .onConflict((conflict) => conflict.column('reader_id').doUpdateSet(columns))
    .execute()
  return true
}

/** Sets something for all readers for whom nothing else was set, or with null leaves it to the configuration again. */
export async function setAllowanceForAll(db: ServerDb, change: Partial<SetAllowance>): Promise<void> {
  for (const key of ['quotaBytes', 'academy', 'credits'] as const) {
    const value = change[key]
    if (value === undefined) continue
    const name = SETTINGS[key]
    if (value === null) {
      await db.deleteFrom('server_setting').where('name', '=', name).execute()
      continue
    }
    const text = String(Number(value))
    await db
      .insertInto('server_setting')
      .values({ name, value: text })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: text }))
      .execute()
  }
}

const flagOf = (on: boolean | null): number | null => (on === null ? null : Number(on))

const numberOf = (value: number | string | null | undefined): number | null =>
  value === null || value === undefined ? null : Number(value)
