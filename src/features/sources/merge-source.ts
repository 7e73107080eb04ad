import type { Change } from '../../core/library.ts'
import { matchKey } from './match.ts'
import { listOwned, moveCaptures, moveImports, moveTaggings } from './owned-store.ts'
import { restoreSource } from './trash.ts'
import { authorsOf, findSource, isbnsOf, type Source } from './source-store.ts'

/**
 * Joins `from` into `into`: everything that belongs to it moves over, its id resolves to the other for ever, and what it
 * knew that the other did not is kept. Answers with the joined source. Anchors and search are told by the caller.
 */
export async function mergeSource(change: Change, from: Source, into: Source): Promise<Source> {
  await restoreSource(change, into)
  for (const { table, id } of await listOwned(change.db, from.id)) {
    await change.update(table, id, { source_id: into.id })
  }
  await moveTaggings(change, from.id, into.id)
  await moveCaptures(change, from.id, into.id)
  await moveImports(change, from.id, into.id)
  await change.update('source', into.id, { ...joined(from, into), updated_at: change.at })
  await change.erase('source', from.id)
  await change.insert('alias', { id: from.id, target_id: into.id })
  return (await findSource(change.db, into.id)) ?? into
}

/** What is known of either; where both know something, that of `into`. */
function joined(from: Source, into: Source): Partial<Source> {
  const reads = into.text_id === null ? from : into
  const authors = authorsOf(into).length > 0 ? authorsOf(into) : authorsOf(from)
  const [isbn13 = null, ...isbns] = new Set([...isbnsOf(into), ...isbnsOf(from)])
  return {
    kind: reads.kind,
    text_id: reads.text_id,
    words: reads.words,
    authors: JSON.stringify(authors),
    match_key: matchKey(into.title, authors),
    language: into.language ?? from.language,
    site: into.site ?? from.site,
    published: into.published ?? from.published,
    description: into.description ?? from.description,
    publisher: into.publisher ?? from.publisher,
    url: into.url ?? from.url,
    isbn13,
    isbns: JSON.stringify(isbns),
    cover: into.cover ?? from.cover,
  }
}
