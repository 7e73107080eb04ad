import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Failure } from '../core/failure.ts'
import type { EmbedOptions, Embedder } from '../core/outside.ts'
import { workerFile } from '../core/worker-file.ts'
import { ExitGate } from './embeddings/exit-gate.ts'
import type { Reply, Request, RuntimeName, WorkerSettings } from './embeddings/messages.ts'
import { NO_TELEMETRY } from './embeddings/runtime.ts'

const DIMENSIONS = 512
const IDLE_MS = 60_000
/** More threads than this gain nothing on batches of 512 tokens. */
const MOST_THREADS = 4
/** How long a worker may take to end by itself. */
const CLOSE_MS = 5_000
/** How long the end of the process may wait for the batch that the worker is at. */
const EXIT_MS = 2_000

export interface BuiltInEmbedderOptions {
  /** Threads of the native runtime; by default as many as there are processors, four at the most. */
  threads?: number
  /** `auto` takes the native runtime where it is installed, else WebAssembly: the same vectors, slower. */
  runtime?: 'auto' | RuntimeName
  /** The worker ends after so many milliseconds without a request and frees its memory (about 100 MB). */
  idleMs?: number
  /** Told what may interest someone who looks for a cause, such as that the native runtime is missing. */
  log?: (text: string) => void
}

export interface BuiltInEmbedder extends Embedder {
  /** Loads the model if it is not loaded, and says what runs it. Throws like `embed`. */
  runtime(): Promise<RuntimeName>
}

/**
 * The embedder that comes with the program: Universal Sentence Encoder lite (English, 512 dimensions, the first 128 pieces
 * of a text) in a worker thread. Nothing leaves the machine. The worker starts with the first request, a later one starts
 * another if it has ended or crashed, and it never keeps the process alive but for a request that is waiting.
 *
 * `embed` throws `unavailable` (model or runtime missing, worker crashed, embedder closed) and `cancelled` (by the signal).
 */
export function createBuiltInEmbedder(options: BuiltInEmbedderOptions = {}): BuiltInEmbedder {
  const settings = {
    threads: options.threads ?? Math.min(MOST_THREADS, availableParallelism()),
    runtime: options.runtime ?? 'auto',
  }
  const { idleMs = IDLE_MS, log } = options
  let running: ModelWorker | undefined
  let closed = false
  let idle: NodeJS.Timeout | undefined

  const use = async <T>(task: (worker: ModelWorker) => Promise<T>): Promise<T> => {
    if (closed) throw unavailable('The embedding model was closed.')
    clearTimeout(idle)
    if (!running || running.ended) running = new ModelWorker(settings, log)
    const worker = running
    try {
      return await task(worker)
    } finally {
      if (worker === running && worker.resting && !closed) {
        clearTimeout(idle)
        idle = setTimeout(() => void worker.close(), idleMs).unref()
      }
    }
  }

  return {
    id: 'use-lite-1',
    dimensions: DIMENSIONS,
    embed: async (texts, embedOptions = {}) =>
      texts.length === 0 ? [] : use((worker) => worker.embed(texts, embedOptions)),
    runtime: () => use((worker) => worker.ready()),
    close: async () => {
      closed = true
      clearTimeout(idle)
      await running?.close()
    },
  }
}

const unavailable = (message: string, cause?: unknown): Failure =>
  new Failure('unavailable', message, {
    hint: 'Search by words still works. Try again; if it goes on, `commonplace doctor` checks the model.',
    cause,
  })

interface Pending {
  resolve(vectors: Float32Array[]): void
  reject(failure: Failure): void
}

/** One run of the worker thread and the requests that wait for it. */
class ModelWorker {
  /** No further request may go to it. */
  ended = false
  #worker: Worker
  #pending = new Map<number, Pending>()
  #ready: Promise<RuntimeName>
  #settleReady: { resolve(runtime: RuntimeName): void; reject(failure: Failure): void } | undefined
  #waitingForReady = 0
  #exited: Promise<void>
  #count = 0
  #log: ((text: string) => void) | undefined

