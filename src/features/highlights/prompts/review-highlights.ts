import { z } from 'zod'
import { dayOf } from '../../../core/days.ts'
import { definePrompt } from '../../../core/define-prompt.ts'
import { readSettings } from '../../../core/settings.ts'

export const reviewHighlights = definePrompt({
  name: 'review_highlights',
  title: "Review today's highlights",
  description:
    'Goes over what you marked today with what belongs to it in your library, then over what you are about to forget.',
  input: z.strictObject({
    limit: z
      .int()
      .min(1)
      .max(50)
      .describe('How many of the latest highlights to look at, 1 to 50 (20 unless said)')
      .optional(),
  }),
  tools: ['get_daily_review', 'find_related', 'read_item'],
  optionalTools: ['review_highlight'],
  async compose(library, { limit = 20 }) {
    const now = library.now()
    const rules = await readSettings(library.db)
    const day = dayOf(now, rules)
    const late = rules.dayEndHour === 0 ? '' : ` A day of mine ends at ${rules.dayEndHour}:00 in the night.`
    return {
      text: `Go over the highlights that I made today with me.

It is ${now.toISOString()}; my day is ${day}, in the time zone ${rules.timeZone}.${late} After this come my latest highlights as JSON, the newest first.

1. Take those whose created_at falls on ${day} in my time zone. If there are none, say so and take the latest five.
2. Go through them source by source. Quote each word for word and say in a sentence or two what it is about. Where one cannot be understood by itself, read around it: read_item with the id of its source gives the text.
3. Look for what belongs to them: find_related with the id of a highlight gives what I marked elsewhere that is near to it. Name what agrees and what disagrees, each with its title.
4. Then go over what I am about to forget: get_daily_review gives the highlights of the day. Show me one at a time, let me say what I remember of it and how well I knew it (again, hard, good or easy), and note that with review_highlight where you have it. Never answer for me. Stop when I say so.
5. End with two or three questions that these highlights leave open, and ask me which of them I want to take up.

Say only what stands in the library or follows from it, and let me see which of the two it is.`,
      parts: [
        {
          resource: `becoming://highlights?limit=${limit}`,
          otherwise:
            'The highlights could not be added: this connection may not read them. Ask me to allow it, or to paste what I mean.',
        },
      ],
    }
  },
})
