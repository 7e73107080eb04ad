import { z } from 'zod'
import { defineTool } from '../core/define-tool.ts'
import { text } from '../core/text.ts'
import { requestCapture } from '../features/capture/capture-source.ts'
import { findCaptureJob } from '../features/capture/capture-store.ts'
import { itemShape, toBareItem } from '../features/sources/item.ts'
import { findItem } from '../features/sources/source-store.ts'

/**
 * What `POST /api/files` does once the file lies in the media store: in no list of tools, since a file is nothing that a model
 * can send, yet run through the one way in like any other write.
 */
export const addFile = defineTool({
  name: 'add_file',
  family: 'library',
  title: 'Add a file',
  description:
    'Puts a page, PDF, EPUB, Markdown or text file into the library and captures it. A file that is there already adds nothing.',
  input: z.strictObject({
    /** Media hash of the file. */
    hash: z.string().regex(/^[0-9a-f]{64}$/),
    fileName: z.string().max(255).nullable(),
    url: text({ max: 2048 }).describe('Where the file came from').optional(),
    title: text({ max: 500 }).describe('A title instead of its own').optional(),
    note: text({ max: 500 }).describe('A comment to keep with the item').optional(),
    tags: z
      .array(text({ max: 100 }))
      .max(50)
      .describe('Tags to put on the item')
      .optional(),
  }),
  output: z.object({
    item: itemShape,
    /** `captured` where the text is there already. */
    state: z.enum(['captured', 'pending']),
    created: z.boolean(),
    /** The job that captures it: /api/jobs/{job} tells how far it is. */
    job: z.string().nullable(),
  }),
  scopes: ['sources:write'],
  scopesFor: ({ note }) => (note === undefined ? [] : ['notes:write']),
  effect: 'write',
  summary: ({ item }) => `“${item.title}” is in the library.`,
  run: (library, { hash, fileName, url, title, note, tags }) =>
    library.answer(async (change) => {
      const { sourceId, captureId, created } = await requestCapture(change, {
        given: { hash, name: fileName },
        ...(url !== undefined && { url }),
        ...(title !== undefined && { title }),
        ...(note !== undefined && { note }),
        ...(tags && { tags }),
      })
      const job = captureId === undefined ? undefined : await findCaptureJob(change.db, captureId)
      return {
        item: toBareItem(await findItem(change.db, String(sourceId))),
        state: captureId === undefined ? ('captured' as const) : ('pending' as const),
        created,
        job: job === undefined ? null : String(job),
      }
    }),
})
