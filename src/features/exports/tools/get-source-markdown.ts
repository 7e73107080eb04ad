import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { Failure } from '../../../core/failure.ts'
import { idNumber } from '../../../core/ids.ts'
import { sourceAsGiven } from '../../sources/source-store.ts'
import { composeMarkdown } from '../markdown-file.ts'
import { sourceMarkdown } from '../source-markdown.ts'

const HINT = 'Take an id from list_sources.'

export const getSourceMarkdown = defineTool({
  name: 'get_source_markdown',
  family: 'highlights',
  title: 'Export a source as Markdown',
  description:
    'One source as a whole Markdown file, for a notes folder or to read at length: its facts as YAML at the top, the notes ' +
    'on it, and every highlight in the order of reading, with place, link, tags and notes. However many they are, the file ' +
    'is given whole: use get_source to go through a large one page by page, and export_highlights for all sources at once. ' +
    'The text is the file itself, to be saved as .md as it is; `commonplace export` writes the same and keeps it up to ' +
    'date. Notes are in it only where the connection may read notes.',
  input: z.strictObject({ id: idNumber('Source id, from list_sources') }),
  output: z.object({ markdown: z.string(), source_id: z.int(), highlight_count: z.int() }),
  scopes: ['highlights:read'],
  effect: 'read',
  verbatim: 'markdown',
  summary: ({ highlight_count }) =>
    `A Markdown file with ${highlight_count} ${highlight_count === 1 ? 'highlight' : 'highlights'}.`,
  async run(library, { id }, { scopes }) {
    const { id: sourceId } = await sourceAsGiven(library.db, id, HINT)
    const source = await sourceMarkdown(library.db, sourceId, {
      notes: scopes.has('notes:read'),
      private: scopes.has('library:private'),
    })
    if (!source)
      throw new Failure('source_not_found', `There is no source ${id} in the library.`, { hint: HINT })
    return {
      markdown: composeMarkdown(source),
      source_id: source.id,
      highlight_count: source.highlights.length,
    }
  },
})
