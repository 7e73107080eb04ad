import { z } from 'zod'
import { fullHighlight } from '../highlights/describe-highlights.ts'

/** What is known of how well a highlight is remembered. */
export const memoryShape = z.object({
  /** `new`: never gone over. */
  state: z.enum(['new', 'learning', 'review', 'relearning']),
  /** Answers so far. */
  reps: z.int(),
  /** How often it was forgotten. */
  lapses: z.int(),
  /** When it is to come again, ISO 8601 in UTC; null for a new one. */
  due_at: z.string().nullable(),
})

export const reviewedHighlight = fullHighlight.extend(memoryShape.shape)
