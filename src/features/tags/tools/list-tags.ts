import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { readPage } from '../../../core/resource-page.ts'
import { ROOM } from '../../../core/room.ts'
import { countTags, listTagPage, type ListedTag } from '../tag-list-store.ts'

const tagPlace = z.object({ key: z.string(), id: z.number() })

/** Bytes of JSON that stand around the list. */
const ENVELOPE = 800

export const listTags = defineTool({
  name: 'list_tags',
  family: 'extras',
  title: 'List tags',
  description:
    'Every tag in use, by name, with how many sources and highlights bear it. Use it before tagging, to use the tags that are ' +
    'there; tag:name in search_library and search_highlights finds what bears one. meta.next_cursor gives the next page, ' +
    'null at the end.',
  input: z.strictObject({
    limit: z.int().min(1).max(200).describe('How many to give (100 unless said)').optional(),
    cursor: z.string().describe('meta.next_cursor of the page before').optional(),
  }),
  output: z.object({
    tags: z.array(
      z.object({
        id: z.int(),
        name: z.string(),
        sources: z.int(),
        /** Absent without `highlights:read`. */
        highlights: z.int().optional(),
      }),
    ),
    total: z.int(),
    meta: z.object({ next_cursor: z.string().nullable() }),
    nextCursor: z.string().nullable(),
  }),
  scopes: ['sources:read'],
  effect: 'read',
  summary: ({ tags, total }) =>
    total === 0 ? 'There are no tags.' : `${tags.length} of ${total} ${total === 1 ? 'tag' : 'tags'}.`,
  async run(library, { limit = 100, cursor }, { scopes }) {
    const { db } = library
    const rights = { highlights: scopes.has('highlights:read') }
    const { shown, meta } = await readPage(library, {
      uri: 'list_tags',
      filter: String(rights.highlights),
      limit,
      cursor,
      place: tagPlace,
      placeOf: ({ id, name_key }: ListedTag) => ({ key: name_key, id }),
      list: (after, most) => listTagPage(db, rights, { after, limit: most }),
      describe: async (rows: ListedTag[]) =>
        rows.map(({ id, name, sources, highlights }) => ({
          id,
          name,
          sources,
          ...(rights.highlights && { highlights }),
        })),
      room: ROOM - ENVELOPE,
    })
    return { tags: shown, total: await countTags(db, rights), meta, nextCursor: meta.next_cursor }
  },
})
