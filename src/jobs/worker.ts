import type { Job, JobRun } from '../core/define-job.ts'
import type { Library } from '../core/library.ts'
import { toFailure } from '../core/to-failure.ts'
import { isDeadOwner, ownerName } from './job-owner.ts'
import {
  LEASE_MS,
  claimJob,
  completeJob,
  failJob,
  hasDueJobs,
  keepJob,
  releaseDeadJobs,
  releaseJob,
  type QueuedJob,
} from './queue.ts'

export interface WorkerOptions {
  /** How often it looks for work that another process queued, in milliseconds. */
  pollMs?: number
  /** What went wrong, for the log on standard error. */
  onError?: (error: unknown, kind: string) => void
}

export interface Worker {
  /** Looks for work now. */
  wake(): void
  /** Resolves when nothing is due and nothing runs here. Throws what keeps the queue from being read or written. */
  drained(): Promise<void>
  /** Stops taking jobs, gives back what runs, and resolves when all have let go. */
  stop(): Promise<void>
}

/** How often a process may die at a job, beyond the job's own attempts, before the job is taken for the cause. */
const DEATHS = 100

/** How often in a row the queue may refuse before `drained` gives up on it. */
const REFUSALS = 3

/** Doubling from five seconds, as of the attempt that failed. */
const retryDelayMs = (attempt: number): number => 5_000 * 2 ** (attempt - 1)

/** When a job that met a busy library is tried again. */
const LOCKED_DELAY_MS = 5_000

/** Does the library's queued jobs in this process, within each kind's bound, beside any other process that does the same. */
export function startWorker(library: Library, jobs: readonly Job[], options: WorkerOptions = {}): Worker {
  const { pollMs = 2_000, onError = () => {} } = options
  const owner = ownerName()
  const running = new Map<number, { kind: string; abort: AbortController; done: Promise<void> }>()
  const kinds = jobs.map(({ kind }) => kind)
  const byKind = new Map(jobs.map((job) => [job.kind, job]))
  let stopped = false
  let looking: Promise<void> | undefined
  let again = false
  let swept = false
  let refusals = 0
  let refusal: unknown
  /** What kept the outcome of a job from being written down; its row says running until its lease is over. */
  let unwritten: { error: unknown } | undefined
  const timer = setInterval(wake, pollMs)
  timer.unref()

  const free = (): string[] =>
    jobs
      .filter((job) => [...running.values()].filter(({ kind }) => kind === job.kind).length < job.concurrency)
      .map(({ kind }) => kind)

  function wake(): void {
    if (stopped) return
    again = true
    looking ??= look().finally(() => (looking = undefined))
  }

  async function look(): Promise<void> {
    while (again) {
      again = false
      if (stopped) return
      try {
        if (!swept) await releaseDeadJobs(library.db, isDeadOwner, library.now())
        swept = true
        for (;;) {
          const row = await claimJob(library.db, free(), owner, library.now())
          if (!row) break
          begin(row)
        }
        refusals = 0
      } catch (error) {
        refusals++
        refusal = error
        onError(error, 'queue')
        return
      }
    }
  }

  function begin(row: QueuedJob): void {
    const abort = new AbortController()
    const done = runJob(row, abort).finally(() => {
      running.delete(row.id)
      wake()
    })
    running.set(row.id, { kind: row.kind, abort, done })
  }

  async function runJob(row: QueuedJob, abort: AbortController): Promise<void> {
    const job = byKind.get(row.kind)!
    const beat = setInterval(() => {
      keepJob(library.db, row.id, owner, library.now()).then(
        (kept) => !kept && abort.abort(),
        (error: unknown) => onError(error, row.kind),
      )
    }, LEASE_MS / 4)
    beat.unref()
    const run: JobRun = {
      id: row.id,
      attempt: row.attempts,
      signal: abort.signal,
      async progress(done, total, message) {
        const progress = JSON.stringify({ done, total, message })
        if (!(await keepJob(library.db, row.id, owner, library.now(), progress))) abort.abort()
      },
    }
    try {
      const input = job.input.parse(JSON.parse(row.input))
      try {
        if (row.attempts > job.attempts + DEATHS)
          throw new Error(`begun ${row.attempts} times and never ended`)
        await job.run(library, input, run)
        await completeJob(library.db, row.id, owner, library.now())
      } catch (error) {
        // Given back, or lost to a process that does it now: either way it has not failed.
        if (abort.signal.aborted) return await releaseJob(library.db, row.id, owner)
        const failure = toFailure(error)
        // A library that is busy says nothing about the job.
        const locked = failure.code === 'library_locked'
        const mayPass = failure.kind === 'internal' && !job.givesUpOn?.includes(failure.code)
        const retry = locked || (mayPass && row.attempts < job.attempts)
        const now = library.now()
        onError(error, row.kind)
        if (!retry) await job.failed?.(library, input, failure)
        const delay = locked ? LOCKED_DELAY_MS : retryDelayMs(row.attempts)
        const runAt = retry ? new Date(now.getTime() + delay) : undefined
        await failJob(library.db, row.id, owner, now, JSON.stringify(failure), runAt)
      }
    } catch (error) {
      unwritten = { error }
      onError(error, row.kind)
    } finally {
      clearInterval(beat)
    }
  }

  wake()
  return {
    wake,
    async drained() {
      for (;;) {
        wake()
        await looking
        if (refusals >= REFUSALS) throw refusal
        if (unwritten) {
          const { error } = unwritten
          unwritten = undefined
          throw error
        }
        if (running.size > 0) await Promise.race([...running.values()].map(({ done }) => done))
        else if (!again && !(await hasDueJobs(library.db, kinds, library.now()))) return
        else if (stopped) return
        else if (refusals > 0) await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      await looking
      for (const { abort } of running.values()) abort.abort()
      await Promise.allSettled([...running.values()].map(({ done }) => done))
    },
  }
}
