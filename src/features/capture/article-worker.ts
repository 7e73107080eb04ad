import { parentPort } from 'node:worker_threads'
import { Failure } from '../../core/failure.ts'
import type { Article, GivenPage } from './article.ts'
import type { WorkerReply } from './killable-worker.ts'
import { readPage } from './page-reader.ts'

// Extractors talk to the console; the program's standard output belongs to the protocol.
for (const name of ['log', 'info', 'warn', 'error', 'debug', 'time', 'timeEnd'] as const)
  console[name] = () => {}

parentPort?.on('message', (page: GivenPage) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
  parentPort?.postMessage(answer(page))
})

function answer(page: GivenPage): WorkerReply<Article> {
  try {
    return { ok: true, value: readPage(page) }
  } catch (error) {
    // Anything else ends the worker, which is reported as a page that broke it.
    if (!(error instanceof Failure)) throw error
    const { code, message, hint } = error
    return { ok: false, code, message, hint }
  }
}
