import type { Db } from '../../db/schema.ts'

/** How many sources a library has, the trash not counted. */
export async function countSources(db: Db): Promise<number> {
  const { sources } = await db
    .selectFrom('source')
    .select(({ fn }) => fn.countAll<number | string>().as('sources'))
    .where('trashed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(sources)
}
