import type { Change, Library } from '../../core/library.ts'
import type { Db, SyncedTable } from '../../db/schema.ts'
import { indexSource } from '../search/index-source.ts'
import type { Source } from './source-store.ts'

/** How long what was thrown away can be taken out again. */
export const TRASH_DAYS = 30

/** Moves a source with all that belongs to it out of sight; nothing is lost for thirty days. */
export async function trashSource(change: Change, source: Pick<Source, 'id' | 'trashed_at'>): Promise<void> {
  if (source.trashed_at !== null) return
  await change.update('source', source.id, { trashed_at: change.at, updated_at: change.at })
  await indexSource(change, source.id)
}

/** Takes a source out of the trash as it was. */
export async function restoreSource(
  change: Change,
  source: Pick<Source, 'id' | 'trashed_at'>,
): Promise<void> {
  if (source.trashed_at === null) return
  await change.update('source', source.id, { trashed_at: null, updated_at: change.at })
  await indexSource(change, source.id)
}

/** What lies in the trash, last thrown away first. */
export function listTrash(db: Db): Promise<Source[]> {
  return db
    .selectFrom('source')
    .selectAll()
    .where('trashed_at', 'is not', null)
    .orderBy('trashed_at', 'desc')
    .execute()
}

const OWNED: readonly Extract<SyncedTable, 'note' | 'highlight' | 'read' | 'text' | 'source_url'>[] = [
  'note',
  'highlight',
  'read',
  'text',
  'source_url',
]

/** Removes a source and everything that belongs to it for ever, leaving a tombstone for each row. */
export async function eraseSource(change: Change, sourceId: number): Promise<void> {
  const owned: { table: SyncedTable; id: number }[] = []
  for (const table of OWNED) {
    const rows = await change.db.selectFrom(table).select('id').where('source_id', '=', sourceId).execute()
    owned.push(...rows.map(({ id }) => ({ table, id })))
  }
  const targets = [sourceId, ...owned.map(({ id }) => id)]
  for (let from = 0; from < targets.length; from += 500) {
    const taggings = await change.db
      .selectFrom('tagging')
      .select('id')
      .where('target_id', 'in', targets.slice(from, from + 500))
      .execute()
    for (const { id } of taggings) await change.erase('tagging', id)
  }
  for (const { table, id } of owned) await change.erase(table, id)
  await change.erase('source', sourceId)
}

/** Empties the trash of what has lain there for thirty days: sources, and single highlights, notes and reads. */
export async function purgeTrash(library: Library): Promise<number> {
  const before = new Date(library.now().getTime() - TRASH_DAYS * 86_400_000).toISOString()
  let purged = 0
  const expired = await library.db
    .selectFrom('source')
    .select('id')
    .where('trashed_at', '<', before)
    .execute()
  for (const { id } of expired) {
    await library.change(async (change) => {
      await eraseSource(change, id)
    })
    purged++
  }
  for (const table of ['note', 'highlight', 'read'] as const) {
    const rows = await library.db.selectFrom(table).select('id').where('trashed_at', '<', before).execute()
    if (rows.length === 0) continue
    await library.change(async (change) => {
      for (const { id } of rows) await change.erase(table, id)
    })
    purged += rows.length
  }
  return purged
}
