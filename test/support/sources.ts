import type { Library } from '../../src/core/library.ts'
import type { SourceKind } from '../../src/db/schema.ts'
import { indexSource } from '../../src/features/search/index-source.ts'
import { matchKey } from '../../src/features/sources/match.ts'
import { addSourceUrl } from '../../src/features/sources/source-store.ts'
import type { Place } from '../../src/features/texts/places.ts'
import { addTextVersion } from '../../src/features/texts/text-store.ts'

export interface SourceFacts {
  title?: string
  kind?: SourceKind
  authors?: string[]
  url?: string
  isbn13?: string
  /** Markdown and plain text at once: for texts without marks. */
  text?: string
  /** Where its pages, chapters or moments begin. */
  places?: readonly Place[]
}

/** A source as capturing would have left it. Gives its id. */
export function addSource(library: Library, facts: SourceFacts = {}): Promise<number> {
  const { title = 'A source', kind = 'article', authors = [], url, isbn13, text, places } = facts
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
      const rest = { html: null, renderer: null, method: 'given', raw: null }
      const marks = { places: places ? JSON.stringify(places) : null }
      const version = { markdown: text, plain: text, words, ...rest, ...marks }
      await addTextVersion(change, { id, text_id: null }, version)
    }
    await indexSource(change, id)
    return id
  })
}
