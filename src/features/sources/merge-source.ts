import type { Change } from '../../core/library.ts'
import { restoreSource } from './trash.ts'
import { findSource, type Source } from './source-store.ts'

/**
 * Joins `from` into `into`: everything that belongs to it moves over, its id resolves to the other for ever, and what it
 * knew that the other did not is kept. Answers with the joined source.
 */
export async function mergeSource(change: Change, from: Source, into: Source): Promise<Source> {
  await restoreSource(change, into)
  for (const table of ['source_url', 'note', 'highlight', 'read', 'text'] as const) {
    const rows = await change.db.selectFrom(table).select('id').where('source_id', '=', from.id).execute()
    for (const { id } of rows) await change.update(table, id, { source_id: into.id })
  }
  const taggings = await change.db
    .selectFrom('tagging')
    .select(['id', 'tag_id'])
    .where('target_id', '=', from.id)
    .execute()
  for (const { id, tag_id } of taggings) {
    const there = await change.db
      .selectFrom('tagging')
      .select('id')
      .where('target_id', '=', into.id)
      .where('tag_id', '=', tag_id)
      .executeTakeFirst()
    if (there) await change.erase('tagging', id)
    else await change.update('tagging', id, { target_id: into.id })
  }
  await change.db
    .updateTable('capture')
    .set({ source_id: into.id })
    .where('source_id', '=', from.id)
    .execute()
  await change.update('source', into.id, {
    url: into.url ?? from.url,
    text_id: into.text_id ?? from.text_id,
    words: into.words ?? from.words,
    updated_at: change.at,
  })
  await change.erase('source', from.id)
  await change.insert('alias', { id: from.id, target_id: into.id })
  return (await findSource(change.db, into.id)) ?? into
}
