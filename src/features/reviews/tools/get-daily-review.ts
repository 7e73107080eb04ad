import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { ROOM, takeFitting } from '../../../core/room.ts'
import { describeHighlights } from '../../highlights/describe-highlights.ts'
import { listedByIds } from '../../highlights/highlight-list-store.ts'
import { dailyReview } from '../daily-review.ts'
import { reviewedHighlight } from '../schema.ts'

/** Bytes of JSON around the highlights. */
const ENVELOPE = 400

export const getDailyReview = defineTool({
  name: 'get_daily_review',
  family: 'extras',
  title: "Get today's review",
  description:
    'The highlights for the reader to go over today, by spaced repetition: those that are due, the longest overdue first, then ones never gone over, mixed from many sources. Show them one at a time, ask how well the reader knew each, and pass the answer to review_highlight; what was answered is not given again that day. left_today says how many are left, these included, and total_due how many are due in all. To look for something use search_highlights instead.',
  input: z.strictObject({
    limit: z
      .int()
      .min(1)
      .max(50)
      .describe(
        "How many to go over today in all, answered ones counted (the reader's own number unless said)",
      )
      .optional(),
  }),
  output: z.object({
    /** The reader's day, `YYYY-MM-DD`. */
    day: z.string(),
    highlights: z.array(reviewedHighlight),
    answered_today: z.int(),
    left_today: z.int(),
    total_due: z.int(),
  }),
  scopes: ['highlights:read'],
  effect: 'read',
  summary: ({ highlights, left_today, answered_today }) =>
    left_today === 0
      ? answered_today > 0
        ? 'All of today’s highlights are gone over.'
        : 'There is nothing to go over today.'
      : `${highlights.length} of ${left_today} left to go over today.`,
  async run(library, { limit }, { scopes }) {
    const { day, left, answered, due } = await dailyReview(library, limit)
    const rows = await listedByIds(
      library.db,
      left.map(({ id }) => id),
    )
    const there = left.flatMap(({ id }) => rows.get(id) ?? [])
    const described = await describeHighlights(library.db, there, {
      may: { notes: scopes.has('notes:read') },
    })
    const newest = new Map(left.map((entry) => [entry.id, entry.newest]))
    const shown = described.map((highlight) => {
      const { state = 'new' as const, reps = 0, lapses = 0, due_at = null } = newest.get(highlight.id) ?? {}
      return { ...highlight, state, reps, lapses, due_at }
    })
    return {
      day,
      highlights: takeFitting(shown, ROOM - ENVELOPE),
      answered_today: answered,
      left_today: shown.length,
      total_due: due,
    }
  },
})
