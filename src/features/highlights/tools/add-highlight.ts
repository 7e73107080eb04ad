import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { idText } from '../../../core/ids.ts'
import { preview } from '../../../core/text.ts'
import { noteBody, noteShape } from '../../notes/schema.ts'
import { addHighlight as highlightQuote } from '../highlights.ts'
import { highlightShape, quoteText } from '../schema.ts'

export const addHighlight = defineTool({
  name: 'add_highlight',
  family: 'library',
  title: 'Highlight a quote',
  description:
    'Highlights words of an item, given verbatim as read_item shows them; Markdown marks, case, spaces and quote marks may ' +
    'differ. A quote that is in the text more than once fails with quote-ambiguous and the number of matches: call again ' +
    'with occurrence (0 is the first) or with a longer quote. With comment the highlight gets a note. Adding the same ' +
    'highlight and comment again changes nothing. The answer has the words and offsets as they stand in the text.',
  input: z.strictObject({
    id: idText('Item id'),
    quote: quoteText.describe('Exact words of the item, at most 4,000 bytes of UTF-8'),
    occurrence: z
      .int()
      .min(0)
      .max(99_999)
      .describe('Which match to take where the quote repeats: 0 is the first')
      .optional(),
    comment: noteBody.describe('A comment on the highlight').optional(),
  }),
  output: z.object({ highlight: highlightShape, comment: noteShape.optional(), created: z.boolean() }),
  scopes: ['highlights:write'],
  scopesFor: ({ comment }) => (comment === undefined ? [] : ['notes:write']),
  effect: 'write',
  summary: ({ highlight, created }) =>
    `${created ? 'Highlighted' : 'Already highlighted'}: “${preview(highlight.quote, 100)}”.`,
  run: (library, input) => highlightQuote(library, input),
})
