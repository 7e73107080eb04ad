import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import type { Library } from '../../../core/library.ts'
import { openCursor, sealCursor } from '../../../core/paging.ts'
import { text } from '../../../core/text.ts'
import { authorsOf } from '../../sources/source-store.ts'
import { describeHits, type DescribedHit } from '../describe-hits.ts'
import { freezeRanking, frozenRanking } from '../frozen-ranking.ts'
import { parseQuery, type Query } from '../query.ts'
import { MOST_HITS, SEARCH_MODES, searchItems, type Hit, type SearchRequest } from '../search.ts'

const cursorShape = z.object({
  /** The frozen list, where there is one. */
  list: z.string().optional(),
  /** Place in it after the last result of the page before. */
  at: z.number(),
  /** How the list was searched. */
  mode: z.enum(SEARCH_MODES),
  /** Score and source of that result, for a list that has to be made again. */
  score: z.number(),
  id: z.number(),
})

export const searchLibrary = defineTool({
  name: 'search_library',
  family: 'library',
  title: 'Search the library',
  description:
    'Finds what the reader has saved by its words and by its meaning at once: titles, texts, highlights and notes. ' +
    'Ask in plain words. Exact wording goes in "quotes", -word leaves out, wor* is a beginning; ' +
    'type:pdf, tag:name, author:name, in:title (text, highlights, notes, or an id), before:2024-05, after:2023 and ' +
    'is:unread (reading, read, highlighted, noted) narrow it. ' +
    'Each result is one item with its best passage; marks are start and end of the matched words in snippet. ' +
    'Read on with read_item and its id. When the embedding model is not there it searches by words and meta.note says so.',
  input: z.strictObject({
    query: text({ max: 4_096 }).describe('What to look for'),
    limit: z.int().min(1).max(50).describe('How many results to give (10 unless said)').optional(),
    mode: z
      .enum(SEARCH_MODES)
      .describe('hybrid unless said; words for exact terms only, meaning for paraphrases only')
      .optional(),
    cursor: z.string().describe('nextCursor of the page before, with the same query and mode').optional(),
  }),
  output: z.object({
    results: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        kind: z.enum(['book', 'article', 'pdf', 'video', 'podcast']),
        authors: z.array(z.string()),
        url: z.string().nullable(),
        saved: z.string(),
        published: z.string().nullable(),
        snippet: z.string(),
        /** Start and end. No tuple: the validators of older clients read its schema as refusing all that is in it. */
        marks: z.array(z.array(z.number()).length(2)),
        matched: z.enum(['words', 'meaning', 'both']),
        score: z.number(),
        highlightId: z.string().optional(),
      }),
    ),
    meta: z.object({
      mode: z.enum(SEARCH_MODES),
      note: z.string().optional(),
      total: z.number().optional(),
      truncated: z.boolean().optional(),
      next_cursor: z.string().nullable(),
    }),
    nextCursor: z.string().nullable(),
  }),
  scopes: ['sources:read', 'highlights:read'],
  effect: 'read',
  summary: ({ results, meta }) =>
    [
      results.length === 0 ? 'Nothing found.' : `${results.length} of ${meta.total ?? results.length} found.`,
      meta.note,
    ]
      .filter(Boolean)
      .join(' '),
  async run(library, { query, limit = 10, mode, cursor }, call) {
    const request: SearchRequest = { query, mode, scopes: call.scopes, signal: call.signal }
    const filter = JSON.stringify(['search_library', query, mode ?? 'hybrid', call.scopes.has('notes:read')])
    const list = await openList(library, request, filter, cursor)
    const { page, next } = await takePage(library, list, limit)
    const last = page.at(-1)
    let nextCursor: string | null = null
    if (next < list.hits.length && last) {
      const frozen = list.frozen ?? (await freezeRanking(library, filter, list.hits))
      const { mode } = list
      const position = {
        at: next,
        mode,
        score: last.score,
        id: last.sourceId,
        ...(frozen && { list: frozen }),
      }
      nextCursor = await sealCursor(library, filter, position)
    }
    return {
      results: page.map(toResult),
      meta: {
        mode: list.mode,
        ...(list.note !== undefined && { note: list.note }),
        total: list.hits.length,
        ...((list.truncated || list.hits.length === MOST_HITS) && { truncated: true }),
        next_cursor: nextCursor,
      },
      nextCursor,
    }
  },
})

interface List {
  hits: Hit[]
  query: Query
  /** Where this page begins. */
  from: number
  mode: (typeof SEARCH_MODES)[number]
  note?: string
  truncated: boolean
  frozen?: string
}

/** The list that a cursor belongs to as it was, or made again; without a cursor, a new one. */
async function openList(
  library: Library,
  request: SearchRequest,
  filter: string,
  cursor: string | undefined,
): Promise<List> {
  const position =
    cursor === undefined ? undefined : cursorShape.parse(await openCursor(library, filter, cursor))
  const kept = position?.list && (await frozenRanking(library, filter, position.list))
  if (kept) {
    const { mode } = position
    const query = parseQuery(request.query)
    return { hits: kept, query, from: position.at, mode, truncated: false, frozen: position.list! }
  }
  const found = await searchItems(library, request)
  return { ...found, from: position ? placeAfter(found.hits, position) : 0 }
}

/** Where a list that was made again goes on: after the same result, or after its score where it is gone. */
function placeAfter(hits: readonly Hit[], { id, score }: { id: number; score: number }): number {
  const same = hits.findIndex(({ sourceId }) => sourceId === id)
  if (same >= 0) return same + 1
  const lower = hits.findIndex((hit) => hit.score < score)
  return lower >= 0 ? lower : hits.length
}

/** As many results as asked for, passing over what has gone since; and where the next page begins. */
async function takePage(
  library: Library,
  { hits, query, from }: List,
  limit: number,
): Promise<{ page: DescribedHit[]; next: number }> {
  const page: DescribedHit[] = []
  let next = from
  while (page.length < limit && next < hits.length) {
    const some = hits.slice(next, next + limit - page.length)
    page.push(...(await describeHits(library, some, query)))
    next += some.length
  }
  return { page, next }
}

const toResult = ({ source, snippet, score, matched, highlightId }: DescribedHit) => ({
  id: String(source.id),
  title: source.title,
  kind: source.kind,
  authors: authorsOf(source),
  url: source.url,
  saved: source.created_at,
  published: source.published,
  snippet: snippet.text,
  marks: snippet.marks,
  matched,
  score: Math.round(score * 10_000) / 10_000,
  ...(highlightId !== undefined && { highlightId: String(highlightId) }),
})
