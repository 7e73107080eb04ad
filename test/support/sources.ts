import type { Library } from '../../src/core/library.ts'
import type { SourceKind } from '../../src/db/schema.ts'
import { indexSource } from '../../src/features/search/index-source.ts'
import { matchKey } from '../../src/features/sources/match.ts'
import { addSourceUrl } from '../../src/features/sources/source-store.ts'
import { addTextVersion } from '../../src/features/texts/text-store.ts'

export interface SourceFacts {
  title?: string
  kind?: SourceKind
  authors?: string[]
  url?: string
  isbn13?: string
  /** Markdown and plain text at once: for texts without marks. */
  text?: string
}

/** A source as capturing would have left it. Gives its id. */
export function addSource(library: Library, facts: SourceFacts = {}): Promise<number> {
  const { title = 'A source', kind = 'article', authors = [], url, isbn13, text } = facts
  return library.change(async (change) => {
    const id = await change.insert('source', {
      kind,
      title,
      authors: JSON.stringify(authors),
      match_key: matchKey(title, authors),
      url: url ?? null,
      isbn13: isbn13 ?? null,
      created_at: change.at,
      updated_at: change.at,
    })
    if (url !== undefined) await addSourceUrl(change, id, url)
    if (text !== undefined) {
      const words = text.split(/\s+/).length
      const rest = { html: null, renderer: null, method: 'given', places: null, raw: null }
      await addTextVersion(change, { id, text_id: null }, { markdown: text, plain: text, words, ...rest })
    }
    await indexSource(change, id)
    return id
  })
}
