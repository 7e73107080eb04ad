import { z } from 'zod'
import { text } from '../../core/text.ts'

/** Most characters (code points) of one note. */
const NOTE_LENGTH = 10_000

/** What a note says, as a tool takes it. */
export const noteBody = text({ max: NOTE_LENGTH }).refine(
  (body) => /[^\s\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(body),
  { error: 'must hold words' },
)

/** One note as tools show it. */
export const noteShape = z.object({
  id: z.string(),
  itemId: z.string(),
  /** The highlight that it belongs to; null where it is on the item as a whole. */
  highlightId: z.string().nullable(),
  body: z.string(),
  /** Only where it is longer than what is shown. */
  bodyTruncated: z.literal(true).optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type ShownNote = z.output<typeof noteShape>
