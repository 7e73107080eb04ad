import type { Library } from '../../src/core/library.ts'
import type { SourceKind } from '../../src/db/schema.ts'
import { indexSource } from '../../src/features/search/index-source.ts'

export interface TestSource {
  title: string
  kind?: SourceKind
  authors?: string[]
  site?: string
  url?: string
  description?: string
  text?: string
  highlights?: string[]
  comments?: string[]
  /** The reader's private notes of a book. */
  bookNotes?: string[]
  tags?: string[]
  status?: 'want_to_read' | 'reading' | 'paused' | 'finished' | 'did_not_finish'
  saved?: string
}

/** Puts a source with all that belongs to it into a library and makes it searchable. Answers with its id. */
export function addTestSource(library: Library, given: TestSource): Promise<number> {
  return library.change(async (change) => {
    const times = { created_at: given.saved ?? change.at, updated_at: given.saved ?? change.at }
    const source = await change.insert('source', {
      kind: given.kind ?? 'article',
      title: given.title,
      match_key: given.title.toLowerCase(),
      authors: JSON.stringify(given.authors ?? []),
      site: given.site,
      url: given.url,
      description: given.description,
      ...times,
    })
    if (given.text !== undefined) {
      const text = await change.insert('text', {
        source_id: source,
        markdown: given.text,
        plain: given.text,
        method: 'given',
        hash: '',
        words: given.text.split(/\s+/).length,
        captured_at: change.at,
        state: 'good',
      })
      await change.update('source', source, { text_id: text })
    }
    for (const quote of given.highlights ?? []) {
      await change.insert('highlight', {
        source_id: source,
        quote,
        state: 'unanchored',
        origin: 'reader',
        ...times,
      })
    }
    const notes = [
      ...(given.comments ?? []).map((body) => ({ kind: 'comment' as const, body })),
      ...(given.bookNotes ?? []).map((body) => ({ kind: 'book' as const, body })),
    ]
    for (const note of notes) await change.insert('note', { source_id: source, ...note, ...times })
    for (const name of given.tags ?? []) {
      const known = await change.db
        .selectFrom('tag')
        .select('id')
        .where('name_key', '=', name.toLowerCase())
        .executeTakeFirst()
      const tag = known?.id ?? (await change.insert('tag', { name, name_key: name.toLowerCase() }))
      await change.insert('tagging', { tag_id: tag, target_id: source })
    }
    if (given.status) await change.insert('read', { source_id: source, status: given.status, ...times })
    await indexSource(change, source)
    return source
  })
}
