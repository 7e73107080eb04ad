import { z } from 'zod'
import { defineJob } from '../../../core/define-job.ts'
import { toFailure } from '../../../core/to-failure.ts'
import { afterCapture } from '../../capture/capture-store.ts'
import { followCapture } from '../follow-capture.ts'
import { failImport, findImport } from '../import-store.ts'
import { returnPayment } from '../pay-for-stretch.ts'

/** A capture tells when it ends; this is for one whose end was missed. */
const LOOK_AGAIN_MS = 10 * 60_000

/** Follows an import of a link: its capture first, and then the reading of what was captured. */
export const readLink = defineJob({
  kind: 'read-link',
  input: z.object({ importId: z.number() }),
  concurrency: 2,
  async run(library, { importId }, run) {
    const followed = await library.change(async (change) => {
      const followed = await followCapture(change, importId)
      if (followed.state === 'waits') {
        const runAt = new Date(library.now().getTime() + LOOK_AGAIN_MS)
        await change.later(readLink, { importId }, { key: afterCapture(followed.captureId), runAt })
      }
      return followed
    })
    if (followed.state !== 'ready') return
    const { readSource } = await import('../read-source.ts')
    await readSource(library, followed, run)
  },
  async failed(library, { importId }, failure) {
    const { text_id, read_to } = await findImport(library.db, importId)
    if (text_id !== null) await returnPayment(library, importId, { start: read_to ?? 0 })
    await library.change((change) => failImport(change, importId, toFailure(failure)))
  },
})
