import { parentPort, Worker } from 'node:worker_threads'
import { Failure, type FailureCode } from '../../core/failure.ts'
import { workerFile } from '../../core/worker-file.ts'
import { cpuDeadline } from './cpu-deadline.ts'

/** What a worker of this folder answers, once. */
export type WorkerReply<T> =
  | { ok: true; value: T }
  | { ok: false; code: FailureCode; message: string; hint: string }

export interface KillableOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds of the processor, from the start of the work; waiting for other work does not count. */
  deadlineMs: number
  /** Heap of the worker, in MiB. */
  heapMb: number
  /** What the whole process may grow by while the worker runs, in MiB: buffers lie outside the heap. */
  growthMb: number
  /** Buffers of the request that move to the worker instead of being copied. */
  transfer?: ArrayBuffer[]
  /** What the file is called in messages, such as `PDF`. */
  what: string
}

/** The worker's side: does the one piece of work and answers. What is not a failure of ours broke on the file. */
export function answerOnce<R, T>(what: string, work: (request: R) => Promise<T>): void {
  const answer = (reply: WorkerReply<T>): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
    parentPort?.postMessage(reply)
  }
  parentPort?.once('message', (request: R) => {
    void work(request).then(
      (value) => answer({ ok: true, value }),
      (error: unknown) => {
        const { code, message, hint } = error instanceof Failure ? error : broken(what, error)
        answer({ ok: false, code, message, hint })
      },
    )
  })
}

const WATCH_MS = 100

/** Work on files is done one at a time, so that memory is that of one file. */
let lane: Promise<unknown> = Promise.resolve()

/**
 * Runs one request in a worker of its own that is killed when time, memory or the reader's patience runs out.
 *
 * Fails with what the worker reports, with `timed_out`, `too_large` (memory), `cancelled`, or `damaged_file` when the
 * worker broke on the file. What the worker prints is dropped: standard output belongs to the protocol.
 */
export function runKillable<T>(worker: string, request: unknown, options: KillableOptions): Promise<T> {
  const run = lane.then(() => runNow<T>(worker, request, options))
  lane = run.catch(() => undefined)
  return run
}

async function runNow<T>(name: string, request: unknown, options: KillableOptions): Promise<T> {
  if (options.signal?.aborted) throw cancelled(options.what)
  const worker = new Worker(workerFile(name), {
    stdout: true,
    stderr: true,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: options.heapMb, maxYoungGenerationSizeMb: 32 },
  })
  const before = process.memoryUsage.rss()
  let stop = (): void => {}
  let watch: NodeJS.Timeout | undefined
  let onAbort: (() => void) | undefined
  try {
    return await new Promise<T>((resolve, reject) => {
      stop = cpuDeadline(options.deadlineMs, () => reject(timedOut(options)))
      watch = setInterval(() => {
        if (process.memoryUsage.rss() - before > options.growthMb * 2 ** 20) reject(tooLarge(options.what))
      }, WATCH_MS)
      onAbort = () => reject(cancelled(options.what))
      options.signal?.addEventListener('abort', onAbort)
      worker.once('message', (reply: WorkerReply<T>) => {
        if (reply.ok) resolve(reply.value)
        else reject(new Failure(reply.code, reply.message, { hint: reply.hint }))
      })
      worker.once('error', (error: Error & { code?: string }) => {
        reject(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? tooLarge(options.what, error)
            : broken(options.what, error),
        )
      })
      worker.once('exit', (code) => reject(broken(options.what, new Error(`worker left with code ${code}`))))
      worker.postMessage(request, options.transfer ?? [])
    })
  } finally {
    stop()
    clearInterval(watch)
    if (onAbort) options.signal?.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}

function cancelled(what: string): Failure {
  return new Failure('cancelled', `Reading the ${what} was cancelled.`, {
    hint: 'Add it again when you like.',
  })
}

function timedOut(options: KillableOptions): Failure {
  const seconds = Math.round(options.deadlineMs / 1000)
  return new Failure('timed_out', `Reading the ${options.what} took longer than ${seconds} s.`, {
    hint: 'Try again when the computer is less busy, or add the part that you want to read as a file of its own.',
  })
}

function tooLarge(what: string, cause?: unknown): Failure {
  return new Failure('too_large', `The ${what} needs more memory than is set aside for reading one file.`, {
    hint: 'Split it and add the parts, or save it again in a simpler form.',
    cause,
  })
}

function broken(what: string, cause: unknown): Failure {
  return new Failure('damaged_file', `The ${what} could not be read: it broke the reader.`, {
    hint: `Open it in another program and save it again, then add the new file.`,
    cause,
  })
}
