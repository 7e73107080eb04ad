import { z } from 'zod'
import { cutText } from '../../core/room.ts'
import type { Db } from '../../db/schema.ts'
import { highlightsByIds } from '../highlights/highlight-list-store.ts'
import { describeSourceFacts, sourceFacts } from '../sources/describe-sources.ts'
import { namedSources } from '../sources/source-list-store.ts'
import type { ListedNote } from './note-list-store.ts'

/** A note with what it is on. Instants are ISO 8601 in UTC. */
export const fullNote = z.object({
  id: z.int(),
  /** As it was written. */
  body: z.string(),
  /** Only where it is longer than what is shown. */
  body_truncated: z.literal(true).optional(),
  /** `book`: the reader's private note of a book, shown with `library:private` alone. */
  kind: z.enum(['comment', 'book']),
  source_id: z.int(),
  /** The highlight that it is on; null where it is on the source as a whole. */
  highlight_id: z.int().nullable(),
  /** Absent with neither `sources:read` nor `highlights:read`. */
  source: sourceFacts.optional(),
  /** The beginning of the words that it is on; absent without `highlights:read`. */
  highlight_content: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type FullNote = z.output<typeof fullNote>

/** Most bytes of JSON that one note takes: in a list, and alone. */
const LISTED_BODY = 2_000
export const WHOLE_BODY = 24_000
const WORDS = 600

interface Describing {
  may: { sources: boolean; highlights: boolean }
  /** Most bytes of each note. */
  body?: number
}

/** Notes with what they are on, as far as the caller may know of it. */
export async function describeNotes(
  db: Db,
  notes: readonly ListedNote[],
  { may, body: room = LISTED_BODY }: Describing,
): Promise<FullNote[]> {
  const [sources, highlights] = await Promise.all([
    may.sources || may.highlights
      ? namedSources(db, [...new Set(notes.map(({ source_id }) => source_id))])
      : undefined,
    may.highlights
      ? highlightsByIds(db, [...new Set(notes.flatMap((note) => note.highlight_id ?? []))])
      : undefined,
  ])
  return notes.map(({ id, body: written, kind, source_id, highlight_id, created_at, updated_at }) => {
    const body = cutText(written, room)
    const source = sources?.get(source_id)
    const highlight = highlight_id === null ? undefined : highlights?.get(highlight_id)
    return {
      id,
      body,
      ...(body.length < written.length && { body_truncated: true as const }),
      kind,
      source_id,
      highlight_id,
      ...(source && { source: describeSourceFacts(source) }),
      ...(highlight && { highlight_content: cutText(highlight.quote, WORDS) }),
      created_at,
      updated_at,
    }
  })
}
