import type { Row } from '../../db/changes.ts'
import type { Db } from '../../db/schema.ts'

/** The read that says where the reader stands: the latest that is not in the trash. Ids of two replicas tell no order. */
export function currentRead(db: Db, sourceId: number): Promise<Row<'read'> | undefined> {
  return db
    .selectFrom('read')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where('trashed_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst()
}