  constructor(settings: Omit<WorkerSettings, 'gate'>, log: ((text: string) => void) | undefined) {
    this.#log = log
    // ONNX Runtime 1.29 and newer reports what it does to its makers unless the environment of the process says no, which a
    // worker cannot change: https://github.com/microsoft/onnxruntime/blob/main/docs/Privacy.md
    process.env[NO_TELEMETRY] = '1'
    const gate = new SharedArrayBuffer(8)
    const workerData: WorkerSettings = { ...settings, gate }
    const shut = (): void => new ExitGate(gate).shut(EXIT_MS)
    process.on('exit', shut)
    // Standard output belongs to the protocol: whatever a runtime prints there goes nowhere.
    // (To read that stream would keep the process alive.)
    this.#worker = new Worker(workerFile('embedding-worker'), {
      workerData,
      stdout: true,
      execArgv: [],
      name: 'embedding',
    })
    this.#ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject }
    })
    this.#ready.catch(() => {}) // who waits for it is told, and often nobody does
    this.#worker.on('message', (reply: Reply) => this.#receive(reply))
    this.#worker.on('error', (error) => this.#end('The embedding model crashed.', error))
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        process.off('exit', shut)
        this.#end('The embedding model ended unexpectedly.')
        resolve()
      })
    })
    this.#hold()
  }

  /** Nothing waits for an answer. */
  get resting(): boolean {
    return this.#pending.size === 0 && this.#waitingForReady === 0
  }

  async ready(): Promise<RuntimeName> {
    this.#waitingForReady++
    this.#hold()
    try {
      return await this.#ready
    } finally {
      this.#waitingForReady--
      this.#hold()
    }
  }

  embed(texts: string[], { signal, priority = 'bulk' }: EmbedOptions): Promise<Float32Array[]> {
    const cancelled = (): Failure =>
      new Failure('cancelled', 'Embedding was cancelled.', {
        hint: 'Nothing was changed.',
        cause: signal?.reason,
      })
    if (signal?.aborted) return Promise.reject(cancelled())
    const id = ++this.#count
    const vectors = new Promise<Float32Array[]>((resolve, reject) =>
      this.#pending.set(id, { resolve, reject }),
    )
    this.#hold()
    this.#send({ type: 'embed', id, rank: priority === 'query' ? 0 : 1, texts })
    const cancel = (): void => {
      this.#send({ type: 'cancel', id })
      this.#settle(id)?.reject(cancelled())
    }
    signal?.addEventListener('abort', cancel, { once: true })
    return vectors.finally(() => signal?.removeEventListener('abort', cancel))
  }

  /** Ends the worker after the batch that it is at; what waits is refused. */
  async close(): Promise<void> {
    if (!this.ended) this.#send({ type: 'close' })
    this.#end('The embedding model was closed.')
    const late = setTimeout(() => void this.#worker.terminate(), CLOSE_MS)
    this.#worker.ref()
    await this.#exited
    clearTimeout(late)
  }

  #send(request: Request): void {
    this.#worker.postMessage(request, [])
  }

  #receive(reply: Reply): void {
    if (reply.type === 'ready') {
      this.#settleReady?.resolve(reply.runtime)
    } else if (reply.type === 'note') {
      this.#log?.(reply.text)
    } else if (reply.type === 'vectors') {
      const { vectors } = reply
      const count = vectors.length / DIMENSIONS
      const rows = Array.from({ length: count }, (_, i) =>
        vectors.slice(i * DIMENSIONS, (i + 1) * DIMENSIONS),
      )
      this.#settle(reply.id)?.resolve(rows)
    } else if (reply.type === 'failed') {
      this.#settle(reply.id)?.reject(unavailable('The embedding model failed on these texts.', reply.cause))
    } else {
      this.#end('The embedding model could not be loaded.', reply.cause)
    }
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    this.#hold()
    return pending
  }

  #end(message: string, cause?: unknown): void {
    if (this.ended) return
    this.ended = true
    const failure = unavailable(message, cause)
    this.#settleReady?.reject(failure)
    for (const { reject } of this.#pending.values()) reject(failure)
    this.#pending.clear()
    this.#hold()
  }

  /** The process waits for the worker exactly as long as someone waits for an answer. */
  #hold(): void {
    if (this.resting) this.#worker.unref()
    else this.#worker.ref()
  }
}
