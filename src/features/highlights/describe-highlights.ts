import { z } from 'zod'
import { cutText } from '../../core/room.ts'
import type { Db } from '../../db/schema.ts'
import { describeSourceFacts, shownTags, sourceFacts } from '../sources/describe-sources.ts'
import { namedSources } from '../sources/source-list-store.ts'
import { tagsOf } from '../sources/source-store.ts'
import { addressOfMoment } from '../sources/youtube-address.ts'
import { countNotes, type ListedHighlight } from './highlight-list-store.ts'
import { placeInSource } from './place-in-source.ts'

/** A highlight among the others of its source. Instants are ISO 8601 in UTC. */
export const highlightEntry = z.object({
  id: z.int(),
  /** The words, verbatim. */
  content: z.string(),
  /** Only where they are longer than what is shown. */
  content_truncated: z.literal(true).optional(),
  /** `page 12`, `location 1234`, `45 %`, or a label. */
  location: z.string().nullable(),
  /** Of audio and video. */
  timestamp_seconds: z.number().nullable(),
  color: z.string().nullable(),
  /** `orphaned`: the text changed and the words are gone from it; `unanchored`: there is no text to find them in. */
  state: z.enum(['anchored', 'unanchored', 'orphaned']),
  tags: z.array(z.string()),
  /** Notes on it; absent without `notes:read`. */
  note_count: z.int().optional(),
  created_at: z.string(),
  /** It was imported and nobody knows when it was made: `created_at` is when it came in. */
  undated: z.literal(true).optional(),
  updated_at: z.string(),
})
export type HighlightEntry = z.output<typeof highlightEntry>

/** A highlight by itself, with the source that it stands in. */
export const fullHighlight = highlightEntry.extend({
  source: sourceFacts,
  /** Where the recording can be heard from there on. */
  timestamp_url: z.string().optional(),
})
export type FullHighlight = z.output<typeof fullHighlight>

/** Most bytes of JSON that the words of one highlight take: in a list, and alone. */
const LISTED_WORDS = 2_000
export const ALL_WORDS = 24_000

const WORD = 200

interface Describing {
  may: { notes: boolean }
  /** Most bytes of each highlight's words; `LISTED_WORDS` unless said. */
  words?: number
}

/** Highlights with what belongs to them, as far as the caller may know of it. */
export async function describeEntries(
  db: Db,
  highlights: readonly ListedHighlight[],
  { may, words = LISTED_WORDS }: Describing,
): Promise<HighlightEntry[]> {
  const ids = highlights.map(({ id }) => id)
  const [tags, notes] = await Promise.all([tagsOf(db, ids), may.notes ? countNotes(db, ids) : undefined])
  return highlights.map(({ id, quote, locator, color, state, written, created_at, updated_at }) => {
    const content = cutText(quote, words)
    const { location, seconds } = placeInSource(locator)
    return {
      id,
      content,
      ...(content.length < quote.length && { content_truncated: true as const }),
      location: location && cutText(location, WORD),
      timestamp_seconds: seconds,
      color: color && cutText(color, WORD),
      state,
      tags: shownTags(tags.get(id)),
      ...(notes && { note_count: notes.get(id) ?? 0 }),
      created_at,
      ...(written === '' && { undated: true as const }),
      updated_at,
    }
  })
}

/** The same with the source of each. */
export async function describeHighlights(
  db: Db,
  highlights: readonly ListedHighlight[],
  describing: Describing,
): Promise<FullHighlight[]> {
  const [entries, sources] = await Promise.all([
    describeEntries(db, highlights, describing),
    namedSources(db, [...new Set(highlights.map(({ source_id }) => source_id))]),
  ])
  return entries.flatMap((entry, index) => {
    const source = sources.get(highlights[index]!.source_id)
    // Gone between one question and the next.
    if (!source) return []
    const link = addressOfMoment(source.url, entry.timestamp_seconds)
    return [{ ...entry, source: describeSourceFacts(source), ...(link !== null && { timestamp_url: link }) }]
  })
}
