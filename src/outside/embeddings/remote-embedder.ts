import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../core/failure.ts'
import type { EmbedOptions, Embedder } from '../../core/outside.ts'

export interface RemoteEmbedderOptions {
  /** Whose wire form: `/v1/embeddings` of OpenAI, which many servers speak, or `/api/embed` of Ollama. */
  kind: 'openai' | 'ollama'
  /** The server (`http://localhost:11434`), its version (`https://api.openai.com/v1`) or the whole endpoint. */
  url: string
  model: string
  apiKey?: string
  /**
   * Of the vectors. Sent to the server, which may shorten them, and required of its answer; without it, the first answer
   * decides.
   */
  dimensions?: number
  /** Milliseconds for one batch, a repetition included. */
  deadlineMs?: number
}

const BATCH = 64
const DEADLINE_MS = 60_000
/** Before the repetition, where the server does not say how long. */
const PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 10_000
const MOST_BYTES = 32 * 1024 * 1024

/**
 * An embedder over the network: the texts, queries too, go to the server at `url`. The key never follows a redirect. A busy
 * or broken server (429, 5xx, no connection) is asked once more.
 *
 * `embed` throws `unavailable`, `rate_limited`, `timed_out` or `cancelled`. `dimensions` is 0 until the first answer unless
 * it was given.
 */
export function createRemoteEmbedder(options: RemoteEmbedderOptions): Embedder {
  const endpoint = endpointOf(options)
  const closing = new AbortController()
  let dimensions = options.dimensions ?? 0

  const embedBatch = async (texts: string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const { kind, model } = options
    const body = {
      model,
      input: texts,
      ...(options.dimensions && { dimensions: options.dimensions }),
      ...(kind === 'openai' && { encoding_format: 'float' }),
    }
    const answer = await ask(endpoint, body, options, signal)
    const vectors = readVectors(answer, texts.length)
    if (!vectors) throw unusable('The embedding server gave an answer that is not in its documented form.')
    for (const vector of vectors) {
      dimensions ||= vector.length
      if (vector.length !== dimensions) {
        throw unusable(`The embedding server gave ${vector.length} dimensions instead of ${dimensions}.`)
      }
      if (!normalise(vector)) throw unusable('The embedding server gave a vector without a direction.')
    }
    return vectors
  }

  return {
    id: [options.kind, options.model, ...(options.dimensions ? [options.dimensions] : [])].join(':'),
    get dimensions() {
      return dimensions
    },
    embed: async (texts, { signal }: EmbedOptions = {}) => {
      const stop = AbortSignal.any([closing.signal, ...(signal ? [signal] : [])])
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += BATCH) {
        const batch = texts.slice(from, from + BATCH).map((text) => text.toWellFormed() || ' ')
        vectors.push(...(await embedBatch(batch, stop)))
      }
      return vectors
    },
    close: async () => closing.abort(),
  }
}

function endpointOf({ kind, url }: RemoteEmbedderOptions): URL {
  const endpoint = new URL(url)
  const path = endpoint.pathname.replace(/\/+$/, '')
  if (kind === 'ollama') endpoint.pathname = path.endsWith('/api/embed') ? path : `${path}/api/embed`
  else if (!path.endsWith('/embeddings')) endpoint.pathname = `${path || '/v1'}/embeddings`
  return endpoint
}

/** The parsed answer; asks once more where it may help. */
async function ask(
  endpoint: URL,
  body: object,
  { apiKey, deadlineMs = DEADLINE_MS }: RemoteEmbedderOptions,
  stop: AbortSignal,
): Promise<unknown> {
  const deadline = AbortSignal.timeout(deadlineMs)
  const signal = AbortSignal.any([stop, deadline])
  const send = (): Promise<Response> =>
    fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    })
  try {
    let response = await send().catch((error: unknown) => {
      if (signal.aborted) throw error
      return undefined
    })
    if (!response || response.status === 429 || response.status >= 500) {
      await response?.body?.cancel()
      await pause(pauseOf(response), undefined, { signal })
      response = await send()
    }
    if (!response.ok) {
      await response.body?.cancel()
      throw refused(response)
    }
    return await readJson(response)
  } catch (error) {
    if (error instanceof Failure) throw error
    if (stop.aborted) {
      throw new Failure('cancelled', 'Embedding was cancelled.', {
        hint: 'Nothing was changed.',
        cause: error,
      })
    }
    if (deadline.aborted) {
      throw new Failure('timed_out', 'The embedding server did not answer in time.', {
        hint: HINT,
        cause: error,
      })
    }
    throw unusable('The embedding server could not be reached.', error)
  }
}

const HINT = 'Search by words still works. Check the address, the model and the key of the embedding server.'

const unusable = (message: string, cause?: unknown): Failure =>
  new Failure('unavailable', message, { hint: HINT, cause })

function refused(response: Response): Failure {
  const { status } = response
  if (status === 429) {
    return new Failure('rate_limited', 'The embedding server takes no more requests for now.', {
      hint: 'Search by words still works. Try again later.',
      retryAfterSeconds: Math.ceil(pauseOf(response, Infinity) / 1000),
    })
  }
  if (status === 401 || status === 403)
    return unusable(`The embedding server refused the key (status ${status}).`)
  if (status === 404) return unusable('The embedding server knows no such address or model (status 404).')
  return unusable(`The embedding server failed (status ${status}).`)
}

/** Milliseconds that the server asks for (`Retry-After` in seconds), within bounds. */
function pauseOf(response: Response | undefined, most = LONGEST_PAUSE_MS): number {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, most) : PAUSE_MS
}

async function readJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) throw unusable('The embedding server gave an answer of more than 32 MB.')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (error) {
    throw unusable('The embedding server gave an answer that is not JSON.', error)
  }
}

/** The vectors of either wire form in the order of the texts, undefined where the answer has another shape. */
function readVectors(answer: unknown, count: number): Float32Array[] | undefined {
  if (!isRecord(answer)) return undefined
  const rows = Array.isArray(answer['embeddings']) ? answer['embeddings'] : inOrder(answer['data'])
  if (rows?.length !== count || !rows.every(isNumbers)) return undefined
  return rows.map((row) => Float32Array.from(row))
}

/** OpenAI's rows carry their index, and no promise about their order. */
function inOrder(data: unknown): unknown[] | undefined {
  if (!Array.isArray(data) || !data.every(isRecord)) return undefined
  const rows: unknown[] = Array.from(data, () => undefined)
  for (const [i, row] of data.entries()) {
    const index = row['index'] ?? i
    if (typeof index === 'number' && index >= 0 && index < data.length) rows[index] = row['embedding']
  }
  return rows
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
const isNumbers = (row: unknown): row is number[] =>
  Array.isArray(row) && row.length > 0 && row.every((value) => typeof value === 'number')

/** Makes a vector of unit length in place; false where it has no direction. */
function normalise(vector: Float32Array): boolean {
  const length = Math.hypot(...vector)
  if (!(length > 0) || !Number.isFinite(length)) return false
  for (let i = 0; i < vector.length; i++) vector[i]! /= length
  return true
}
