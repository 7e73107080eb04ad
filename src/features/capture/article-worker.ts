import { parentPort } from 'node:worker_threads'
import { Failure } from '../../core/failure.ts'
import type { Article } from './article.ts'
import { readCaptionText, type CaptionText } from './caption-text.ts'
import type { WorkerReply } from './killable-worker.ts'
import { readPage } from './page-reader.ts'
import { readPlainFileText } from './plain-file-text.ts'
import type { PlainFileText } from './plain-file-text.ts'
import type { Reading } from './reading-worker.ts'

// Extractors talk to the console; the program's standard output belongs to the protocol.
for (const name of ['log', 'info', 'warn', 'error', 'debug', 'time', 'timeEnd'] as const)
  console[name] = () => {}

parentPort?.on('message', (reading: Reading) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
  parentPort?.postMessage(answer(reading))
})

function answer(reading: Reading): WorkerReply<Article | PlainFileText | CaptionText> {
  try {
    return { ok: true, value: read(reading) }
  } catch (error) {
    // Anything else ends the worker, which is reported as a page or file that broke it.
    if (!(error instanceof Failure)) throw error
    const { code, message, hint } = error
    return { ok: false, code, message, hint }
  }
}

function read(reading: Reading): Article | PlainFileText | CaptionText {
  const { roughly = false } = reading
  if ('captions' in reading) return readCaptionText(reading.captions)
  return 'page' in reading
    ? readPage(reading.page, { roughly })
    : readPlainFileText(reading.file, { roughly })
}
