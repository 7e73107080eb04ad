import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { idText } from '../../../core/ids.ts'
import { codePointLength, preview } from '../../../core/text.ts'
import { annotationShape, listAnnotations } from '../annotation-store.ts'
import { digestOf } from '../digest.ts'
import { findItem } from '../../sources/source-store.ts'
import { itemShape, toBareItem } from '../../sources/item.ts'
import { currentText, partOfText } from '../text-store.ts'

/** A summary stays readable: past this many annotations it says how many more there are. */
const ANNOTATIONS = 60

export const readItem = defineTool({
  name: 'read_item',
  family: 'library',
  title: 'Read an item',
  description:
    'The text of one item. format markdown (the default) gives the Markdown itself, 40,000 characters at a time: while the ' +
    'result has a nextOffset, call again with offset set to it. format summary gives a digest in sentences of the text, ' +
    "its opening, and the reader's highlights and notes on it: use that first for long items. " +
    'Ids come from list_items and search_library.',
  input: z.strictObject({
    id: idText('Item id'),
    format: z.enum(['markdown', 'summary']).describe('markdown unless said').optional(),
    offset: z
      .int()
      .min(0)
      .max(100_000_000)
      .describe('Markdown: character to begin at; the nextOffset of the page before')
      .optional(),
    maxChars: z
      .int()
      .min(1)
      .max(200_000)
      .describe('Markdown: most characters to give (40,000 unless said)')
      .optional(),
  }),
  output: z.object({
    item: itemShape,
    format: z.enum(['markdown', 'summary']),
    /** Text version that offsets and highlights belong to. */
    textVersion: z.string(),
    totalChars: z.number(),
    markdown: z.string().optional(),
    offset: z.number().optional(),
    nextOffset: z.number().nullable().optional(),
    digest: z.array(z.string()).optional(),
    excerpt: z.string().optional(),
    annotations: z.array(annotationShape).optional(),
    annotationsTotal: z.number().optional(),
  }),
  scopes: ['sources:read'],
  effect: 'read',
  verbatim: 'markdown',
  summary: ({ item, format, digest, annotationsTotal }) =>
    format === 'markdown'
      ? `“${item.title}”.`
      : `“${item.title}” in ${digest?.length ?? 0} sentences, with ${annotationsTotal ?? 0} annotations.`,
  async run(library, { id, format = 'markdown', offset = 0, maxChars = 40_000 }, { scopes }) {
    const source = await findItem(library.db, id)
    const item = toBareItem(source)
    if (format === 'markdown') {
      const { id: textId, ...part } = await partOfText(library.db, source, { offset, most: maxChars })
      const end = offset + maxChars
      const nextOffset = end < part.totalChars ? end : null
      return { item, format, textVersion: String(textId), ...part, offset, nextOffset }
    }
    const text = await currentText(library.db, source)
    const version = { textVersion: String(text.id), totalChars: codePointLength(text.markdown) }
    const { sentences, excerpt } = digestOf(text.plain)
    const annotations = await listAnnotations(library.db, source.id, {
      highlights: scopes.has('highlights:read'),
      notes: scopes.has('notes:read'),
    })
    const shown = annotations.slice(0, ANNOTATIONS)
    return {
      item,
      format,
      ...version,
      digest: sentences.map((sentence) => preview(sentence, 600)),
      excerpt,
      annotations: shown.map((annotation) => ({
        ...annotation,
        ...(annotation.quote !== undefined && { quote: preview(annotation.quote, 500) }),
        comments: annotation.comments.slice(0, 5).map((comment) => preview(comment, 500)),
      })),
      annotationsTotal: annotations.length,
    }
  },
})
