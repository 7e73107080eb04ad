import { z } from 'zod'
import { definePrompt } from '../../../core/define-prompt.ts'
import { namedSource, suggestSources } from '../../search/named-source.ts'
import { chosenSource } from './chosen-source.ts'

export const recapBook = definePrompt({
  name: 'recap_book',
  title: 'Recap before going on',
  description:
    'Tells you what to remember of a book or text before you read on, and nothing of what comes after.',
  input: z.strictObject({
    source: z.string().min(1).describe('Title of the book or text, or its id'),
    limit: z.int().min(1).max(30).describe('How many points at most, 1 to 30 (7 unless said)').optional(),
  }),
  tools: ['read_item'],
  suggest: { source: suggestSources },
  async compose(library, { source: given, limit = 7 }, call) {
    const { name, id, marked } = await chosenSource(given, call, () => namedSource(library, given, call))
    return {
      text: `I am about to go on reading ${name}. Tell me what I should remember of it.

After this comes what I marked in it as JSON, in the order of the text; where next is not null there is more.

1. Find out how far I am: I have read at least to the last of my highlights. Ask me if there are none, or if I may be further.
2. Read what is before that place: read_item with id ${id} gives the text from its beginning, in pages; do not read further than I have. Where there is no text, work from the highlights alone and tell me so.
3. Give me at most ${limit} points: who and what matters, how it came to where I am, what is still open. Under each quote the highlight that it rests on, if there is one, word for word.
4. Say nothing of what comes after that place, not even as a hint, and whatever you know of the book otherwise, unless I ask.
5. End with the words at which I stopped.`,
      parts: marked,
    }
  },
})
