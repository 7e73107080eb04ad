import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { idNumber } from '../../../core/ids.ts'
import type { Library } from '../../../core/library.ts'
import { text } from '../../../core/text.ts'
import { describeHighlights, fullHighlight } from '../../highlights/describe-highlights.ts'
import { listedByIds } from '../../highlights/highlight-list-store.ts'
import { sourceAsGiven } from '../../sources/source-store.ts'
import { openRanking, takeRankedPage } from '../ranked-pages.ts'
import { searchHighlights as search, type Hit, type SearchMode } from '../search.ts'

const MODES = ['fulltext', 'semantic', 'hybrid'] as const
type Mode = (typeof MODES)[number]

const SEARCHED: Readonly<Record<Mode, SearchMode>> = {
  fulltext: 'words',
  semantic: 'meaning',
  hybrid: 'hybrid',
}
const NAMED: Readonly<Record<SearchMode, Mode>> = { words: 'fulltext', meaning: 'semantic', hybrid: 'hybrid' }

const foundHighlight = fullHighlight.extend({
  /** Comparable within one search. */
  score: z.number(),
  matched: z.enum(['words', 'meaning', 'both']),
})

export const searchHighlights = defineTool({
  name: 'search_highlights',
  family: 'highlights',
  title: 'Search highlights',
  description:
    'Finds passages that the reader marked, by their words and by their meaning; where notes may be read, by the notes on them ' +
    'too. Use it for what the reader found worth keeping, and search_library to look through whole texts. Ask in plain ' +
    'words; "quotes" demand exact wording, -word leaves out, tag:name and author:name narrow it. Each result is one ' +
    'highlight with its place, its source, tags and number of notes. meta.mode says how it was searched and meta.note why ' +
    'if not as asked; meta.next_cursor gives the next page, null at the end.',
  input: z.strictObject({
    query: text({ max: 4_096 }).describe('What to look for'),
    mode: z
      .enum(MODES)
      .describe('hybrid unless said; fulltext for exact words only, semantic for the meaning only')
      .optional(),
    source_id: idNumber('Only highlights of this source').optional(),
    limit: z.int().min(1).max(50).describe('How many highlights to give (10 unless said)').optional(),
    cursor: z
      .string()
      .describe('meta.next_cursor of the page before, with the same query, mode and source_id')
      .optional(),
  }),
  output: z.object({
    highlights: z.array(foundHighlight),
    meta: z.object({
      mode: z.enum(MODES),
      note: z.string().optional(),
      /** How many were found, at most 1,000. */
      total: z.int(),
      /** There may be more than were found. */
      truncated: z.boolean(),
      next_cursor: z.string().nullable(),
    }),
    nextCursor: z.string().nullable(),
  }),
  scopes: ['highlights:read'],
  effect: 'read',
  summary: ({ highlights, meta }) =>
    [
      highlights.length === 0 ? 'No highlight found.' : `${highlights.length} of ${meta.total} found.`,
      meta.note,
    ]
      .filter(Boolean)
      .join(' '),
  async run(library, { query, mode = 'hybrid', source_id, limit = 10, cursor }, { scopes, signal }) {
    const sourceId =
      source_id === undefined
        ? undefined
        : (
            await sourceAsGiven(
              library.db,
              source_id,
              'Take an id from list_sources, or leave source_id out.',
            )
          ).id
    const may = { notes: scopes.has('notes:read') }
    const filter = JSON.stringify(['search_highlights', query, mode, sourceId, may.notes])
    const list = await openRanking(library, { filter, query, cursor }, () =>
      search(library, { query, mode: SEARCHED[mode], sourceId, scopes, signal }),
    )
    const { page, nextCursor } = await takeRankedPage(library, filter, list, limit, (hits) =>
      describeFound(library, hits, may),
    )
    return {
      highlights: page,
      meta: {
        mode: NAMED[list.mode],
        ...(list.note !== undefined && { note: list.note }),
        total: list.hits.length,
        truncated: list.truncated,
        next_cursor: nextCursor,
      },
      nextCursor,
    }
  },
})

/** Undefined for what has gone since it was found. */
async function describeFound(
  { db }: Library,
  hits: readonly Hit[],
  may: { notes: boolean },
): Promise<(z.output<typeof foundHighlight> | undefined)[]> {
  const rows = await listedByIds(
    db,
    hits.flatMap(({ highlightId }) => highlightId ?? []),
  )
  const described = await describeHighlights(db, [...rows.values()], { may })
  const byId = new Map(described.map((highlight) => [highlight.id, highlight]))
  return hits.map(({ highlightId, score, matched }) => {
    const highlight = byId.get(highlightId ?? 0)
    return highlight && { ...highlight, score: Math.round(score * 10_000) / 10_000, matched }
  })
}
