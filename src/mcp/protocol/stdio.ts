import type { Readable, Writable } from 'node:stream'
import type { App } from './app.ts'
import { checkBatch, checkBatched } from './batch.ts'
import { Context, isLevel, type Caller, type LogLevel } from './context.ts'
import { createDispatcher } from './dispatch.ts'
import { Code, RpcError, toRpcError } from './errors.ts'
import { claimsModern, claimsServed, readMeta } from './headers.ts'
import { LineReader } from './line-reader.ts'
import {
  errorMessage,
  idOf,
  isId,
  isObject,
  resultMessage,
  toMessage,
  type Id,
  type Json,
  type Request,
} from './messages.ts'
import { Questions } from './questions.ts'
import { UNNAMED_REVISION, negotiate, type LegacyRevision } from './revisions.ts'
import { takeOutput } from './stdio-output.ts'

export interface StdioOptions {
  input?: Readable
  output?: Writable
  /** A longer line is answered with an error and dropped. */
  maxLineBytes?: number
  /** How long unfinished requests may take once the input has ended. */
  graceMs?: number
  /** Signals that end the serving as the end of input does, only sooner. Absent: SIGTERM and SIGINT on `process.stdin`. */
  signals?: readonly NodeJS.Signals[]
  /** Told of what is no `RpcError`: the client hears only "Internal error". */
  onError?: (error: unknown) => void
}

/** What clients wait for after their SIGTERM is two seconds; this and `LAST_MS` twice stay under it. */
const SIGNAL_GRACE_MS = 1000
/** How long cancelled work may take to stop, and the last lines to be read. */
const LAST_MS = 400

/**
 * Serves one client on a pair of streams, by default those of the process, of which the output then carries protocol
 * lines only. Resolves when the client is gone, or a signal came, and its requests are done or cancelled: what the
 * application holds can then be closed.
 */
