import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../core/failure.ts'
import type { LanguageModel, ModelQuestion } from '../../core/outside.ts'
import { ANTHROPIC_FORM } from './anthropic-form.ts'
import { GOOGLE_FORM } from './google-form.ts'
import { OLLAMA_FORM } from './ollama-form.ts'
import { OPENAI_FORM } from './openai-form.ts'
import type { Reading, WireForm } from './wire-form.ts'

export type Provider = 'openai' | 'anthropic' | 'google' | 'ollama'

export interface LanguageModelOptions {
  /** Whose wire form; `openai` is any server that speaks it. */
  provider: Provider
  /** Base address, as the provider documents it; the provider's own where absent. */
  url?: string
  /** The model's name at the provider. */
  name: string
  apiKey?: string
  /** Milliseconds for one question, repetitions included. */
  deadlineMs?: number
  /** Milliseconds before the first repetition, where the server does not say how long; the second takes three times that. */
  pauseMs?: number
}

const FORMS: Record<Provider, WireForm> = {
  openai: OPENAI_FORM,
  anthropic: ANTHROPIC_FORM,
  google: GOOGLE_FORM,
  ollama: OLLAMA_FORM,
}

const BASES: Record<Provider, string> = {
  openai: 'https://api.openai.com',
  anthropic: 'https://api.anthropic.com',
  google: 'https://generativelanguage.googleapis.com',
  ollama: 'http://localhost:11434',
}

const DEADLINE_MS = 120_000
const PAUSE_MS = 1_000
/** A server that asks for more is not waited for. */
const LONGEST_PAUSE_MS = 20_000
const REPETITIONS = 2
const MOST_BYTES = 4 * 1024 * 1024
const HINT =
  'Meanwhile what is built in does the work. Check COMMONPLACE_MODEL and the variables beside it; `commonplace doctor --model` asks it a question.'

/**
 * A language model over the network: what is asked goes to the server at `url`, which may stand on a private address, as
 * whoever runs the program chose it. The key goes in a header, never into an address, a failure or over a redirect. A busy or
 * broken server (429, 5xx, no connection) is asked twice more, after as long as it asks for.
 *
 * `answer` throws `unavailable`, `timed_out`, `rate_limited`, `model_refused` or `cancelled`.
 */
export function createLanguageModel(options: LanguageModelOptions): LanguageModel {
  const { provider, name, apiKey, deadlineMs = DEADLINE_MS } = options
  const form = FORMS[provider]
  const base = new URL(options.url ?? BASES[provider])
  const endpoint = form.endpoint(base, name)
  const headers = { 'content-type': 'application/json', ...form.headers(apiKey) }
  let schemaInWords = false

  const send = async (question: ModelQuestion, signal: AbortSignal): Promise<Response> => {
    const body = JSON.stringify(form.body(question, name, { base, schemaInWords }))
    return fetch(endpoint, { method: 'POST', headers, body, redirect: 'error', signal })
  }

  return {
    id: `${provider}:${name}`,
    answer: async (question) => {
      const { signal: stop } = question
      const deadline = AbortSignal.timeout(deadlineMs)
      const signal = stop ? AbortSignal.any([stop, deadline]) : deadline
      try {
        let response = await askPatiently(() => send(question, signal), signal, options.pauseMs ?? PAUSE_MS)
        if ((response.status === 400 || response.status === 422) && !schemaInWords) {
          // Many servers that speak one of the forms leave the part about schemas out.
          await response.body?.cancel()
          schemaInWords = true
          response = await askPatiently(() => send(question, signal), signal, options.pauseMs ?? PAUSE_MS)
          if (!response.ok) schemaInWords = false
        }
        if (!response.ok) {
          await response.body?.cancel()
          throw refused(response)
        }
        return jsonOf(form.read(await readJson(response)))
      } catch (error) {
        if (error instanceof Failure) throw error
        if (stop?.aborted) {
          throw new Failure('cancelled', 'The question to the language model was cancelled.', {
            hint: 'Nothing was changed.',
            cause: error,
          })
        }
        if (deadline.aborted) {
          throw new Failure('timed_out', 'The language model did not answer in time.', {
            hint: HINT,
            cause: error,
          })
        }
        throw unusable('The language model could not be reached.', error)
      }
    },
  }
}

/** The first answer that is neither "busy" nor "broken", or the last of those. */
async function askPatiently(
  send: () => Promise<Response>,
  signal: AbortSignal,
  firstPauseMs: number,
): Promise<Response> {
  for (let left = REPETITIONS, usual = firstPauseMs; ; left--, usual *= 3) {
    const response = await send().catch((error: unknown) => {
      if (signal.aborted || left === 0) throw error
      return undefined
    })
    if (response && response.status !== 429 && response.status < 500) return response
    const wait = response ? (askedPause(response) ?? usual) : usual
    if (response && (left === 0 || wait > LONGEST_PAUSE_MS)) return response
    await response?.body?.cancel()
    await pause(wait, undefined, { signal })
  }
}

/** Milliseconds that `Retry-After` asks for, in seconds or as a date. */
function askedPause({ headers }: Response): number | undefined {
  const asked = headers.get('retry-after')
  if (asked === null) return undefined
  const seconds = Number(asked)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000)
  const date = Date.parse(asked)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}

function refused(response: Response): Failure {
  const { status } = response
  if (status === 429) {
    const asked = askedPause(response)
    return new Failure('rate_limited', 'The language model takes no more questions for now.', {
      hint: 'Meanwhile what is built in does the work. Try again later, or look at the limits of your account there.',
      ...(asked !== undefined && { retryAfterSeconds: Math.ceil(asked / 1_000) }),
    })
  }
  if (status === 401 || status === 403) {
    return unusable(`The language model's provider refused the key (status ${status}).`)
  }
  if (status === 404) {
    return unusable("The language model's provider knows no such address or model (status 404).")
  }
  if (status < 500) {
    return unusable(`The language model's provider did not take the question (status ${status}).`)
  }
  return unusable(`The language model's provider failed (status ${status}).`)
}

const unusable = (message: string, cause?: unknown): Failure =>
  new Failure('unavailable', message, { hint: HINT, ...(cause !== undefined && { cause }) })

async function readJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) throw unusable('The language model gave an answer of more than 4 MB.')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    // The parser's own message would quote the answer.
    throw unusable("The language model's provider gave an answer that is not JSON.")
  }
}

function jsonOf(reading: Reading): unknown {
  if ('json' in reading) return reading.json
  if ('text' in reading) {
    const json = parseLoosely(reading.text)
    if (json !== undefined) return json
    throw unusable('The language model gave an answer that is not JSON.')
  }
  if (reading.stopped === 'refused') {
    throw new Failure('model_refused', 'The language model declined to answer.', {
      hint: 'What is built in does the work. Another model may take this text.',
    })
  }
  if (reading.stopped === 'too_long') {
    throw unusable('The language model was cut off in the middle of its answer.')
  }
  throw unusable('The language model gave an answer that is not in its documented form.')
}

/** JSON, also with the thinking before it and the fence around it that models without a schema like to add. */
function parseLoosely(text: string): unknown {
  let bare = text.trim()
  if (bare.startsWith('<think>')) bare = bare.slice(bare.indexOf('</think>') + '</think>'.length).trim()
  if (bare.startsWith('```')) bare = bare.slice(bare.indexOf('\n') + 1, bare.lastIndexOf('```'))
  try {
    return JSON.parse(bare)
  } catch {
    return undefined
  }
}
