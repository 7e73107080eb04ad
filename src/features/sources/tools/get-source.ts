import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { idNumber } from '../../../core/ids.ts'
import { readPage } from '../../../core/resource-page.ts'
import { jsonBytes, ROOM } from '../../../core/room.ts'
import { describeEntries, highlightEntry } from '../../highlights/describe-highlights.ts'
import { listInSource, readingPlace, readingPlaceOf } from '../../highlights/highlight-list-store.ts'
import { describeSources, sourceEntry } from '../describe-sources.ts'
import { sourceAsGiven } from '../source-store.ts'

/** Bytes of JSON that stand around the source and its highlights. */
const ENVELOPE = 800

export const getSource = defineTool({
  name: 'get_source',
  family: 'highlights',
  title: 'Get a source',
  description:
    'One book, article, video or podcast with the passages that the reader marked in it, in the order of the text. Where they ' +
    'are many, meta.next_cursor gives those that follow, null at the end. Where highlights may not be read it says ' +
    'only how many there are. Use read_item for the text itself, and list_sources to find the id.',
  input: z.strictObject({
    id: idNumber('Source id, from list_sources'),
    limit: z.int().min(1).max(50).describe('How many highlights to give (50 unless said)').optional(),
    cursor: z.string().describe('meta.next_cursor of the page before, with the same id').optional(),
  }),
  output: sourceEntry.extend({
    /** In the order of the text; absent without `highlights:read`. */
    highlights: z.array(highlightEntry).optional(),
    /** What is missing and how to get it; absent where nothing is. */
    remark: z.string().optional(),
    meta: z.object({ next_cursor: z.string().nullable() }),
    nextCursor: z.string().nullable(),
  }),
  scopes: ['sources:read'],
  effect: 'read',
  summary: ({ title, highlights, highlights_count }) =>
    highlights && highlights.length < highlights_count
      ? `${title}: ${highlights.length} of ${highlights_count} highlights.`
      : `${title}: ${highlights_count} ${highlights_count === 1 ? 'highlight' : 'highlights'}.`,
  async run(library, { id, limit, cursor }, { scopes }) {
    const { db } = library
    const found = await sourceAsGiven(db, id, 'Take an id from list_sources.')
    const may = { notes: scopes.has('notes:read') }
    const [source] = await describeSources(db, [found], may)
    if (!scopes.has('highlights:read'))
      return {
        ...source!,
        remark: 'The highlights themselves need the scope highlights:read.',
        meta: { next_cursor: null },
        nextCursor: null,
      }
    const { shown, meta } = await readPage(library, {
      uri: 'get_source',
      filter: String(found.id),
      limit,
      cursor,
      place: readingPlace,
      placeOf: readingPlaceOf,
      list: (after, most) => listInSource(db, found.id, { after, limit: most }),
      describe: (rows) => describeEntries(db, rows, { may }),
      room: ROOM - ENVELOPE - jsonBytes(source),
    })
    return {
      ...source!,
      highlights: shown,
      ...(meta.next_cursor !== null && {
        remark: 'There are more highlights: call again with cursor, or use search_highlights with source_id.',
      }),
      meta,
      nextCursor: meta.next_cursor,
    }
  },
})
