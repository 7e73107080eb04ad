import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { notLoggedIn } from '../not-logged-in.ts'

export const sync = defineTool({
  name: 'sync',
  family: 'library',
  title: 'Sync with the account',
  description:
    "Exchanges changes between this library and the reader's account, and captures what was queued from elsewhere where " +
    'this computer is the one that captures. Needs a library that is connected to an account. Drafts no summaries.',
  input: z.strictObject({}),
  output: z.object({ sent: z.number(), received: z.number(), captured: z.number() }),
  scopes: [],
  effect: 'write',
  reachesOut: true,
  places: ['local'],
  summary: ({ sent, received }) => `${sent} changes went, ${received} came.`,
  run() {
    throw notLoggedIn()
  },
})
