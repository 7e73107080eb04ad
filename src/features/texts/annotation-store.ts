import { z } from 'zod'
import type { Db } from '../../db/schema.ts'

export const annotationShape = z.object({
  kind: z.enum(['highlight', 'note']),
  id: z.string(),
  /** The highlighted words; absent for a note on the item as a whole. */
  quote: z.string().optional(),
  state: z.enum(['anchored', 'unanchored', 'orphaned']).optional(),
  start: z.number().nullable().optional(),
  comments: z.array(z.string()),
  created: z.string(),
})

export type Annotation = z.output<typeof annotationShape>

/**
 * A source's highlights in the order of its text, each with its comments, then the notes on the whole of it. What the caller
 * may not see is left out, whoever it is that asks.
 */
export async function listAnnotations(
  db: Db,
  sourceId: number,
  may: { highlights: boolean; notes: boolean },
): Promise<Annotation[]> {
  const notes = may.notes
    ? await db
        .selectFrom('note')
        .select(['id', 'highlight_id', 'body', 'created_at'])
        .where('source_id', '=', sourceId)
        .where('kind', '=', 'comment')
        .where('trashed_at', 'is', null)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
    : []
  const highlights = may.highlights
    ? await db
        .selectFrom('highlight')
        .select(['id', 'quote', 'state', 'start_offset', 'created_at'])
        .where('source_id', '=', sourceId)
        .where('trashed_at', 'is', null)
        .orderBy((order) => order.fn.coalesce('start_offset', order.lit(Number.MAX_SAFE_INTEGER)))
        .orderBy('created_at')
        .orderBy('id')
        .execute()
    : []
  return [
    ...highlights.map((highlight) => ({
      kind: 'highlight' as const,
      id: String(highlight.id),
      quote: highlight.quote,
      state: highlight.state,
      start: highlight.start_offset,
      comments: notes.filter((note) => note.highlight_id === highlight.id).map((note) => note.body),
      created: highlight.created_at,
    })),
    ...notes
      .filter((note) => note.highlight_id === null)
      .map((note) => ({
        kind: 'note' as const,
        id: String(note.id),
        comments: [note.body],
        created: note.created_at,
      })),
  ]
}
