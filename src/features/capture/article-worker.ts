import { parentPort } from 'node:worker_threads'
import { Failure } from '../../core/failure.ts'
import type { Article, ArticlePage } from './article.ts'
import { readArticle } from './article-reader.ts'
import type { WorkerReply } from './killable-worker.ts'

// Extractors talk to the console; the program's standard output belongs to the protocol.
for (const name of ['log', 'info', 'warn', 'error', 'debug', 'time', 'timeEnd'] as const)
  console[name] = () => {}

parentPort?.on('message', (page: ArticlePage) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
  parentPort?.postMessage(answer(page))
})

function answer(page: ArticlePage): WorkerReply<Article> {
  try {
    return { ok: true, value: readArticle(page) }
  } catch (error) {
    // Anything else ends the worker, which is reported as a page that broke it.
    if (!(error instanceof Failure)) throw error
    const { code, message, hint } = error
    return { ok: false, code, message, hint }
  }
}
