import { isFault, toFailure } from '../core/to-failure.ts'
import type { WorkDue, Claim } from '../db/runtime.ts'
import { queueEmbedding } from '../features/search/jobs/embed-passages.ts'
import { nextDue } from '../jobs/queue.ts'
import { JOBS } from '../jobs/registry.ts'
import { nextDaily, scheduleDaily } from '../jobs/schedule.ts'
import { startWorker, type Worker } from '../jobs/worker.ts'
import type { OpenLibraries } from './open-libraries.ts'
import type { ServedLibrary } from './server-store.ts'

export interface LibraryWork {
  /** How many libraries are worked on here now. */
  readonly size: number
  /** Looks for libraries with work now. */
  wake(): void
  /** Resolves when no library is due and none is worked on here. */
  drained(): Promise<void>
  /** Gives back what runs, and resolves when all have let go. */
  stop(): Promise<void>
}

export interface LibraryWorkOptions {
  libraries: OpenLibraries
  due: WorkDue
  /** How many libraries are worked on at once. */
  concurrency: number
  pollMs?: number
  now?: () => Date
  onError?: (error: unknown, where: string) => void
}

interface Turn {
  done: Promise<void>
  /** While jobs may be begun. */
  worker: Worker | undefined
  /** Whether the library was marked while it had its turn. */
  again: boolean
}

const KINDS = JOBS.map(({ kind }) => kind)
/** How long one library may have its turn while others wait. */
const TURN_MS = 60_000
/** A process that works on a library and dies is missed after this, or when the next one starts. */
const LEASE_MS = 30_000
/** A library that cannot be worked on is tried again after this. */
const TROUBLE_MS = 10 * 60_000
/** What says nothing about the library. */
const PASSING: readonly string[] = ['unavailable', 'library_locked']

/** Does the queued jobs of all libraries, a few libraries at a time, beside other processes that do the same. */
export function workOnLibraries(options: LibraryWorkOptions): LibraryWork {
  const { libraries, due, concurrency, pollMs = 2_000, now = () => new Date(), onError = () => {} } = options
  const active = new Map<string, Turn>()
  let stopped = false
  let looking: Promise<void> | undefined
  let again = false
  let failing = false
  /** Whether what dead processes held was given back. */
  let reclaimed = false
  const timer = setInterval(wake, pollMs)
  timer.unref()

  /** A page that could not be had is told to its reader; the log is for what is wrong here. */
  const tell = (error: unknown, where: string): void => {
    if (isFault(error)) onError(error, where)
  }

  function wake(): void {
    if (stopped || concurrency === 0) return
    for (const { worker } of active.values()) worker?.wake()
    again = true
    looking ??= look().finally(() => {
      looking = undefined
      // Asked again while the last look ended.
      if (again) wake()
    })
  }

  async function look(): Promise<void> {
    while (again) {
      again = false
      if (stopped) return
      try {
        if (!reclaimed) await due.reclaim(now().getTime())
        reclaimed = true
        const free = concurrency - active.size
        if (free <= 0) return
        for (const claim of await due.claim(now().getTime(), LEASE_MS, free)) {
          const turn = active.get(claim.library)
          // What it was marked for may be seen in this turn or not: it gets another.
          if (turn) turn.again = true
          else begin(claim)
        }
        failing = false
      } catch (error) {
        // Asked every few seconds, a database that is gone would fill the log.
        if (!failing) onError(error, 'work_due')
        failing = true
      }
    }
  }

  function begin(claim: Claim): void {
    const turn: Turn = { done: Promise.resolve(), worker: undefined, again: false }
    active.set(claim.library, turn)
    turn.done = take(claim, turn).finally(() => {
      active.delete(claim.library)
      wake()
    })
  }

  async function take(claim: Claim, turn: Turn): Promise<void> {
    let next: Date
    let keeping = Promise.resolve()
    const beat = setInterval(() => (keeping = keep(claim)), LEASE_MS / 3)
    beat.unref()
    try {
      next = await libraries.use(claim.library, (local) => work(local, turn))
    } catch (error) {
      onError(error, 'work')
      const mayPass = PASSING.includes(toFailure(error).code)
      next = new Date(now().getTime() + (mayPass ? LEASE_MS : TROUBLE_MS))
    } finally {
      clearInterval(beat)
      await keeping
    }
    try {
      await due.settle(claim, next.getTime())
      if (turn.again) await due.mark(claim.library, now().getTime())
    } catch (error) {
      onError(error, 'work_due')
    }
  }

  async function keep(claim: Claim): Promise<void> {
    try {
      await due.renew(claim, now().getTime() + LEASE_MS)
    } catch (error) {
      onError(error, 'work_due')
    }
  }

  /**
   * Resolves to when the library wants to be looked at next. A mark is set inside the transaction that queues a job, and the
   * worker's first look waits for that transaction to end: what a library was marked for is always seen.
   */
  async function work({ library }: ServedLibrary, turn: Turn): Promise<Date> {
    await scheduleDaily(library)
    await queueEmbedding(library)
    const worker = startWorker(library, JOBS, { onError: tell })
    turn.worker = worker
    let over: NodeJS.Timeout | undefined
    const turnOver = new Promise<void>((resolve) => {
      over = setTimeout(resolve, TURN_MS)
      over.unref()
    })
    try {
      if (!stopped) await Promise.race([worker.drained(), turnOver])
    } finally {
      clearTimeout(over)
      turn.worker = undefined
      await worker.stop()
    }
    const daily = await nextDaily(library)
    const next = await nextDue(library.db, KINDS)
    return next && next < daily ? next : daily
  }

  wake()
  return {
    get size() {
      return active.size
    },
    wake,
    async drained() {
      for (;;) {
        wake()
        await looking
        if (active.size === 0) return
        await Promise.race([...active.values()].map(({ done }) => done))
      }
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      await looking
      await Promise.all([...active.values()].map(({ worker, done }) => Promise.all([worker?.stop(), done])))
    },
  }
}
