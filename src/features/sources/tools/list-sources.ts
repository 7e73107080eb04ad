import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { listPlace, listPlaceOf, readPage } from '../../../core/resource-page.ts'
import { ROOM } from '../../../core/room.ts'
import { text } from '../../../core/text.ts'
import { sourcesTitled } from '../../search/titled-sources.ts'
import { describeSources, kindsOf, SOURCE_TYPES, sourceEntry } from '../describe-sources.ts'
import { countListed, listSources as list } from '../source-list-store.ts'

/** Bytes of JSON that stand around the list. */
const ENVELOPE = 600

export const listSources = defineTool({
  name: 'list_sources',
  family: 'highlights',
  title: 'List sources',
  description:
    'What the reader has read or saved: books, articles, videos and podcasts, with a text and without, the last added first, ' +
    'each with the number of its highlights. q finds by title and author, whatever the case and accents. Use ' +
    'search_library to find something by what it says, list_items for what has a text to read, and get_source with an ' +
    'id from here for the highlights. meta.next_cursor gives the next page, null at the end.',
  input: z.strictObject({
    q: text({ min: 0, max: 500 })
      .describe('Words, or beginnings of words, of the title and the author')
      .optional(),
    type: z.enum(SOURCE_TYPES).describe('Only sources of this type').optional(),
    limit: z.int().min(1).max(50).describe('How many to give (20 unless said)').optional(),
    cursor: z.string().describe('meta.next_cursor of the page before, with the same q and type').optional(),
  }),
  output: z.object({
    sources: z.array(sourceEntry),
    total: z.int(),
    meta: z.object({ next_cursor: z.string().nullable() }),
    nextCursor: z.string().nullable(),
  }),
  scopes: ['sources:read'],
  effect: 'read',
  summary: ({ sources, total }) =>
    total === 0 ? 'No source fits.' : `${sources.length} of ${total} ${total === 1 ? 'source' : 'sources'}.`,
  async run(library, { q = '', type, limit = 20, cursor }, { scopes }) {
    const { db } = library
    const may = { notes: scopes.has('notes:read') }
    const filter = { kinds: type && kindsOf(type), ids: await sourcesTitled(library, q) }
    const { shown, meta } = await readPage(library, {
      uri: 'list_sources',
      filter: JSON.stringify([q, type]),
      limit,
      cursor,
      place: listPlace,
      placeOf: listPlaceOf,
      list: (after, most) => list(db, { ...filter, after, limit: most }),
      describe: (rows) => describeSources(db, rows, may),
      room: ROOM - ENVELOPE,
    })
    return { sources: shown, total: await countListed(db, filter), meta, nextCursor: meta.next_cursor }
  },
})
