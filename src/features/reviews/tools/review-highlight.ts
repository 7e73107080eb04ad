import { z } from 'zod'
import { dayOf } from '../../../core/days.ts'
import { defineTool } from '../../../core/define-tool.ts'
import { idNumber } from '../../../core/ids.ts'
import { readSettings } from '../../../core/settings.ts'
import { highlightAsGiven } from '../../highlights/change-highlight.ts'
import { newestReview } from '../review-store.ts'
import { answerHighlight, RATINGS } from '../schedule.ts'
import { memoryShape } from '../schema.ts'

export const reviewHighlight = defineTool({
  name: 'review_highlight',
  family: 'extras',
  title: 'Answer a highlight',
  description:
    'Notes how well the reader knew a highlight that was gone over, and decides when it comes again: again (forgotten), hard, good or easy. Use it for the highlights of get_daily_review, one call each, with what the reader says and not with a guess; any other highlight can be answered too and so comes up in later reviews. Gives the day on which it is due.',
  input: z.strictObject({
    id: idNumber('Highlight id, from get_daily_review'),
    rating: z.enum(RATINGS).describe('How well the reader knew it'),
  }),
  output: memoryShape.omit({ due_at: true }).extend({
    id: z.int(),
    rating: z.enum(RATINGS),
    /** When it comes again: an instant in ISO 8601, and the reader's day. */
    due_at: z.string(),
    due_day: z.string(),
    interval_days: z.int(),
  }),
  scopes: ['highlights:write'],
  effect: 'write',
  summary: ({ rating, due_day, interval_days }) =>
    `Answered ${rating}: it comes again on ${due_day}, in ${interval_days} ${interval_days === 1 ? 'day' : 'days'}.`,
  async run(library, { id, rating }) {
    // Loaded before the transaction: nothing waits inside.
    await import('ts-fsrs')
    return library.answer(async (change) => {
      const highlight = await highlightAsGiven(change, id)
      const before = await newestReview(change.db, highlight.id)
      const memory = await answerHighlight(before, rating, new Date(change.at))
      await change.insert('review', {
        source_id: highlight.source_id,
        highlight_id: highlight.id,
        ...memory,
      })
      const { state, reps, lapses, due_at, scheduled_days } = memory
      const due_day = dayOf(new Date(due_at), await readSettings(change.db))
      return { id: highlight.id, rating, state, reps, lapses, due_at, due_day, interval_days: scheduled_days }
    })
  },
})
