import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { Failure } from '../../../core/failure.ts'
import { idNumber } from '../../../core/ids.ts'
import { preview } from '../../../core/text.ts'
import { ALL_WORDS, describeHighlights, fullHighlight } from '../describe-highlights.ts'
import { findHighlight } from '../highlight-list-store.ts'

export const getHighlight = defineTool({
  name: 'get_highlight',
  family: 'highlights',
  title: 'Get a highlight',
  description:
    'One passage that the reader marked, word for word, with its place, its source, tags, colour and the number of notes on it. ' +
    'Use search_highlights to find one, and get_source for all highlights of a source.',
  input: z.strictObject({ id: idNumber('Highlight id, from search_highlights or get_source') }),
  output: fullHighlight,
  scopes: ['highlights:read'],
  effect: 'read',
  summary: ({ content, source }) => `“${preview(content, 100)}” from ${source.title}.`,
  async run({ db }, { id }, { scopes }) {
    const found = await findHighlight(db, id)
    const may = { notes: scopes.has('notes:read') }
    const [highlight] = found ? await describeHighlights(db, [found], { may, words: ALL_WORDS }) : []
    if (highlight) return highlight
    throw new Failure('highlight_not_found', `There is no highlight ${id}.`, {
      hint: 'It may have been thrown away. search_highlights and get_source give the ids of those that are there.',
    })
  },
})
