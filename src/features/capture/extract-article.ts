import { Worker } from 'node:worker_threads'
import { Failure } from '../../core/failure.ts'
import { workerFile } from '../../core/worker-file.ts'
import type { Article, GivenPage } from './article.ts'
import type { WorkerReply } from './killable-worker.ts'

export interface ExtractOptions {
  signal?: AbortSignal
  /** Milliseconds for the page itself; waiting for pages before it does not count. 10,000 unless told. */
  deadlineMs?: number
  /** Milliseconds for a rough reading where that time was not enough; 5,000 unless told. */
  roughDeadlineMs?: number
}

/** Larger pages are refused unread: with scripts and styles gone, 12 million characters may be left (see `limitSource`). */
const MAX_HTML = 32_000_000
const MAX_BYTES = 2 * MAX_HTML
const HEAP_MB = 384
const IDLE_MS = 5_000

let idle: { worker: Worker; timer: NodeJS.Timeout } | undefined
/** Pages are read one after another: memory is that of one page. */
let lane: Promise<unknown> = Promise.resolve()

/**
 * Reads the article of a page in a worker that is killed when its time is up. The worker is kept a few seconds for the next
 * page and never keeps the process alive. A page that took too long or too much memory, or broke the worker, is read once
 * more, roughly, which its `warnings` say.
 *
 * Throws `too_large` (more than 12 million characters without scripts and styles, or more memory than a page may take),
 * `timed_out`, `cancelled`, `damaged_file`, and where `asked` is given, what `recogniseWall` finds. A page without an article
 * is no failure: its `words` are 0.
 */
export function extractArticle(page: GivenPage, options: ExtractOptions = {}): Promise<Article> {
  const { deadlineMs = 10_000, roughDeadlineMs = 5_000 } = options
  const turn = lane.then(async () => {
    if (options.signal?.aborted) throw cancelled()
    if (page.html === undefined ? page.bytes.byteLength > MAX_BYTES : page.html.length > MAX_HTML)
      throw tooLarge()
    try {
      return await readNow(page, deadlineMs, options.signal)
    } catch (error) {
      if (!(error instanceof Failure) || !MAY_BE_READ_ROUGHLY.has(error.code)) throw error
      return await readNow({ ...page, roughly: true }, roughDeadlineMs, options.signal)
    }
  })
  lane = turn.catch(() => {})
  return turn
}

const MAY_BE_READ_ROUGHLY: ReadonlySet<string> = new Set(['timed_out', 'too_large', 'damaged_file'])

async function readNow(
  page: GivenPage,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<Article> {
  if (signal?.aborted) throw cancelled()
  const worker = takeWorker()
  worker.ref()
  let finish = () => {}
  let isSound = false
  try {
    const article = await new Promise<Article>((resolve, reject) => {
      const timer = setTimeout(() => reject(timedOut(deadlineMs)), deadlineMs)
      const onAbort = () => reject(cancelled())
      const onMessage = (reply: WorkerReply<Article>) => {
        isSound = true
        if (reply.ok) resolve(reply.value)
        else reject(new Failure(reply.code, reply.message, { hint: reply.hint }))
      }
      const onError = (error: Error & { code?: string }) =>
        reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(error) : broken(error))
      const onExit = (code: number) => reject(broken(new Error(`the worker left with code ${code}`)))
      finish = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      worker.on('message', onMessage).on('error', onError).on('exit', onExit)
      // Bytes move as a copy: the caller keeps the page, and a second reading needs them again.
      const bytes = page.html === undefined ? Uint8Array.from(page.bytes) : undefined
      worker.postMessage({ ...page, ...(bytes && { bytes }) }, bytes ? [bytes.buffer] : [])
    })
    return article
  } finally {
    finish()
    if (isSound) putAside(worker)
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

function timedOut(deadlineMs: number): Failure {
  return new Failure(
    'timed_out',
    `Reading the page took longer than ${Math.ceil(deadlineMs / 1000)} seconds.`,
    {
      hint: 'Try again when the computer is less busy, or save the part you want and give the file.',
    },
  )
}

function tooLarge(cause?: unknown): Failure {
  return new Failure('too_large', 'The page is too large to be read.', {
    hint: 'Give the article’s own address instead of a collection, or save the part you want and give the file.',
    ...(cause !== undefined && { cause }),
  })
}

function cancelled(): Failure {
  return new Failure('cancelled', 'Reading the page was cancelled.', {
    hint: 'Ask again if it is still wanted.',
  })
}

function broken(cause: unknown): Failure {
  return new Failure('damaged_file', 'The page broke the program that reads pages.', {
    hint: 'Save the page from the browser as text or PDF and give the file.',
    cause,
  })
}
