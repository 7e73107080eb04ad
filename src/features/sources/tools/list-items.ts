import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { openCursor, sealCursor } from '../../../core/paging.ts'
import { ROOM, takeFitting } from '../../../core/room.ts'
import { itemShape, toItem } from '../item.ts'
import { listItems as list } from '../item-list-store.ts'

const KINDS = { article: ['article'], pdf: ['pdf'], media: ['video', 'podcast'] } as const

/** Bytes of JSON that stand around the list. */
const ENVELOPE = 600

const cursorShape = z.object({ createdAt: z.string(), id: z.number() })

export const listItems = defineTool({
  name: 'list_items',
  family: 'library',
  title: 'List saved items',
  description:
    'Everything in the library that has a text to read, last saved first. Narrow it by reading state or by kind. ' +
    'Use search_library to find something by its content, and read_item with an id from here to read it. ' +
    'Gives total, and nextOffset and nextCursor while there is more.',
  input: z.strictObject({
    reading: z.enum(['unread', 'reading', 'read']).describe('Only items in this reading state').optional(),
    kind: z
      .enum(['article', 'pdf', 'media'])
      .describe('Only items of this kind; media is video and audio')
      .optional(),
    limit: z.int().min(1).max(200).describe('How many to give (50 unless said)').optional(),
    offset: z.int().min(0).max(1_000_000).describe('How many to pass over').optional(),
    cursor: z
      .string()
      .describe('nextCursor of the page before; steadier than offset while items come and go')
      .optional(),
  }),
  output: z.object({
    items: z.array(itemShape),
    total: z.number(),
    nextOffset: z.number().nullable(),
    nextCursor: z.string().nullable(),
    meta: z.object({ next_cursor: z.string().nullable() }),
  }),
  scopes: ['sources:read'],
  effect: 'read',
  summary: ({ items, total }) => (total === 0 ? 'Nothing fits.' : `${items.length} of ${total} items.`),
  async run(library, { reading, kind, limit = 50, offset = 0, cursor }, { scopes }) {
    const filter = `list_items ${reading ?? ''} ${kind ?? ''}`
    const after =
      cursor === undefined ? undefined : cursorShape.parse(await openCursor(library, filter, cursor))
    const { items, total } = await list(library.db, {
      reading,
      kinds: kind && KINDS[kind],
      after,
      limit: limit + 1,
      offset,
    })
    const may = { highlights: scopes.has('highlights:read'), notes: scopes.has('notes:read') }
    const shown = takeFitting(
      items.slice(0, limit).map((item) => toItem(item, may)),
      ROOM - ENVELOPE,
    )
    const last = items[shown.length - 1]?.source
    const more = items.length > shown.length && last !== undefined
    const nextCursor = more
      ? await sealCursor(library, filter, { createdAt: last.created_at, id: last.id })
      : null
    return {
      items: shown,
      total,
      nextOffset: more && cursor === undefined ? offset + shown.length : null,
      nextCursor,
      meta: { next_cursor: nextCursor },
    }
  },
})
