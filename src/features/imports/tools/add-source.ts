import { z } from 'zod'
import { confirming } from '../../../core/confirming.ts'
import { defineTool } from '../../../core/define-tool.ts'
import { Failure } from '../../../core/failure.ts'
import { text } from '../../../core/text.ts'
import { requestCapture } from '../../capture/capture-source.ts'
import { addBook } from '../add-book.ts'
import { beginReading } from '../begin-reading.ts'
import { creditsLeft, describeImport, importEntry, tellImport } from '../describe-import.ts'

const named = (max: number) =>
  text({ max }).refine((words) => words.trim() !== '', { error: 'must not be blank' })

export const addSource = defineTool({
  name: 'add_source',
  family: 'highlights',
  title: 'Add a source',
  description:
    'Adds a page, a YouTube video, a podcast episode or a book to the library. A url is fetched and saved as a text (of a video ' +
    'or episode the transcript) and its best passages are marked as highlights, in the background: follow the import_id ' +
    'with get_import. A book is added by title and author at once, without a text. Give url or book, not both; what is ' +
    'there is not added twice, and comes out of the trash. On a server a url costs AI credits by length; without credits it ' +
    'is saved all the same and read later. To save a page without highlights use save_url, for passages that the reader ' +
    'names add_highlights.',
  input: z.strictObject({
    url: text({ max: 2_048 }).describe('Address that begins with http:// or https://').optional(),
    book: z
      .strictObject({
        title: named(1_000),
        author: named(500).describe('The first author, as on the cover'),
        language: text({ max: 64 }).describe('Tag such as en or pt-BR').optional(),
      })
      .describe('A book, instead of a url')
      .optional(),
    ...confirming,
  }),
  output: importEntry.extend({
    /** Whether the library had no such source before. */
    created: z.boolean(),
  }),
  scopes: ['sources:write'],
  effect: 'write',
  reachesOut: true,
  summary: (output) =>
    output.kind === 'book'
      ? `“${output.title}” ${output.created ? 'was added' : 'was in the library already'}.`
      : output.status === 'pending' || output.status === 'processing'
        ? `Import ${output.import_id} has begun: ${tellImport(output)}`
        : tellImport(output),
  async run(library, { url, book }, { signal }) {
    if ((url === undefined) === (book === undefined)) {
      throw new Failure(
        'invalid_input',
        url === undefined ? 'Neither url nor book was given.' : 'Both url and book were given.',
        {
          hint: 'Give url for a page, video or episode, or book with title and author: one of the two.',
        },
      )
    }
    const left = await creditsLeft(library)
    signal.throwIfAborted()
    return library.answer(async (change) => {
      if (book) {
        const { own, created } = await addBook(change, book)
        return { ...(await describeImport(change, own)), ...left, created }
      }
      const requested = await requestCapture(change, { url: url! })
      const own = await beginReading(change, requested, url!)
      return { ...(await describeImport(change, own)), ...left, created: requested.created }
    })
  },
})
