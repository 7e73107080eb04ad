import { sql } from 'kysely'
import type { Db } from '../../db/schema.ts'

/**
 * Bytes of all texts of a library in all their versions and forms. Neither database reads the texts for it: their sizes stand
 * beside them.
 */
export async function textBytes(db: Db): Promise<number> {
  const { bytes } = await db
    .selectFrom('text')
    .select(
      sql<
        number | string | null
      >`sum(octet_length(markdown) + octet_length(plain) + coalesce(octet_length(html), 0))`.as('bytes'),
    )
    .executeTakeFirstOrThrow()
  return Number(bytes ?? 0)
}
