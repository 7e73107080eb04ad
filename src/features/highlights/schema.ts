import { z } from 'zod'
import { text } from '../../core/text.ts'

/** Most bytes of UTF-8 that the words of one highlight may have. */
const QUOTE_BYTES = 4_000

/** Verbatim words of an item, as a tool takes them. */
export const quoteText = text()
  .refine((quote) => bytesOf(quote) <= QUOTE_BYTES, {
    error: ({ input }) =>
      `must hold at most 4,000 bytes of UTF-8 and holds ${bytesOf(String(input)).toLocaleString('en')}`,
  })
  .refine((quote) => /[^\s\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(quote), { error: 'must hold words' })
  .meta({ maxLength: QUOTE_BYTES })

const bytesOf = (value: string): number => new TextEncoder().encode(value).length

/** One highlight as tools show it. Offsets count Unicode code points of the plain text of `textVersion`. */
export const highlightShape = z.object({
  id: z.string(),
  itemId: z.string(),
  quote: z.string(),
  start: z.number().nullable(),
  end: z.number().nullable(),
  textVersion: z.string().nullable(),
  /** How the words were found; `folded` means that they differ in case, spaces or marks from what was asked for. */
  matched: z.enum(['exact', 'folded', 'approximate']).nullable(),
  /** `orphaned`: the text changed and the words are gone from it. */
  state: z.enum(['anchored', 'unanchored', 'orphaned']),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type ShownHighlight = z.output<typeof highlightShape>
