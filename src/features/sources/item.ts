import { z } from 'zod'
import type { BareSource, ListedItem } from './item-list-store.ts'
import { cutText } from '../../core/room.ts'
import { shownNames, shownTags, shownTitle, wholeAddress } from './describe-sources.ts'
import { authorsOf } from './source-store.ts'

/** Bytes of JSON beyond which a word is cut: more than any that is real. */
const WORD = 200

/** One source as every list shows it. */
export const itemShape = z.object({
  id: z.string(),
  title: z.string(),
  kind: z.enum(['book', 'article', 'pdf', 'video', 'podcast']),
  authors: z.array(z.string()),
  site: z.string().nullable(),
  url: z.string().nullable(),
  published: z.string().nullable(),
  saved: z.string(),
  words: z.number().nullable(),
  reading: z.enum(['unread', 'reading', 'read']).optional(),
  highlights: z.number().optional(),
  notes: z.number().optional(),
  tags: z.array(z.string()).optional(),
})

export type Item = z.output<typeof itemShape>

export const toBareItem = (source: BareSource): Item => ({
  id: String(source.id),
  title: shownTitle(source.title),
  kind: source.kind,
  authors: shownNames(authorsOf(source)),
  site: source.site && cutText(source.site, WORD),
  url: wholeAddress(source.url),
  published: source.published && cutText(source.published, WORD),
  saved: source.created_at,
  words: source.words,
})

/** With what belongs to it, as far as the caller may know of it. */
export function toItem(
  { source, reading, highlights, notes, tags }: ListedItem,
  may: { highlights: boolean; notes: boolean },
): Item {
  const item = toBareItem(source)
  item.reading = reading
  item.tags = shownTags(tags)
  if (may.highlights) item.highlights = highlights
  if (may.notes) item.notes = notes
  return item
}
