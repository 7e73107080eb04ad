import type { FailureCode, FailureJson } from '../core/failure.ts'
import type { Db } from '../db/schema.ts'
import { findCapture, failureOf } from '../features/capture/capture-store.ts'
import { captureJob } from '../features/capture/jobs/capture.ts'
import { findJob, type JobState } from '../jobs/job-list.ts'

/** A job as its reader may see it. */
export interface JobStatus {
  id: string
  kind: string
  state: JobState
  /** What the job said of itself last: `{ done, total, message }`. */
  progress: unknown
  /** How often it was begun. */
  attempts: number
  createdAt: string
  finishedAt: string | null
  /** How the last attempt failed; a job that waits after one is tried again. */
  failure: { code: FailureCode; message: string; hint: string } | null
  /** The item that it captures, by the id it has now. */
  item: string | null
}

export async function jobStatus(db: Db, id: number): Promise<JobStatus | undefined> {
  const job = await findJob(db, id)
  if (!job) return undefined
  const status: JobStatus = {
    id: String(job.id),
    kind: job.kind,
    state: job.state,
    progress: job.progress === null ? null : JSON.parse(job.progress),
    attempts: job.attempts,
    createdAt: job.created_at,
    finishedAt: job.finished_at,
    failure: job.failure === null ? null : failureIn(job.failure),
    item: null,
  }
  return job.kind === captureJob.kind ? await withCapture(db, status, JSON.parse(job.input)) : status
}

/** A job that ended well may have found that its capture was withdrawn, which is no good end for who waits for it. */
async function withCapture(db: Db, status: JobStatus, input: unknown): Promise<JobStatus> {
  const { success, data } = captureJob.input.safeParse(input)
  const capture = success ? await findCapture(db, data.captureId) : undefined
  if (!capture) return status
  const failure = capture.state === 'failed' ? failureOf(capture) : undefined
  return {
    ...status,
    item: String(capture.source_id),
    ...(failure && {
      state: status.state === 'completed' ? ('failed' as const) : status.state,
      failure: { code: failure.code, message: failure.message, hint: failure.hint },
    }),
  }
}

function failureIn(text: string): JobStatus['failure'] {
  const { hint, error } = JSON.parse(text) as FailureJson
  return { code: error.code, message: error.message, hint }
}
