import { z } from 'zod'
import { text } from './text.ts'

/**
 * What the tools of the highlights and academy families take before they write. A reminder to the model that the reader has
 * to have asked for it; what guards the library are scopes and the trash.
 */
export const confirming = {
  confirm: z
    .literal(true, { error: 'must be true, the boolean: ask the reader first' })
    .describe('true, once the reader has asked for this'),
  user_intent: text({ max: 500 })
    .refine((words) => words.trim() !== '', { error: 'must say in a few words what the reader asked for' })
    .describe('What the reader asked for, in a few words'),
}
