import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { idText } from '../../../core/ids.ts'
import { preview } from '../../../core/text.ts'
import { indexNote } from '../../search/index-source.ts'
import { findItem } from '../../sources/source-store.ts'
import { addNote, showNote } from '../note-store.ts'
import { noteBody, noteShape } from '../schema.ts'

export const addComment = defineTool({
  name: 'add_comment',
  family: 'library',
  title: 'Add a comment',
  description:
    'Writes a comment on an item as a whole. To comment on certain words of it use add_highlight with a comment. Every call ' +
    'adds one: pass a requestId where a call may be repeated. The comment can be searched at once and stands among the ' +
    'annotations of read_item. Ids come from list_items and search_library.',
  input: z.strictObject({
    id: idText('Item id'),
    body: noteBody.describe('The comment, at most 10,000 characters'),
  }),
  output: z.object({ comment: noteShape }),
  scopes: ['notes:write'],
  effect: 'write',
  summary: ({ comment }) => `Added the comment “${preview(comment.body, 80)}”.`,
  run: (library, { id, body }) =>
    library.answer(async (change) => {
      const { id: sourceId } = await findItem(change.db, id)
      const note = await addNote(change, { sourceId, body })
      await indexNote(change, note.id)
      return { comment: showNote(note) }
    }),
})
