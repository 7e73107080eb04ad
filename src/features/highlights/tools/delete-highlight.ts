import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { idNumber } from '../../../core/ids.ts'
import { checkUnchanged, unchangedSince } from '../../../core/unchanged.ts'
import { TRASH_DAYS } from '../../sources/trash.ts'
import { highlightAsGiven, trashHighlight } from '../change-highlight.ts'

export const deleteHighlight = defineTool({
  name: 'delete_highlight',
  family: 'extras',
  title: 'Delete a highlight',
  description:
    `Moves a highlight with the notes on it to the trash, where the reader can take it out again for ${TRASH_DAYS} days ` +
    '(`commonplace restore ID`); then it is gone for good. The text and its source stay. Ask the reader first.',
  input: z.strictObject({
    id: idNumber('Highlight id, from search_highlights or get_source'),
    ifUnchangedSince: unchangedSince.optional(),
  }),
  output: z.object({
    id: z.int(),
    source_id: z.int(),
    /** Until then it can be restored. */
    restorable_until: z.string(),
  }),
  scopes: ['highlights:write'],
  effect: 'sensitive',
  summary: ({ id, restorable_until }) =>
    `Highlight ${id} is in the trash and can be restored until ${restorable_until.slice(0, 10)}.`,
  run: (library, { id, ifUnchangedSince }) =>
    library.answer(async (change) => {
      const highlight = await highlightAsGiven(change, id)
      checkUnchanged(highlight, ifUnchangedSince)
      await trashHighlight(change, highlight)
      return {
        id: highlight.id,
        source_id: highlight.source_id,
        restorable_until: new Date(Date.parse(change.at) + TRASH_DAYS * 86_400_000).toISOString(),
      }
    }),
})
