import type { Change } from '../../core/library.ts'
import { languageTag } from '../capture/language-tag.ts'
import { indexSource } from '../search/index-source.ts'
import { findMatch, matchKey } from '../sources/match.ts'
import { restoreSource } from '../sources/trash.ts'
import { addBatch, beginImport, completeImport, findImport, type Import } from './import-store.ts'

/**
 * Brings a book into the library by its title and author; one that is there, in the trash included, is taken for it. The import is
 * complete at once and costs nothing.
 */
export async function addBook(
  change: Change,
  given: { title: string; author: string; language?: string | undefined },
): Promise<{ own: Import; created: boolean }> {
  const title = given.title.trim()
  const authors = [given.author.trim()]
  const language = languageTag(given.language)
  const known = await findMatch(change.db, { title, authors })
  if (known) await restoreSource(change, known)
  if (known?.language === null && language !== null)
    await change.update('source', known.id, { language, updated_at: change.at })
  const created = known === undefined
  const sourceId =
    known?.id ??
    (await change.insert('source', {
      kind: 'book',
      title,
      match_key: matchKey(title, authors),
      authors: JSON.stringify(authors),
      language,
      created_at: change.at,
      updated_at: change.at,
    }))
  if (created) await indexSource(change, sourceId)
  const id = await beginImport(change, { kind: 'book', source_id: sourceId })
  if (created) await addBatch(change, id, [['source', sourceId]])
  await completeImport(change, id, { counts: { sources: created ? 1 : 0, unchanged: created ? 0 : 1 } })
  return { own: await findImport(change.db, id), created }
}
