/** Entry of the worker thread that holds the built-in embedding model (`embeddings.ts` talks to it). */
import { readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { ExitGate } from './embeddings/exit-gate.ts'
import type { Reply, Request, WorkerSettings } from './embeddings/messages.ts'
import { loadNative, loadWeb, type LoadedModel } from './embeddings/runtime.ts'
import { SentenceEncoder, type Encoding } from './embeddings/sentence-encoder.ts'
import { Tokenizer } from './embeddings/tokenizer.ts'
import { openVocabulary } from './embeddings/vocabulary.ts'

interface Waiting {
  id: number
  rank: number
  encoding: Encoding
}

const port = parentPort
if (!port) throw new Error('runs as a worker only')
const settings: WorkerSettings = workerData
const gate = new ExitGate(settings.gate)
const waiting: Waiting[] = []
let encoder: SentenceEncoder | undefined
/** WebAssembly may be stopped anywhere; native work may not. */
let nativeWork = <T>(work: () => Promise<T>): Promise<T> => gate.pass(work)
const state = { working: false, closing: false }

const say = (reply: Reply, transfer: ArrayBuffer[] = []): void => port.postMessage(reply, transfer)
const reason = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error)

async function loadModel(): Promise<LoadedModel> {
  const model = await readFile(new URL('./model/use-lite.onnx', import.meta.url))
  const web = new URL('./ort/', import.meta.url)
  if (settings.runtime === 'web') return loadWeb(model, web)
  try {
    return await gate.pass(() => loadNative(model, settings.threads))
  } catch (error) {
    if (settings.runtime === 'native') throw error
    say({ type: 'note', text: `The native runtime is not there, the slower one is used: ${reason(error)}` })
    return loadWeb(model, web)
  }
}

/** Works off what waits, batch by batch, and looks for messages in between: so a query overtakes a long run. */
async function work(): Promise<void> {
  if (state.working) return
  state.working = true
  for (let next = waiting[0]; next && !state.closing; next = waiting[0]) {
    await workOn(next)
    await setImmediate()
  }
  state.working = false
  if (state.closing) await end()
}

async function workOn(request: Waiting): Promise<void> {
  const { id, encoding } = request
  try {
    await nativeWork(() => encoding.step())
    if (!encoding.done) return
    if (drop(id)) say({ type: 'vectors', id, vectors: encoding.vectors }, [encoding.vectors.buffer])
  } catch (error) {
    if (drop(id)) say({ type: 'failed', id, cause: reason(error) })
  }
}

/** Takes a request off the list; false where it is no longer there. */
function drop(id: number): boolean {
  const at = waiting.findIndex((request) => request.id === id)
  if (at >= 0) waiting.splice(at, 1)
  return at >= 0
}

async function end(): Promise<void> {
  await nativeWork(async () => encoder?.close())
  port?.close()
}

function receive(request: Request): void {
  if (request.type === 'close') {
    state.closing = true
    if (!state.working) void end()
  } else if (request.type === 'cancel') {
    drop(request.id)
  } else if (encoder) {
    const { id, rank, texts } = request
    const behind = waiting.findIndex((other) => other.rank > rank)
    waiting.splice(behind < 0 ? waiting.length : behind, 0, { id, rank, encoding: encoder.start(texts) })
    void work()
  }
}

try {
  const vocabularyFile = readFile(new URL('./model/vocabulary.bin', import.meta.url))
  const [model, vocabulary] = await Promise.all([loadModel(), vocabularyFile])
  if (model.runtime === 'web') nativeWork = (work) => work()
  encoder = new SentenceEncoder(model, new Tokenizer(openVocabulary(vocabulary)))
  port.on('message', receive) // what was sent meanwhile has waited in the port
  say({ type: 'ready', runtime: model.runtime })
} catch (error) {
  say({ type: 'broken', cause: reason(error) })
  port.close()
}
