import type { AnyPrompt } from '../core/define-prompt.ts'
import { reviewHighlights } from '../features/highlights/prompts/review-highlights.ts'
import { quizSource } from '../features/sources/prompts/quiz-source.ts'
import { recapBook } from '../features/sources/prompts/recap-book.ts'
import { triageUnread } from '../features/sources/prompts/triage-unread.ts'

/** Every prompt there is, in the order in which it is listed. */
export const PROMPTS: readonly AnyPrompt[] = [reviewHighlights, recapBook, triageUnread, quizSource]
