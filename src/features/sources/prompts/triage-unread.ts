import { z } from 'zod'
import { definePrompt } from '../../../core/define-prompt.ts'
import { cutText, ROOM, takeFitting } from '../../../core/room.ts'
import { listItems } from '../item-list-store.ts'
import { toItem } from '../item.ts'

const TITLE = 500

export const triageUnread = definePrompt({
  name: 'triage_unread',
  title: 'Triage the unread',
  description:
    'Looks through what you saved and have not read, and proposes what to read, keep for later and let go.',
  input: z.strictObject({
    limit: z
      .int()
      .min(1)
      .max(50)
      .describe('How many of the unread to look at, the last saved first, 1 to 50 (15 unless said)')
      .optional(),
  }),
  tools: ['list_items', 'read_item', 'search_library'],
  async compose(library, { limit = 15 }, { scopes }) {
    const intro = `Help me decide what to read of all that I saved and have not read.`
    const how = `1. Look into those whose titles do not say enough: read_item with an id and format "summary" gives a digest. Eight are plenty.
2. See what they have to do with what I read and marked: search_library with their subject in plain words.
3. Propose for each one of three: read now, keep for later, let go. Say in a line why, what it is about, and how long it takes (230 words a minute). Begin with the three that I should read first.
4. Change nothing. Ask me what I think of it, and where I decide otherwise, learn from that for the rest.`
    if (!scopes.has('sources:read')) {
      return {
        text: `${intro}\n\nThe list could not be added: this connection may not read my sources. Ask me to allow it.\n\n${how}`,
        parts: [],
      }
    }
    const { items, total } = await listItems(library.db, { reading: 'unread', limit, offset: 0 })
    const may = { highlights: scopes.has('highlights:read'), notes: scopes.has('notes:read') }
    const shown = takeFitting(
      items.map((item) => toItem(item, may)).map((item) => ({ ...item, title: cutText(item.title, TITLE) })),
      ROOM,
    )
    return {
      text: `${intro}

After this come ${shown.length} of ${total} unread items as JSON, the last saved first; list_items with reading "unread" and offset ${shown.length} gives the next.

${how}`,
      parts: [{ data: shown }],
    }
  },
})
