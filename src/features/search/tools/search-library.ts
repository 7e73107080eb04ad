import { z } from 'zod'
import { cutText } from '../../../core/room.ts'
import { defineTool } from '../../../core/define-tool.ts'
import { text } from '../../../core/text.ts'
import { shownNames, shownTitle, wholeAddress } from '../../sources/describe-sources.ts'
import { authorsOf } from '../../sources/source-store.ts'
import { describeHits, type DescribedHit } from '../describe-hits.ts'
import { openRanking, takeRankedPage } from '../ranked-pages.ts'
import { SEARCH_MODES, searchItems, type SearchRequest } from '../search.ts'

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
        /** Page, chapter or moment of the snippet, where the item has any. */
        place: z.string().optional(),
        /** Of a moment. */
        seconds: z.number().optional(),
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
    const list = await openRanking(library, { filter, query, cursor }, () => searchItems(library, request))
    const { page, nextCursor } = await takeRankedPage(library, filter, list, limit, async (hits) => {
      const described = await describeHits(library, hits, list.query)
      const bySource = new Map(described.map((hit) => [hit.sourceId, toResult(hit)]))
      return hits.map(({ sourceId }) => bySource.get(sourceId))
    })
    return {
      results: page,
      meta: {
        mode: list.mode,
        ...(list.note !== undefined && { note: list.note }),
        total: list.hits.length,
        ...(list.truncated && { truncated: true }),
        next_cursor: nextCursor,
      },
      nextCursor,
    }
  },
})

const toResult = ({ source, snippet, score, matched, highlightId, place }: DescribedHit) => ({
  id: String(source.id),
  title: shownTitle(source.title),
  kind: source.kind,
  authors: shownNames(authorsOf(source)),
  url: wholeAddress(source.url),
  saved: source.created_at,
  published: source.published,
  snippet: snippet.text,
  marks: snippet.marks,
  matched,
  score: Math.round(score * 10_000) / 10_000,
  ...(highlightId !== undefined && { highlightId: String(highlightId) }),
  ...(place && { place: cutText(place.name, PLACE_NAME) }),
  ...(place?.seconds !== undefined && { seconds: place.seconds }),
})

/** Bytes of JSON: titles of chapters can be sentences. */
const PLACE_NAME = 80
