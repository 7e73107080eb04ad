import { Worker } from 'node:worker_threads'
import { Failure } from '../../core/failure.ts'
import { workerFile } from '../../core/worker-file.ts'
import type { Article, ArticlePage } from './article.ts'
import type { WorkerReply } from './killable-worker.ts'

export interface ExtractOptions {
  signal?: AbortSignal
  /** Milliseconds for the page itself; waiting for pages before it does not count. 10,000 unless told. */
  deadlineMs?: number
}

/** HTML of more characters is refused unread: with scripts and styles gone, 5 million may be left (see `limitSource`). */
const MAX_HTML = 32_000_000
const HEAP_MB = 384
const IDLE_MS = 5_000

let idle: { worker: Worker; timer: NodeJS.Timeout } | undefined
/** Pages are read one after another: memory is that of one page. */
let lane: Promise<unknown> = Promise.resolve()

/**
 * Reads the article of a page in a worker that is killed when its time is up. The worker is kept a few seconds for the next
 * page and never keeps the process alive.
 *
 * Throws `too_large` (more than 5 million characters without scripts and styles, or more memory than a page may take),
 * `timed_out`, `cancelled`, `damaged_file`. A page without an article is no failure: its `words` are 0.
 */
export function extractArticle(page: ArticlePage, options: ExtractOptions = {}): Promise<Article> {
  const turn = lane.then(() => readNow(page, options))
  lane = turn.catch(() => {})
  return turn
}

async function readNow({ html, url }: ArticlePage, options: ExtractOptions): Promise<Article> {
  const { signal, deadlineMs = 10_000 } = options
  if (signal?.aborted) throw cancelled()
  if (html.length > MAX_HTML) throw tooLarge()
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
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
      worker.postMessage({ html, url })
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
