import { z } from 'zod'
import { defineTool, type Call } from '../../../core/define-tool.ts'
import type { Library } from '../../../core/library.ts'
import { text } from '../../../core/text.ts'
import { itemShape, toBareItem } from '../../sources/item.ts'
import { requestCapture, type CaptureRequest, type Requested } from '../capture-source.ts'
import { failureOf, findCapture, remarkOn, sourceOf, waitForCapture, type Capture } from '../capture-store.ts'
import { withdrawCapture } from '../withdraw-capture.ts'

const WAIT_MS = 60_000

export const saveUrl = defineTool({
  name: 'save_url',
  family: 'library',
  title: 'Save a page',
  description:
    'Fetches a web page, a PDF, a YouTube video (its transcript) or a podcast episode and keeps its text in the library, ' +
    'now; waits up to a minute for it. An optional note is ' +
    'attached as a comment. Saving what is there already adds nothing, nor does the same note again. ' +
    'Gives the item with its state: captured, or pending where the page takes longer (read_item has the text later). ' +
    'To leave the capture to another device, use queue_save.',
  input: z.strictObject({
    url: text({ max: 2048 }).describe('Address that begins with http:// or https://'),
    note: text({ max: 500 }).describe('A comment to keep with the item').optional(),
  }),
  output: z.object({
    item: itemShape,
    state: z.enum(['captured', 'pending']),
    created: z.boolean(),
    /** Set where a worse text was put aside and the one before is still read, or where the text was taken with losses. */
    note: z.string().optional(),
  }),
  scopes: ['sources:write'],
  scopesFor: ({ note }) => (note === undefined ? [] : ['notes:write']),
  effect: 'write',
  reachesOut: true,
  summary: ({ item, state, created }) =>
    state === 'pending'
      ? `“${item.title}” is being captured.`
      : created
        ? `Saved “${item.title}”.`
        : `“${item.title}” was in the library already.`,
  async run(library, { url, note }, call) {
    const request = { url, ...(note !== undefined && { note }) }
    const { sourceId, captureId, created } = await captureAndWait(library, request, call)
    return library.answer(async (change) => {
      const capture = captureId === undefined ? undefined : await findCapture(change.db, captureId)
      const source = await sourceOf(change.db, { source_id: capture?.source_id ?? sourceId })
      const pending = capture !== undefined && capture.state !== 'completed'
      const remark = capture && remarkOn(capture)
      return {
        item: toBareItem(source),
        state: pending ? ('pending' as const) : ('captured' as const),
        created: created && source.id === sourceId,
        ...(remark !== undefined && { note: remark }),
      }
    })
  },
})

/** Asks for a capture and waits for it. The caller's own attempt is withdrawn when the caller goes away. */
async function captureAndWait(
  library: Library,
  request: CaptureRequest,
  { signal, progress }: Call,
): Promise<Requested> {
  const until = Date.now() + WAIT_MS
  const ask = () => library.change((change) => requestCapture(change, request))
  let requested = await ask()
  const { created } = requested
  while (requested.captureId !== undefined) {
    progress(0, 1, `Fetching ${request.url}`)
    const capture = await waitOrWithdraw(requested.captureId)
    const failure = capture.state === 'failed' ? failureOf(capture) : undefined
    if (!failure) {
      progress(1, 1)
      break
    }
    if (failure.code !== 'cancelled') throw failure
    // The one whose attempt we joined no longer wants the page; we do.
    requested = await ask()
  }
  return { ...requested, created }

  async function waitOrWithdraw(captureId: number): Promise<Capture> {
    try {
      return await waitForCapture(library, captureId, { timeoutMs: until - Date.now(), signal })
    } catch (error) {
      if (signal.aborted && requested.begun) await withdrawCapture(library, captureId)
      throw error
    }
  }
}
