import { z } from 'zod'
import { definePrompt } from '../../../core/define-prompt.ts'
import { namedSource, suggestSources } from '../../search/named-source.ts'
import { chosenSource } from './chosen-source.ts'

export const quizSource = definePrompt({
  name: 'quiz_source',
  title: 'Quiz me on a source',
  description:
    'Asks you questions about something you read, one at a time, and settles each with a passage of the text.',
  input: z.strictObject({
    source: z.string().min(1).describe('Title of the book or text, or its id'),
    limit: z.int().min(1).max(30).describe('How many questions, 1 to 30 (7 unless said)').optional(),
  }),
  tools: ['read_item', 'search_library'],
  optionalTools: ['review_highlight'],
  suggest: { source: suggestSources },
  async compose(library, { source: given, limit = 7 }, call) {
    const { name, id, marked } = await chosenSource(given, call, () => namedSource(library, given, call))
    return {
      text: `Quiz me on ${name}.

After this comes what I marked in it as JSON, in the order of the text; where next is not null there is more.

1. Before you ask, get to know it: read_item with id ${id} and format "summary" gives a digest and my notes, read_item without format the text itself in pages. search_library with in:ID of the source and some words finds a passage. Where there is no text, go by the highlights and tell me so.
2. Ask ${limit} ${limit === 1 ? 'question' : 'questions'}, one at a time, and wait for my answer to each. Begin with what I marked. Ask for what was said, for a thought in my own words, and for a case that it would apply to, from the easy to the hard. Ask nothing that the text does not answer.
3. After each answer say whether it is right, partly right or wrong, and quote the passage that settles it word for word.
4. Where a question was about one of my highlights, ask me how well I knew it (again, hard, good or easy) and note that with review_highlight (where you have it) and its id, so that it comes again in time. Never answer for me.
5. At the end tell me how many were right, and which passages to read again, with their places.`,
      parts: marked,
    }
  },
})
