import type { AnyPrompt } from '../core/define-prompt.ts'

/** Every prompt there is, in the order in which it is listed. */
export const PROMPTS: readonly AnyPrompt[] = []
