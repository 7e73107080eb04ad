import type { Selectable } from 'kysely'
import { Failure } from '../../core/failure.ts'
import type { Library } from '../../core/library.ts'
import type { Db, Schema } from '../../db/schema.ts'
import { findSource, type Source } from '../sources/source-store.ts'

/** What a source is called while nothing is known of it. */
export const UNTITLED = 'Untitled'

/** One attempt to capture a page or file. */
export type Capture = Selectable<Schema['capture']>

const POLL_MS = 60

/**
 * Waits until an attempt has ended, at most `timeoutMs` milliseconds. Answers with the attempt as it then stands; its work is
 * done by whichever process has a worker.
 */
export async function waitForCapture(
  library: Library,
  captureId: number,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<Capture> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const capture = await findCapture(library.db, captureId)
    if (!capture)
      throw new Failure('item_not_found', 'The item was removed while it was captured.', {
        hint: 'Add it again.',
      })
    if (!isUnderWay(capture) || Date.now() >= deadline) return capture
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** Whether an attempt has not ended yet, well or badly. */
export const isUnderWay = ({ state }: Pick<Capture, 'state'>): boolean =>
  state === 'pending' || state === 'processing'

export const findCapture = (db: Db, id: number): Promise<Capture | undefined> =>
  db.selectFrom('capture').selectAll().where('id', '=', id).executeTakeFirst()

/** The failure that an attempt ended in. */
export function failureOf(capture: Pick<Capture, 'failure'>): Failure | undefined {
  if (capture.failure === null) return undefined
  const { code, message, hint } = JSON.parse(capture.failure) as {
    code: Failure['code']
    message: string
    hint: string
  }
  return new Failure(code, message, { hint })
}

/** The source that an attempt was made for, by the id it has now: a page may have turned out to be one that was there. */
export async function sourceOf(db: Db, capture: Pick<Capture, 'source_id'>): Promise<Source> {
  const source = await findSource(db, capture.source_id)
  if (source) return source
  throw new Failure('item_not_found', 'The item is no longer in the library.', { hint: 'Add it again.' })
}
