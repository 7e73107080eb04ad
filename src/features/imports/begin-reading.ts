import type { Change } from '../../core/library.ts'
import type { Requested } from '../capture/capture-source.ts'
import { findSource } from '../sources/source-store.ts'
import { alreadyRead } from './follow-capture.ts'
import {
  addBatch,
  beginImport,
  completeImport,
  endWaiting,
  findImport,
  findReading,
  findWaiting,
  listUnderWay,
  type Import,
} from './import-store.ts'
import { readLink } from './jobs/read-link.ts'

/**
 * Wants a source read by the reading aid once its capture is there. A reading that is under way is joined, one whose rest waits
 * for credits is taken up, and a text that was read before is not read again: that import is complete at once. Gives the import.
 */
export async function beginReading(
  change: Change,
  { sourceId, captureId, created }: Pick<Requested, 'sourceId' | 'captureId' | 'created'>,
  url: string | null,
): Promise<Import> {
  const [underWay] = await listUnderWay(change.db, sourceId)
  if (underWay) return underWay
  const waiting = captureId === undefined ? await findWaiting(change.db, sourceId) : undefined
  const resumed = waiting && (await takeUp(change, waiting))
  if (resumed) return resumed
  const id = await beginImport(change, {
    kind: 'link',
    source_id: sourceId,
    capture_id: captureId ?? null,
    url,
    counts: { sources: created ? 1 : 0 },
  })
  if (created) {
    const captured = captureId === undefined ? [] : [['capture', captureId] as const]
    await addBatch(change, id, [['source', sourceId], ...captured])
  }
  const source = await findSource(change.db, sourceId)
  const textId = captureId === undefined ? source?.text_id : undefined
  const before = textId ? await findReading(change.db, sourceId, textId) : undefined
  if (before) await completeImport(change, id, { remarks: [alreadyRead(before.id)] })
  else await change.later(readLink, { importId: id })
  return findImport(change.db, id)
}

/** Takes up, as a new import, the rest of one that waits for credits. Undefined where another process has done so. */
export async function takeUp(change: Change, waiting: Import): Promise<Import | undefined> {
  if (!(await endWaiting(change, waiting.id))) return undefined
  const { source_id, url, text_id, read_to } = waiting
  const id = await beginImport(change, {
    kind: 'link',
    source_id,
    url,
    text_id,
    read_to,
    resumes: waiting.id,
  })
  await change.later(readLink, { importId: id })
  return findImport(change.db, id)
}
