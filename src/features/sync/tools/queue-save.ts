import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { text } from '../../../core/text.ts'
import { notLoggedIn } from '../not-logged-in.ts'

export const queueSave = defineTool({
  name: 'queue_save',
  family: 'library',
  title: 'Queue a page for another device',
  description:
    "Leaves an address in the reader's account, so that whichever of their devices captures pages takes it up at its next " +
    'sync. Needs a library that is connected to an account. To capture a page on this computer now, use save_url.',
  input: z.strictObject({
    url: text({ max: 2048 }).describe('Address that begins with http:// or https://'),
    note: text({ max: 500 }).describe('A comment to keep with the item').optional(),
  }),
  output: z.object({ queued: z.boolean(), requestedAt: z.string() }),
  scopes: ['sources:write'],
  effect: 'write',
  reachesOut: true,
  summary: () => 'Queued.',
  run() {
    throw notLoggedIn()
  },
})
