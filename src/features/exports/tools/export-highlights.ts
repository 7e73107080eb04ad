import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { openCursor, sealCursor } from '../../../core/paging.ts'
import { csvPage } from '../highlight-csv.ts'

const placeShape = z.object({ source: z.number(), start: z.number().nullable(), id: z.number() })

export const exportHighlights = defineTool({
  name: 'export_highlights',
  family: 'highlights',
  title: 'Export all highlights',
  description:
    'All highlights of the library as CSV, one row each, with source, authors, place, notes, tags and dates: for a ' +
    'spreadsheet, a backup, or another program. The file comes in pages: the header stands on the first only, so append ' +
    'the csv of each page to that of the one before, and go on with cursor until meta.next_cursor is null. ' +
    'The text is the CSV itself, to be saved as it is. Use search_highlights to find some, and get_source_markdown for ' +
    'one source to read. Notes are filled in only where the connection may read notes.',
  input: z.strictObject({
    cursor: z.string().describe('meta.next_cursor of the page before; without it, the first page').optional(),
    limit: z.int().min(1).max(1_000).describe('Rows of this page (500 unless said)').optional(),
  }),
  output: z.object({
    csv: z.string(),
    row_count: z.int(),
    meta: z.object({ next_cursor: z.string().nullable() }),
    nextCursor: z.string().nullable(),
  }),
  scopes: ['highlights:read'],
  effect: 'read',
  verbatim: 'csv',
  summary: ({ row_count, nextCursor }) =>
    `${row_count} ${row_count === 1 ? 'row' : 'rows'}${nextCursor === null ? '' : '; more follow'}.`,
  async run(library, { cursor, limit = 500 }, { scopes }) {
    const notes = scopes.has('notes:read')
    const filter = `export_highlights ${notes}`
    const after =
      cursor === undefined ? undefined : placeShape.parse(await openCursor(library, filter, cursor))
    const { csv, rows, next } = await csvPage(library.db, { after, limit, notes })
    const nextCursor = next ? await sealCursor(library, filter, next) : null
    return { csv, row_count: rows, meta: { next_cursor: nextCursor }, nextCursor }
  },
})
