import { Failure } from '../core/failure.ts'
import type { Soon } from '../db/runtime.ts'
import type { ServedLibrary } from './server-store.ts'

/** The libraries of many readers, each opened when it is wanted. */
export interface OpenLibraries {
  /**
   * Runs `work` on a reader's library, which stays open at least until it has ended. Throws what opening throws; the next
   * call then tries again.
   */
  use<T>(readerId: string, work: (served: ServedLibrary) => Promise<T>): Promise<T>
  /** Closes a library as soon as nobody uses it, so that its files may be taken away. */
  close(readerId: string): Promise<void>
  /** How many are open. */
  readonly size: number
  /** Waits for those who use a library, and closes all. Nothing may be opened any more. */
  closeAll(): Promise<void>
}

interface Entry {
  opening: Promise<ServedLibrary>
  users: number
  closing: Promise<void> | undefined
  /** Called when the last user has gone. */
  unused: (() => void) | undefined
}

/**
 * Keeps at most `most` libraries open beside those in use: the one that was used longest ago is closed first, one in use
 * never. Whoever wants a library while it is opened or closed waits for that: a file is never open twice here. One that is to
 * be closed and is still used can be used by others too until then.
 */
export function openLibraries(
  open: (readerId: string) => Promise<ServedLibrary>,
  most: number,
  onError: (error: unknown, where: string) => void = () => {},
): OpenLibraries {
  /** In the order of use, the longest ago first. */
  const entries = new Map<string, Entry>()
  let closed = false

  function acquire(readerId: string): Soon<Entry> {
    const known = entries.get(readerId)
    // Whoever uses it may want it once more before they are done, and it is not closed before that.
    if (known?.closing && known.users > 0) return join(known)
    if (closed) throw new Failure('unavailable', 'The server is ending.', { hint: 'Try again in a moment.' })
    if (known?.closing) return known.closing.then(() => acquire(readerId))
    const entry = known ?? { opening: open(readerId), users: 0, closing: undefined, unused: undefined }
    entries.delete(readerId)
    entries.set(readerId, entry)
    join(entry)
    if (!known) evict()
    return entry
  }

  function join(entry: Entry): Entry {
    entry.users++
    return entry
  }

  function release(readerId: string, entry: Entry): void {
    entry.users--
    if (entry.users > 0) return
    entry.unused?.()
    evict()
    // One that could not be opened is not kept.
    entry.opening.catch(() => {
      if (entry.users === 0 && entries.get(readerId) === entry) entries.delete(readerId)
    })
  }

  function evict(): void {
    let excess = entries.size - most
    for (const [readerId, entry] of entries) {
      if (excess <= 0) return
      if (entry.users > 0) continue
      if (!entry.closing) shut(readerId, entry)
      excess--
    }
  }

  function shut(readerId: string, entry: Entry): Promise<void> {
    return (entry.closing ??= (async () => {
      if (entry.users > 0) await new Promise<void>((resolve) => (entry.unused = resolve))
      try {
        const local = await entry.opening.catch(() => undefined)
        await local?.close()
      } catch (error) {
        onError(error, 'close')
      } finally {
        if (entries.get(readerId) === entry) entries.delete(readerId)
      }
    })())
  }

  return {
    async use(readerId, work) {
      const entry = await acquire(readerId)
      try {
        return await work(await entry.opening)
      } finally {
        release(readerId, entry)
      }
    },
    async close(readerId) {
      const entry = entries.get(readerId)
      if (entry) await shut(readerId, entry)
    },
    get size() {
      return entries.size
    },
    async closeAll() {
      closed = true
      await Promise.all([...entries].map(([readerId, entry]) => shut(readerId, entry)))
    },
  }
}
