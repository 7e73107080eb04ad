import { z } from 'zod'
import { confirming } from '../../../core/confirming.ts'
import { defineTool } from '../../../core/define-tool.ts'
import { Failure } from '../../../core/failure.ts'
import { idNumber } from '../../../core/ids.ts'
import { cutText } from '../../../core/room.ts'
import { text } from '../../../core/text.ts'
import { languageTag } from '../../capture/language-tag.ts'
import { authorNames } from '../../imports/names.ts'
import { describeSourceFacts, sourceFacts } from '../../sources/describe-sources.ts'
import type { NamedWork } from '../../sources/ensure-source.ts'
import { parseHttp } from '../../sources/url-key.ts'
import { addHighlights as add } from '../add-highlights.ts'
import { placeInSource } from '../place-in-source.ts'
import { quoteText } from '../schema.ts'

/** Most highlights of one call, and most bytes of its request. */
const MOST = 20
const BODY = 1024 * 1024
/** Bytes of JSON beyond which what is given back of a highlight is cut. */
const WORDS = 700
const PLACE = 200

const name = (max: number) =>
  text({ max }).refine((words) => words.trim() !== '', { error: 'must hold words' })

const work = z
  .strictObject({
    type: z.enum(['Book', 'Article']).describe('What it is'),
    title: name(1_000).describe('Its title'),
    author: name(500).describe('Who wrote it; several with ; between. Required for a Book').optional(),
    url: name(4_000).describe('Its address. Required for an Article').optional(),
    language: text({ min: 0, max: 64 }).describe('Language of the work, such as en or pt-BR').optional(),
  })
  .superRefine(({ type, author, url }, context) => {
    const need = (path: string) =>
      context.addIssue({ code: 'custom', path: [path], message: `is required where type is ${type}` })
    if (type === 'Book' && author === undefined) need('author')
    if (type === 'Article' && url === undefined) need('url')
    else if (url !== undefined && !parseHttp(url))
      context.addIssue({ code: 'custom', path: ['url'], message: 'must be a whole http or https address' })
  })

const addedHighlight = z.object({
  id: z.int(),
  /** False where the same words stood at the same place before. */
  created: z.boolean(),
  /** The words as they are kept: as the text has them, where they were found there. */
  content: z.string(),
  content_truncated: z.literal(true).optional(),
  location: z.string().nullable(),
  timestamp_seconds: z.number().nullable(),
  /** `unanchored`: there is no text of the source, or the words are not in it or more than once. */
  state: z.enum(['anchored', 'unanchored', 'orphaned']),
})

export const addHighlights = defineTool({
  name: 'add_highlights',
  family: 'highlights',
  title: 'Add highlights',
  description:
    'Saves up to 20 passages of one source as highlights, all or none: of a source in the library by source_id, or of a Book or ' +
    'Article by source, which is found or made. Give the words verbatim; where the library has the text of the source they ' +
    'are anchored in it. The same words at the same place are not added twice: created says which are new. Use ' +
    'add_highlight for words of an item that was just read with read_item, and add_source to add a source without ' +
    'highlights. Ask the reader first, then pass confirm: true and what they asked for as user_intent.',
  input: z.strictObject({
    source_id: idNumber('Source id, from list_sources; either this or source').optional(),
    source: work.describe('The work that the passages are from; either this or source_id').optional(),
    highlights: z
      .array(
        z.strictObject({
          content: quoteText.describe('The words, verbatim, at most 4,000 bytes of UTF-8'),
          location: text({ min: 0, max: 200 })
            .describe('Where they stand: "page 12", "location 145", a chapter')
            .optional(),
          timestamp_seconds: z
            .number()
            .min(0)
            .describe('Seconds from the beginning of a video or podcast')
            .optional(),
        }),
      )
      .min(1)
      .max(MOST)
      .describe('The passages, 1 to 20'),
    ...confirming,
  }),
  output: z.object({
    source_id: z.int(),
    source_created: z.boolean(),
    /** Absent with neither `sources:read` nor `highlights:read`. */
    source: sourceFacts.optional(),
    highlights: z.array(addedHighlight),
    created_count: z.int(),
  }),
  scopes: ['highlights:write'],
  effect: 'write',
  maxBody: BODY,
  summary: ({ highlights, created_count, source }) => {
    const stood = highlights.length - created_count
    return [
      `${created_count} ${created_count === 1 ? 'highlight' : 'highlights'} added${source ? ` to ${source.title}` : ''}`,
      stood > 0 && `${stood} stood there already`,
    ]
      .filter(Boolean)
      .join('; ')
      .concat('.')
  },
  run(library, { source_id, source, highlights }, { scopes }) {
    const given = highlights.map(({ content, location, timestamp_seconds }) => ({
      content,
      location,
      seconds: timestamp_seconds,
    }))
    const may = scopes.has('sources:read') || scopes.has('highlights:read')
    const wanted = wantedSource(source_id, source)
    return add(library, { source: wanted, highlights: given }, (added) => ({
      source_id: added.source.id,
      source_created: added.sourceCreated,
      ...(may && { source: describeSourceFacts(added.source) }),
      highlights: added.highlights.map(({ highlight: { id, quote, locator, state }, created }) => {
        const content = cutText(quote, WORDS)
        const { location, seconds } = placeInSource(locator)
        return {
          id,
          created,
          content,
          ...(content.length < quote.length && { content_truncated: true as const }),
          location: location && cutText(location, PLACE),
          timestamp_seconds: seconds,
          state,
        }
      }),
      created_count: added.highlights.filter(({ created }) => created).length,
    }))
  },
})

/** Throws `invalid_input` unless exactly one is given. */
function wantedSource(id: number | undefined, source: z.output<typeof work> | undefined): number | NamedWork {
  if (id !== undefined && source === undefined) return id
  if (id === undefined && source !== undefined) {
    const { type, title, author, url, language } = source
    return {
      kind: type === 'Book' ? 'book' : 'article',
      title: title.trim(),
      authors: author === undefined ? [] : authorNames(author),
      url: url?.trim(),
      language: languageTag(language) ?? undefined,
    }
  }
  const given = id === undefined ? 'neither was given' : 'both were given'
  throw new Failure('invalid_input', `add_highlights takes either source_id or source, and ${given}.`, {
    hint: 'Give source_id for a source of the library, or source with type and title for another.',
    details: { issues: [{ field: 'source_id', problem: `${given} with source` }] },
  })
}
