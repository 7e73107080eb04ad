import type { z } from 'zod'
import type { FailureCode } from './failure.ts'
import type { Library } from './library.ts'

/** What a running job may say of itself and must listen to. */
export interface JobRun {
  id: number
  /** How often it was begun, this time included. */
  attempt: number
  /** Aborts when the process ends or the lease is lost. */
  signal: AbortSignal
  progress(done: number, total?: number, message?: string): Promise<void>
}

export interface Job<I = unknown> {
  kind: string
  input: z.ZodType<I>
  /** How often it may be begun before it counts as failed. */
  attempts: number
  /** Failures that another try would only repeat, beside those that are the asker's own fault. */
  givesUpOn?: readonly FailureCode[]
  /** How many of the kind one process runs at a time. */
  concurrency: number
  run(library: Library, input: I, run: JobRun): Promise<void>
  /** Last words of a job that will not be tried again. */
  failed?(library: Library, input: I, failure: unknown): Promise<void>
}

/** Work that is queued with the change that wants it and done later, at least once, by one process at a time. */
export function defineJob<I>(
  job: Omit<Job<I>, 'attempts' | 'concurrency'> & Partial<Pick<Job<I>, 'attempts' | 'concurrency'>>,
): Job<I> {
  return { attempts: 3, concurrency: 1, ...job }
}
