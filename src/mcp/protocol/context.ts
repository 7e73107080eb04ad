import { missingCapability } from './errors.ts'
import { isObject, metaOf, notificationMessage, type Json, type Request } from './messages.ts'
import { isModern, type Revision } from './revisions.ts'

/** What a transport knows about the sender of one request. */
export interface Caller {
  revision: Revision
  capabilities: Json
  client?: Json | undefined
  /** Who is calling, as the transport's own check found. */
  principal?: unknown
  /** Sends a line that belongs to this request, before its answer; absent where nothing can be sent. */
  notify?: ((line: string) => void) | undefined
  /** Asks the client and waits (older revisions on stdio); absent where the connection cannot. */
  ask?: Ask | undefined
  /** Lowest level the client wants to hear of; absent: none. */
  logLevel?: LogLevel | undefined
}

/** Rejects when the client refuses, when it goes and when `signal` aborts. */
export type Ask = (method: string, params: Json, signal: AbortSignal) => Promise<Json>

/** RFC 5424, from the least to the most severe. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof LEVELS)[number]

export const isLevel = (value: unknown): value is LogLevel => LEVELS.some((level) => level === value)

export interface Answers {
  inputResponses: Json
  requestState: string | undefined
}

/** What the rounds of one request share. */
interface Life {
  abort: AbortController | undefined
  cancelled: boolean
  ended: boolean
  progress: number
}

/** One request as the application sees it. */
export class Context {
  readonly request: Request
  readonly caller: Caller
  /** The answers to what was asked, by the keys of `inputRequests`; checked by nobody yet. */
  readonly inputResponses: Json
  readonly requestState: string | undefined
  readonly #token: unknown
  #life: Life = { abort: undefined, cancelled: false, ended: false, progress: -Infinity }

  constructor(request: Request, caller: Caller, answers?: Answers) {
    const { params } = request
    const given = answers ?? params
    this.request = request
    this.caller = caller
    this.inputResponses = isObject(given['inputResponses']) ? given['inputResponses'] : {}
    this.requestState = typeof given['requestState'] === 'string' ? given['requestState'] : undefined
    this.#token = metaOf(params)?.['progressToken']
  }

  /** The same request with answers to what it asked: cancelled and ended together with it. */
  withAnswers(answers: Answers): Context {
    const next = new Context(this.request, this.caller, answers)
    next.#life = this.#life
    return next
  }

  get revision(): Revision {
    return this.caller.revision
  }

  /** Aborts when the client cancels or goes away. Made on demand: most calls never look. */
  get signal(): AbortSignal {
    const abort = (this.#life.abort ??= new AbortController())
    if (this.#life.cancelled) abort.abort()
    return abort.signal
  }

  get cancelled(): boolean {
    return this.#life.cancelled
  }

  cancel(): void {
    if (this.#life.ended || this.#life.cancelled) return
    this.#life.cancelled = true
    this.#life.abort?.abort()
  }

  /** After the answer nothing more may be sent for the request. */
  end(): void {
    this.#life.ended = true
  }

  /** Whether the client can be asked at all; look before returning an `InputRequired`. */
  canAsk(kind: 'elicitation' | 'sampling' | 'roots' = 'elicitation'): boolean {
    if (!isModern(this.revision) && !this.caller.ask) return false
    return declares(this.caller.capabilities, kind)
  }

  /** Throws `-32021` unless the client declared the capability. */
  require(kind: string): void {
    if (!isObject(this.caller.capabilities[kind])) throw missingCapability({ [kind]: {} })
  }

  /**
   * Tells how far the request is, in any unit, where the client gave a token; says nothing otherwise. Progress only
   * rises: a report that is no higher than the one before is dropped.
   */
  progress(progress: number, total?: number, message?: string): void {
    if (typeof this.#token !== 'string' && typeof this.#token !== 'number') return
    if (!(progress > this.#life.progress)) return
    this.#life.progress = progress
    this.#send('notifications/progress', { progressToken: this.#token, progress, total, message })
  }

  /** Logs to the client, where it asked for this level; `data` is any JSON. */
  log(level: LogLevel, data: unknown, logger?: string): void {
    const lowest = this.caller.logLevel
    if (lowest === undefined || LEVELS.indexOf(level) < LEVELS.indexOf(lowest)) return
    this.#send('notifications/message', { level, logger, data })
  }

  #send(method: string, params: Json): void {
    const { ended, cancelled } = this.#life
    if (!ended && !cancelled) this.caller.notify?.(notificationMessage(method, params))
  }
}

const NEEDS = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
])

type Questions = Record<string, { method: string }>

const undeclared = (context: Context, questions: Questions): string | undefined =>
  Object.values(questions)
    .map(({ method }) => NEEDS.get(method))
    .find((kind) => kind !== undefined && !declares(context.caller.capabilities, kind))

/** Throws `-32021` when a question needs what the client did not declare. */
export function checkQuestions(context: Context, questions: Questions): void {
  const kind = undeclared(context, questions)
  if (kind !== undefined) throw missingCapability({ [kind]: {} })
}

/** How an older client is asked these questions on its own connection; `undefined` where it cannot be. */
export const askerOf = (context: Context, questions: Questions): Ask | undefined =>
  undeclared(context, questions) === undefined ? context.caller.ask : undefined

/** `elicitation: {}` means forms; a client that lists only `url` takes no forms. */
function declares(capabilities: Json, kind: string): boolean {
  const declared = capabilities[kind]
  if (!isObject(declared)) return false
  return kind !== 'elicitation' || 'form' in declared || !('url' in declared)
}
