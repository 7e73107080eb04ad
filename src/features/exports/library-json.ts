import type { Db } from '../../db/schema.ts'
import { authorsOf, isbnsOf, tagsOf } from '../sources/source-store.ts'
import { inReadingOrder } from './reading-order.ts'
import {
  allHighlights,
  commentsOn,
  notesForJson,
  sourceForMarkdown,
  sourcesForMarkdown,
} from './source-markdown-store.ts'

const SOURCES = 100

/**
 * A library as one JSON document, in pieces that follow one another: its sources with their tags and notes, and their highlights
 * in reading order with theirs (docs/exporting.md has every field). One source is in memory at a time. With `only`, that one.
 */
export async function* writeLibraryJson(
  db: Db,
  { at, only, onSource }: { at: Date; only?: number | undefined; onSource?: () => void },
): AsyncGenerator<string> {
  yield `{"format":"commonplace-json","version":1,"exportedAt":${JSON.stringify(at.toISOString())},"sources":[`
  let isFirst = true
  for (let last = 0; ;) {
    const ids =
      only === undefined ? await sourcesForMarkdown(db, last, { all: true, limit: SOURCES }) : [only]
    for (const id of ids) {
      const source = await sourceJson(db, id)
      if (!source) continue
      yield `${isFirst ? '' : ','}\n${JSON.stringify(source)}`
      isFirst = false
      onSource?.()
    }
    if (only !== undefined || ids.length === 0) break
    last = ids.at(-1)!
  }
  yield '\n]}\n'
}

async function sourceJson(db: Db, id: number): Promise<object | undefined> {
  const source = await sourceForMarkdown(db, id)
  if (!source) return undefined
  const highlights = inReadingOrder(await allHighlights(db, id))
  const comments = new Map<number | null, string[]>()
  for (const { highlight_id, body } of await commentsOn(db, id))
    comments.set(highlight_id, [...(comments.get(highlight_id) ?? []), body])
  const tags = await tagsOf(db, [id, ...highlights.map((highlight) => highlight.id)])
  return {
    id,
    type: source.kind,
    title: source.title,
    authors: authorsOf(source),
    url: source.url,
    site: source.site,
    published: source.published,
    publisher: source.publisher,
    language: source.language,
    isbns: isbnsOf(source),
    description: source.description,
    savedAt: source.created_at,
    tags: tags.get(id) ?? [],
    notes: await notesForJson(db, id),
    highlights: highlights.map(({ id: highlightId, quote, state, locator, color, written, created_at }) => ({
      id: highlightId,
      quote,
      state,
      locator: locator === null ? null : (JSON.parse(locator) as unknown),
      color,
      highlightedAt: written ?? created_at,
      tags: tags.get(highlightId) ?? [],
      notes: comments.get(highlightId) ?? [],
    })),
  }
}