export function serveStdio(app: App, options: StdioOptions = {}): Promise<void> {
  const { input = process.stdin, output = process.stdout, maxLineBytes = 10 * 1024 * 1024 } = options
  const { graceMs = 10_000, onError = () => {} } = options
  const { signals = input === process.stdin ? ['SIGTERM', 'SIGINT'] : [] } = options
  const { dispatch } = createDispatcher(app)
  const { write, flush } = takeOutput(output, input)
  const questions = new Questions(write)
  const running = new Map<Id, Context>()
  const work = new Set<Promise<void>>()

  /** What an older client said of itself in `initialize`; requests of 2026-07-28 never look here. */
  const session: {
    revision: LegacyRevision
    capabilities: Json
    client: Json | undefined
    logLevel: LogLevel
  } = {
    revision: UNNAMED_REVISION,
    capabilities: {},
    client: undefined,
    logLevel: 'debug',
  }

  function modernCaller(params: Json): Caller {
    const { logLevel, ...caller } = readMeta(params)
    return { ...caller, notify: write, ...(app.logging && { logLevel }) }
  }

  function legacyCaller(method: string, params: Json): Caller {
    if (method === 'initialize') {
      session.revision = negotiate(params['protocolVersion'])
      session.capabilities = isObject(params['capabilities']) ? params['capabilities'] : {}
      session.client = isObject(params['clientInfo']) ? params['clientInfo'] : undefined
    }
    if (method === 'logging/setLevel' && isLevel(params['level'])) session.logLevel = params['level']
    const { revision, capabilities, client, logLevel } = session
    return {
      revision,
      capabilities,
      client,
      notify: write,
      ask: questions.ask,
      ...(app.logging && { logLevel }),
    }
  }

  async function answer(request: Request): Promise<string | undefined> {
    const { id, method, params } = request
    const modern = method === 'initialize' ? claimsServed(params) : claimsModern(params)
    let context: Context | undefined
    try {
      context = new Context(request, modern ? modernCaller(params) : legacyCaller(method, params))
      running.set(id, context)
      const result = await dispatch(context)
      return context.cancelled ? undefined : resultMessage(id, result)
    } catch (error) {
      if (context?.cancelled) return undefined
      if (!(error instanceof RpcError)) onError(error)
      return errorMessage(id, toRpcError(error, modern))
    } finally {
      context?.end()
      if (running.get(id) === context) running.delete(id)
    }
  }

  async function handle(value: unknown, batched: boolean): Promise<string | undefined> {
    try {
      const message = toMessage(value)
      if (batched) checkBatched(message)
      if (message.kind === 'request') return await answer(message)
      if (message.kind === 'response') questions.answer(message)
      else if (message.method === 'notifications/cancelled') cancel(message.params['requestId'])
      return undefined
    } catch (error) {
      return errorMessage(idOf(value), toRpcError(error, true))
    }
  }

  function cancel(id: unknown): void {
    if (isId(id)) running.get(id)?.cancel()
  }

  async function handleBatch(values: unknown[]): Promise<string | undefined> {
    try {
      checkBatch(session.revision, values.length)
    } catch (error) {
      return errorMessage(null, toRpcError(error, false))
    }
    const answers = await Promise.all(values.map((value) => handle(value, true)))
    const lines = answers.filter((line) => line !== undefined)
    return lines.length === 0 ? undefined : `[${lines.join(',')}]`
  }

  async function reply(value: unknown): Promise<void> {
    try {
      const line = await (Array.isArray(value) ? handleBatch(value) : handle(value, false))
      if (line !== undefined) write(line)
    } catch (error) {
      onError(error)
    }
  }

  const reader = new LineReader(maxLineBytes, {
    line(line) {
      let value: unknown
      try {
        value = JSON.parse(line)
      } catch {
        write(errorMessage(null, new RpcError(Code.parse, 'Parse error: the line is not valid JSON')))
        return
      }
      const done = reply(value).finally(() => work.delete(done))
      work.add(done)
    },
    tooLong(head, tail) {
      const why = `A line must not exceed ${maxLineBytes} bytes`
      write(errorMessage(idAtEnds(head, tail), new RpcError(Code.invalidRequest, why)))
    },
  })

  /** Ends the wait that goes on, if one does. */
  let hurry = (): void => {}

  /** Waits for the requests that run, no longer than `ms`. */
  const settled = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      if (work.size === 0) return resolve()
      const timer = setTimeout(() => hurry(), ms)
      hurry = () => {
        clearTimeout(timer)
        resolve()
      }
      void Promise.all(work).then(hurry)
    })

  return new Promise((resolve) => {
    let over = false
    const finish = async (waitMs: number): Promise<void> => {
      if (over) return
      over = true
      input.off('data', onData)
      input.pause()
      questions.end()
      await settled(waitMs)
      for (const context of running.values()) context.cancel()
      await settled(LAST_MS)
      if (output.writable) await atMost(LAST_MS, flush())
      for (const signal of signals) process.off(signal, onSignal)
      resolve()
    }
    const onData = (chunk: Buffer): void => reader.push(chunk)
    const onEnd = (): void => {
      if (!over) reader.end()
      void finish(graceMs)
    }
    const onSignal = (): void => {
      // A second signal finds no handler of ours and ends the process at once.
      for (const signal of signals) process.off(signal, onSignal)
      if (over) hurry()
      else void finish(SIGNAL_GRACE_MS)
    }
    for (const signal of signals) process.on(signal, onSignal)
    input.on('data', onData)
    for (const event of ['end', 'close', 'error']) input.on(event, onEnd)
    for (const event of ['error', 'close']) output.on(event, () => void finish(0))
  })
}

async function atMost(ms: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}

const ID = String.raw`"id":(-?\d{1,16}|"[^"\\]{0,100}")`
const AT_HEAD = new RegExp(String.raw`^\{"jsonrpc":"2\.0",${ID},`)
const AT_TAIL = new RegExp(String.raw`,"jsonrpc":"2\.0",${ID}\}$`)

/**
 * The id of a line too long to be read, where it stands first or last, as the known clients write it. Nothing else can
 * look so at either end of a valid message: quotes inside of a string are escaped, and the last brace is the message's.
 */
function idAtEnds(head: string, tail: string): Id | null {
  const found = (AT_HEAD.exec(head) ?? AT_TAIL.exec(tail.trimEnd()))?.[1]
  if (found === undefined) return null
  const id: unknown = JSON.parse(found)
  return isId(id) ? id : null
}
