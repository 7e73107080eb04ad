import type { Change } from '../../core/library.ts'
import { listCapturesUnderWay } from '../capture/capture-store.ts'
import { captureJob } from '../capture/jobs/capture.ts'
import { listAllUnderWay } from './import-store.ts'
import { importFileJob } from './jobs/import-file.ts'
import { readLink } from './jobs/read-link.ts'

/**
 * Goes on with what an archive took along unfinished: jobs are no part of it, and what is under way without one would stay so for
 * ever, and in the way of every later attempt.
 */
export async function goOnUnfinished(change: Change): Promise<void> {
  for (const captureId of await listCapturesUnderWay(change.db)) await change.later(captureJob, { captureId })
  for (const { id: importId, kind } of await listAllUnderWay(change.db))
    await change.later(kind === 'file' ? importFileJob : readLink, { importId })
}
