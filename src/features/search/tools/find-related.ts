import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { Failure } from '../../../core/failure.ts'
import { idNumber } from '../../../core/ids.ts'
import { ROOM, takeFitting } from '../../../core/room.ts'
import { describeHighlights, fullHighlight } from '../../highlights/describe-highlights.ts'
import { findHighlight, listedByIds } from '../../highlights/highlight-list-store.ts'
import { sourceAsGiven } from '../../sources/source-store.ts'
import { findRelatedHighlights, type RelatedTo } from '../find-related-highlights.ts'
import type { Library } from '../../../core/library.ts'

/** Bytes of JSON around the highlights. */
const ENVELOPE = 400

export const findRelated = defineTool({
  name: 'find_related',
  family: 'extras',
  title: 'Find related highlights',
  description:
    'Highlights of other sources that are nearest in meaning to a highlight, or to a whole source by what was marked in it. ' +
    'Use it to connect what the reader read: what agrees, what disagrees, where the same thought comes up again. Give ' +
    'highlight_id or source_id, one of them; to look for words or a question of your own use search_highlights. Nearest ' +
    'first, with scores; meta.mode says whether meaning or words were compared, and meta.note why if words.',
  input: z.strictObject({
    highlight_id: idNumber('Highlight id, from search_highlights or get_source').optional(),
    source_id: idNumber('Source id, from list_sources, for the source as a whole').optional(),
    include_same_source: z
      .boolean()
      .describe('Whether other highlights of the same source count too (false unless said)')
      .optional(),
    limit: z.int().min(1).max(50).describe('How many highlights to give (10 unless said)').optional(),
  }),
  output: z.object({
    highlights: z.array(
      fullHighlight.extend({
        /** Comparable within one answer; of meaning, the cosine. */
        score: z.number(),
      }),
    ),
    meta: z.object({
      mode: z.enum(['semantic', 'fulltext']),
      note: z.string().optional(),
      /** There are more than are given. */
      truncated: z.boolean(),
    }),
  }),
  scopes: ['highlights:read'],
  scopesFor: ({ source_id }) => (source_id === undefined ? [] : ['sources:read']),
  effect: 'read',
  summary: ({ highlights, meta }) =>
    [
      highlights.length === 0 ? 'Nothing related was found.' : `${highlights.length} related found.`,
      meta.note,
    ]
      .filter(Boolean)
      .join(' '),
  async run(library, { highlight_id, source_id, include_same_source = false, limit = 10 }, { scopes }) {
    const to = await given(library, highlight_id, source_id)
    // Of a source all its highlights are what is asked about.
    const ownSource = include_same_source && to.highlightId !== undefined
    const { hits, mode, note } = await findRelatedHighlights(library, { ...to, ownSource })
    const wanted = hits.slice(0, limit)
    const rows = await listedByIds(
      library.db,
      wanted.map(({ highlightId }) => highlightId),
    )
    const scores = new Map(wanted.map(({ highlightId, score }) => [highlightId, score]))
    const described = await describeHighlights(
      library.db,
      wanted.flatMap(({ highlightId }) => rows.get(highlightId) ?? []),
      { may: { notes: scopes.has('notes:read') } },
    )
    const highlights = takeFitting(
      described.map((highlight) => ({
        ...highlight,
        score: Math.round((scores.get(highlight.id) ?? 0) * 10_000) / 10_000,
      })),
      ROOM - ENVELOPE,
    )
    const truncated = highlights.length < described.length || hits.length > limit
    return { highlights, meta: { mode, ...(note !== undefined && { note }), truncated } }
  },
})

async function given(
  { db }: Library,
  highlightId: number | undefined,
  sourceId: number | undefined,
): Promise<Omit<RelatedTo, 'ownSource'>> {
  if (highlightId !== undefined && sourceId === undefined) {
    const highlight = await findHighlight(db, highlightId)
    if (highlight) return { sourceId: highlight.source_id, highlightId: highlight.id }
    throw new Failure('highlight_not_found', `There is no highlight ${highlightId}.`, {
      hint: 'It may have been thrown away. Take an id from search_highlights or get_source.',
    })
  }
  if (sourceId !== undefined && highlightId === undefined) {
    const { id } = await sourceAsGiven(db, sourceId, 'Take an id from list_sources.')
    return { sourceId: id }
  }
  throw new Failure('invalid_input', 'highlight_id, source_id: one of them is needed.', {
    hint: 'Give either highlight_id or source_id, and not both.',
    details: { field: 'highlight_id' },
  })
}
