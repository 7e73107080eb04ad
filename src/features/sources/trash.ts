import type { Change, Library } from '../../core/library.ts'
import { indexHighlight, indexNote, indexSource } from '../search/index-source.ts'
import { eraseTaggings, isMediaNamed, listHistory, listMedia, listOwned } from './owned-store.ts'
import type { Source } from './source-store.ts'
import { listExpired, listNotesOn } from './trash-store.ts'

/** How long what was thrown away can be taken out again. */
export const TRASH_DAYS = 30
/** A file of media that was put so lately may be wanted by a capture that is about to name it. */
const LATELY_MS = 3_600_000

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

/**
 * Empties the trash of what has lain there for thirty days: sources with all that belongs to them and the media that nothing
 * else names, and single highlights, notes and reads. Each row leaves a tombstone. Answers with how many things went.
 */
export async function purgeTrash(library: Library): Promise<number> {
  const now = library.now().getTime()
  const before = new Date(now - TRASH_DAYS * 86_400_000).toISOString()
  let purged = 0
  for (const id of await listExpired(library.db, 'source', before)) {
    const media = await library.change(async (change) => {
      // Another process may have taken it out again meanwhile.
      if (!(await listExpired(change.db, 'source', before)).includes(id)) return undefined
      const named = await listMedia(change.db, id)
      await eraseSource(change, id)
      return named
    })
    if (!media) continue
    purged++
    for (const hash of media) {
      if (await isMediaNamed(library.db, hash)) continue
      await library.outside.media.remove(hash, { putBefore: new Date(now - LATELY_MS) })
    }
  }
  for (const table of ['note', 'highlight', 'read'] as const) {
    purged += await library.change(async (change) => {
      const ids = await listExpired(change.db, table, before)
      for (const id of ids) {
        if (table === 'note') await eraseNote(change, id)
        else if (table === 'highlight') await eraseHighlight(change, id)
        else await change.erase('read', id)
      }
      return ids.length
    })
  }
  return purged
}

/** Removes a source for ever with all that belongs to it. */
export async function eraseSource(change: Change, sourceId: number): Promise<void> {
  const owned = await listOwned(change.db, sourceId)
  await eraseTaggings(change, [sourceId, ...owned.map(({ id }) => id)])
  for (const { table, id } of owned) await change.erase(table, id)
  await change.erase('source', sourceId)
}

/** With the notes on it and its tags: what the database would let go by itself would leave no tombstones. */
export async function eraseHighlight(change: Change, id: number): Promise<void> {
  for (const noteId of await listNotesOn(change.db, id)) await eraseNote(change, noteId)
  await eraseTaggings(change, [id])
  await eraseHistory(change, id)
  await change.erase('highlight', id)
  await indexHighlight(change, id)
}

/** Removes a note for ever. */
export async function eraseNote(change: Change, id: number): Promise<void> {
  await eraseHistory(change, id)
  await change.erase('note', id)
  await indexNote(change, id)
}

/** What was kept of a highlight or note: its earlier versions, and how it was reviewed. */
async function eraseHistory(change: Change, id: number): Promise<void> {
  for (const { table, id: rowId } of await listHistory(change.db, id)) await change.erase(table, rowId)
}
