import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { text } from '../../../core/text.ts'
import { requestCapture } from '../../capture/capture-source.ts'
import { findCapture } from '../../capture/capture-store.ts'
import { notLoggedIn } from '../not-logged-in.ts'

export const queueSave = defineTool({
  name: 'queue_save',
  family: 'library',
  title: 'Queue a page for later',
  description:
    "Leaves an address in the reader's account and answers at once: the account's server, or whichever of the reader's " +
    'devices captures pages, fetches it later. What is there or waits already is not queued again, nor is the same note ' +
    'kept twice. Needs a library that is connected to an account. To have the page now, use save_url.',
  input: z.strictObject({
    url: text({ max: 2048 }).describe('Address that begins with http:// or https://'),
    note: text({ max: 500 }).describe('A comment to keep with the item').optional(),
  }),
  output: z.object({
    /** Whether a capture waits now; false where the text is in the library already. */
    queued: z.boolean(),
    /** When the capture that waits was asked for first; ISO 8601. */
    requestedAt: z.string(),
  }),
  scopes: ['sources:write'],
  scopesFor: ({ note }) => (note === undefined ? [] : ['notes:write']),
  effect: 'write',
  reachesOut: true,
  summary: ({ queued }) => (queued ? 'Queued.' : 'It is in the library already.'),
  run(library, { url, note }) {
    if (library.outside.account?.place !== 'here') throw notLoggedIn()
    return library.answer(async (change) => {
      const { captureId } = await requestCapture(change, { url, ...(note !== undefined && { note }) })
      const capture = captureId === undefined ? undefined : await findCapture(change.db, captureId)
      return { queued: capture !== undefined, requestedAt: capture?.requested_at ?? change.at }
    })
  },
})
