import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { idText } from '../../../core/ids.ts'
import { cutText, jsonBytes, ROOM, takeFitting } from '../../../core/room.ts'
import { codePointLength } from '../../../core/text.ts'
import { annotationShape, listAnnotations } from '../annotation-store.ts'
import { digestOf } from '../digest.ts'
import { findItem } from '../../sources/source-store.ts'
import { itemShape, toBareItem } from '../../sources/item.ts'
import { placesWithin, readPlaces } from '../places.ts'
import { currentText, partOfText } from '../text-store.ts'

/** A summary stays readable: past this many annotations it says how many more there are. */
const ANNOTATIONS = 60
/** Bytes of JSON for the name of a place: titles of chapters can be sentences. */
const PLACE_NAME = 80
const COMMENTS = 5
/** Bytes of JSON beyond which the parts of a summary are cut, and what stands around them. */
const SENTENCE = 1_200
const QUOTE = 1_500
const COMMENT = 1_000
const ENVELOPE = 600

export const readItem = defineTool({
  name: 'read_item',
  family: 'library',
  title: 'Read an item',
  description:
    'The text of one item. format markdown (the default) gives the Markdown itself, 40,000 characters at a time: while the ' +
    'result has a nextOffset, call again with offset set to it; places says at which offset of the text a page, a chapter or ' +
    'a moment (seconds, of video and audio) begins. format summary gives a digest in sentences of the text, ' +
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
    /** Where pages, chapters or moments begin in what is shown; the first is the one in which it begins. */
    places: z
      .array(z.object({ offset: z.number(), name: z.string(), seconds: z.number().optional() }))
      .optional(),
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
      const { id: textId, places, ...part } = await partOfText(library.db, source, { offset, most: maxChars })
      const end = offset + maxChars
      const nextOffset = end < part.totalChars ? end : null
      const named = placesWithin(readPlaces(places), { markdown: part.markdown, offset })
      return {
        item,
        format,
        textVersion: String(textId),
        ...part,
        offset,
        nextOffset,
        ...(named.length > 0 && {
          places: named.map((place) => ({ ...place, name: cutText(place.name, PLACE_NAME) })),
        }),
      }
    }
    const text = await currentText(library.db, source)
    const version = { textVersion: String(text.id), totalChars: codePointLength(text.markdown) }
    const { sentences, excerpt } = digestOf(text.plain)
    const annotations = await listAnnotations(library.db, source.id, {
      highlights: scopes.has('highlights:read'),
      notes: scopes.has('notes:read'),
    })
    const digest = sentences.map((sentence) => cutText(sentence, SENTENCE))
    const shown = annotations.slice(0, ANNOTATIONS).map((annotation) => ({
      ...annotation,
      ...(annotation.quote !== undefined && { quote: cutText(annotation.quote, QUOTE) }),
      comments: annotation.comments.slice(0, COMMENTS).map((comment) => cutText(comment, COMMENT)),
    }))
    return {
      item,
      format,
      ...version,
      digest,
      excerpt,
      annotations: takeFitting(shown, ROOM - ENVELOPE - jsonBytes([item, digest, excerpt])),
      annotationsTotal: annotations.length,
    }
  },
})
