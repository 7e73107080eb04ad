import { Failure } from '../../core/failure.ts'
import type { Library } from '../../core/library.ts'
import { findCapture, isUnderWay } from './capture-store.ts'
import { storeFailure } from './store-captured.ts'

const LOOK_MS = 200

/**
 * Gives an attempt up for the one who asked for it: its work stops, whichever process does it, and what was only made to be
 * filled by it goes to the trash. What is captured already stays.
 */
export async function withdrawCapture(library: Library, captureId: number): Promise<void> {
  await library.change(async (change) => {
    const capture = await findCapture(change.db, captureId)
    if (!capture || !isUnderWay(capture)) return
    const withdrawn = new Failure('cancelled', 'The capture was cancelled.', {
      hint: 'Save it again when it is wanted after all.',
    })
    await storeFailure(change, capture, withdrawn)
  })
}

/** A signal for the work on an attempt that aborts when it was withdrawn. Call `stop` when the work is over. */
export function watchForWithdrawal(
  library: Library,
  captureId: number,
): { signal: AbortSignal; stop(): void } {
  const withdrawn = new AbortController()
  const look = setInterval(() => {
    findCapture(library.db, captureId).then(
      (capture) => capture && !isUnderWay(capture) && withdrawn.abort(),
      // A library that cannot be read now fails the work itself.
      () => {},
    )
  }, LOOK_MS)
  look.unref()
  return { signal: withdrawn.signal, stop: () => clearInterval(look) }
}
