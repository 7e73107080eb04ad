import { Worker } from 'node:worker_threads'
import { Failure } from '../../core/failure.ts'
import { workerFile } from '../../core/worker-file.ts'
import type { GivenPage } from './article.ts'
import { cpuDeadline } from './cpu-deadline.ts'
import type { GivenCaptions } from './caption-text.ts'
import type { WorkerReply } from './killable-worker.ts'
import type { GivenPlainFile } from './plain-file-text.ts'

/** What the worker is asked to read, one at a time. */
export type Reading = ({ page: GivenPage } | { file: GivenPlainFile } | { captions: GivenCaptions }) & {
  /** Takes the words without their form: for what is too much for more. Captions have none. */
  roughly?: boolean
}

export interface ReadingOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds of the processor for the reading itself; waiting for others before it does not count. */
  deadlineMs: number
  /** Milliseconds for a rough reading where that time was not enough. */
  roughDeadlineMs: number
  /** What it is called in messages. */
  what: 'page' | 'file'
}

const HEAP_MB = 384
const IDLE_MS = 5_000
/** After more bytes or characters than this the worker goes, and the memory that it grew by with it. */
const KEPT_AFTER = 1_000_000

let idle: { worker: Worker; timer: NodeJS.Timeout } | undefined
/** One is read after another: memory is that of one. */
let lane: Promise<unknown> = Promise.resolve()

const MAY_BE_READ_ROUGHLY: ReadonlySet<string> = new Set(['timed_out', 'too_large', 'damaged_file'])

/**
 * Reads a page or a text in a worker that is killed when its time is up. The worker is kept a few seconds for the next and
 * never keeps the process alive. What took too long or too much memory, or broke the worker, is read once more, roughly.
 *
 * Fails with what the reader says, with `timed_out`, `too_large` (memory), `cancelled`, or `damaged_file` where the worker
 * broke on it.
 */
export function readInWorker<T>(reading: Reading, options: ReadingOptions): Promise<T> {
  const { deadlineMs, roughDeadlineMs } = options
  const turn = lane.then(async () => {
    try {
      return await readNow<T>(reading, deadlineMs, options)
    } catch (error) {
      if (!(error instanceof Failure) || !MAY_BE_READ_ROUGHLY.has(error.code)) throw error
      return await readNow<T>({ ...reading, roughly: true }, roughDeadlineMs, options)
    }
  })
  lane = turn.catch(() => {})
  return turn
}

async function readNow<T>(
  reading: Reading,
  deadlineMs: number,
  { signal, what }: ReadingOptions,
): Promise<T> {
  if (signal?.aborted) throw cancelled(what)
  const worker = takeWorker()
  worker.ref()
  let finish = () => {}
  let isSound = false
  try {
    return await new Promise<T>((resolve, reject) => {
      const stop = cpuDeadline(deadlineMs, () => reject(timedOut(what, deadlineMs)))
      const onAbort = () => reject(cancelled(what))
      const onMessage = (reply: WorkerReply<T>) => {
        isSound = true
        if (reply.ok) resolve(reply.value)
        else reject(new Failure(reply.code, reply.message, { hint: reply.hint }))
      }
      const onError = (error: Error & { code?: string }) =>
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(what, error) : broken(what, error))
      const onExit = (code: number) => reject(broken(what, new Error(`the worker left with code ${code}`)))
      finish = () => {
        stop()
        signal?.removeEventListener('abort', onAbort)
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      const [message, transfer] = withOwnBytes(reading)
      worker.postMessage(message, transfer)
    })
  } finally {
    finish()
    if (isSound && sizeOf(reading) <= KEPT_AFTER) putAside(worker)
    else await worker.terminate()
  }
}

function takeWorker(): Worker {
  if (idle) {
    const { worker, timer } = idle
    clearTimeout(timer)
    idle = undefined
    return worker
  }
  const worker = new Worker(workerFile('article-worker'), {
    // Kept away from standard output, which belongs to the protocol. (To read the streams would keep the process alive.)
    stdout: true,
    stderr: true,
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  })
  // A worker that breaks between two pages is no longer there for the next; on a page, `readNow` reports it.
  worker.on('error', () => {})
  worker.on('exit', () => {
    if (idle?.worker === worker) idle = undefined
  })
  return worker
}

function putAside(worker: Worker): void {
  const timer = setTimeout(() => {
    idle = undefined
    void worker.terminate()
  }, IDLE_MS)
  timer.unref()
  worker.unref()
  idle = { worker, timer }
}

function sizeOf(reading: Reading): number {
  const given = givenIn(reading)
  return 'bytes' in given ? given.bytes.byteLength : given.html.length
}

/** Bytes move as a copy: the caller keeps its own, and a second reading needs them again. */
function withOwnBytes(reading: Reading): [Reading, ArrayBuffer[]] {
  if ('page' in reading) {
    const { page } = reading
    if (!('bytes' in page)) return [reading, []]
    const bytes = Uint8Array.from(page.bytes)
    return [{ ...reading, page: { ...page, bytes } }, [bytes.buffer]]
  }
  const bytes = Uint8Array.from('file' in reading ? reading.file.bytes : reading.captions.bytes)
  return 'file' in reading
    ? [{ ...reading, file: { ...reading.file, bytes } }, [bytes.buffer]]
    : [{ ...reading, captions: { ...reading.captions, bytes } }, [bytes.buffer]]
}

function givenIn(reading: Reading): GivenPage | GivenPlainFile | GivenCaptions {
  if ('page' in reading) return reading.page
  return 'file' in reading ? reading.file : reading.captions
}

function timedOut(what: string, deadlineMs: number): Failure {
  return new Failure(
    'timed_out',
    `Reading the ${what} took longer than ${Math.ceil(deadlineMs / 1000)} seconds.`,
    {
      hint: 'Try again when the computer is less busy, or save the part you want and give the file.',
    },
  )
}

/** Of a page or text that is more than can be read. */
export function tooLarge(what: ReadingOptions['what'], cause?: unknown): Failure {
  return new Failure('too_large', `The ${what} is too large to be read.`, {
    hint:
      what === 'page'
        ? 'Give the article’s own address instead of a collection, or save the part you want and give the file.'
        : 'Split it and add the parts.',
    ...(cause !== undefined && { cause }),
  })
}

function cancelled(what: string): Failure {
  return new Failure('cancelled', `Reading the ${what} was cancelled.`, {
    hint: 'Ask again if it is still wanted.',
  })
}

function broken(what: string, cause: unknown): Failure {
  return new Failure('damaged_file', `The ${what} broke the program that reads it.`, {
    hint: 'Save it in another form, as text or PDF, and give that file.',
    cause,
  })
}
