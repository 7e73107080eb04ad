import type { Change } from '../../core/library.ts'
import { languageTag } from '../capture/language-tag.ts'
import { indexSource } from '../search/index-source.ts'
import { ensureSource } from '../sources/ensure-source.ts'
import { addBatch, beginImport, completeImport, findImport, type Import } from './import-store.ts'

/**
 * Brings a book into the library by its title and author; one that is there, in the trash included, is taken for it. The import is
 * complete at once and costs nothing.
 */
export async function addBook(
  change: Change,
  given: { title: string; author: string; language?: string | undefined },
): Promise<{ own: Import; created: boolean }> {
  const { source, created } = await ensureSource(change, {
    kind: 'book',
    title: given.title.trim(),
    authors: [given.author.trim()],
    language: languageTag(given.language) ?? undefined,
  })
  const sourceId = source.id
  if (created) await indexSource(change, sourceId)
  const id = await beginImport(change, { kind: 'book', source_id: sourceId })
  if (created) await addBatch(change, id, [['source', sourceId]])
  await completeImport(change, id, { counts: { sources: created ? 1 : 0, unchanged: created ? 0 : 1 } })
  return { own: await findImport(change.db, id), created }
}
