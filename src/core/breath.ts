import { setImmediate } from 'node:timers/promises'

const MOST_MS = 15

/** For long work on the main thread: call it often, and others get their turn every few milliseconds. */
export function breather(): () => Promise<void> | undefined {
  let last = performance.now()
  let calls = 0
  const rest = async (): Promise<void> => {
    await setImmediate()
    last = performance.now()
  }
  return () => ((++calls & 15) !== 0 || performance.now() - last < MOST_MS ? undefined : rest())
}
