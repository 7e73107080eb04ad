/** The program as a client starts it, with everything that it writes kept for looking at. */
import { spawn, type ChildProcess } from 'node:child_process'
import { isObject, type Json } from '../../src/mcp/protocol/messages.ts'
import { CAPABILITIES, V } from '../protocol/wire.ts'
import { MAIN } from '../support/mcp-process.ts'

export const REVISIONS = ['2025-06-18', '2026-07-28'] as const
export type Revision = (typeof REVISIONS)[number]

export interface ServeOptions {
  args?: readonly string[]
  env?: Record<string, string>
  revision?: Revision
  /** Who it runs as; the one who runs the tests, unless said. */
  user?: { uid: number; gid: number }
}

/** What became of a tool call: its result, or the error of the protocol. */
export interface Called {
  isError?: boolean
  structuredContent?: Json
  content?: { type: string; text: string }[]
  /** Of the protocol, in place of all others. */
  rpcError?: { code: number; message: string }
}

export interface Served {
  child: ChildProcess
  /** Every line of standard output, as it came. */
  lines: string[]
  /** Those of them that are no JSON-RPC messages. */
  strays: string[]
  notifications: Json[]
  stderr(): string
  /** Sends a request and gives the whole answer; undefined where the process ended before. */
  request(method: string, params?: Json): Promise<Json | undefined>
  /** The same without waiting, for what is cancelled later. */
  begin(method: string, params?: Json): { id: number; answer: Promise<Json | undefined> }
  /** The same with parameters that are sent as the JSON that they are. */
  beginRaw(method: string, params: string): { id: number; answer: Promise<Json | undefined> }
  notify(method: string, params?: Json): void
  call(name: string, args?: Json, meta?: Json): Promise<Called>
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | string>
  /** Ends it as a client does, by the end of its input. */
  close(): Promise<number | string>
}

/** `commonplace mcp` after its first request: `initialize`, or `server/discover` where there is no other. */
export async function serve(library: string, options: ServeOptions = {}): Promise<Served> {
  const { revision = '2025-06-18' } = options
  const served = spawnServer(library, options)
  await (revision === '2026-07-28'
    ? served.request('server/discover')
    : served.request('initialize', {
        protocolVersion: revision,
        capabilities: {},
        clientInfo: { name: 'test-client', version: '1' },
      }))
  return served
}

/** The same, before anything was asked of it. */
export function spawnServer(
  library: string,
  { args = [], env = {}, revision = '2025-06-18', user }: ServeOptions = {},
): Served {
  const child = spawn(process.execPath, [MAIN, 'mcp', '--library', library, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...user,
    // The model is not what is looked at here.
    env: { ...process.env, COMMONPLACE_EMBEDDER: 'off', ...env },
  })
  const lines: string[] = []
  const strays: string[] = []
  const notifications: Json[] = []
  const waiting = new Map<unknown, (answer: Json | undefined) => void>()
  let rest = ''
  let stderr = ''
  child.stdin.on('error', () => {})
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop()!
    for (const line of parts) take(line)
  })
  function take(line: string): void {
    lines.push(line)
    const message = messageIn(line)
    if (!message) strays.push(line)
    else if (!('id' in message)) notifications.push(message)
    else {
      waiting.get(message['id'])?.(message)
      waiting.delete(message['id'])
    }
  }
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => {
      if (rest !== '') take(rest)
      for (const settle of waiting.values()) settle(undefined)
      resolve(code ?? signal ?? 'nothing')
    })
  })
  const meta = revision === '2026-07-28' ? { [V]: revision, [CAPABILITIES]: {} } : {}
  const write = (line: string): void => void child.stdin.write(`${line}\n`)
  const withMeta = (params: Json): Json => {
    const given = isObject(params['_meta']) ? params['_meta'] : {}
    return { ...params, _meta: { ...meta, ...given } }
  }
  let count = 0
  const beginRaw = (method: string, params: string) => {
    const id = ++count
    const answer = new Promise<Json | undefined>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve(undefined)
      else waiting.set(id, resolve)
    })
    write(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`)
    return { id, answer }
  }
  const begin = (method: string, params: Json = {}) => beginRaw(method, JSON.stringify(withMeta(params)))
  const request = (method: string, params?: Json) => begin(method, params).answer
  return {
    child,
    lines,
    strays,
    notifications,
    stderr: () => stderr,
    begin,
    beginRaw,
    request,
    notify: (method, params = {}) => write(JSON.stringify({ jsonrpc: '2.0', method, params })),
    async call(name, args = {}, callMeta) {
      const answer = await request('tools/call', {
        name,
        arguments: args,
        ...(callMeta && { _meta: callMeta }),
      })
      if (!answer) throw new Error(`the server ended at ${name}: ${stderr}`)
      return answer['error']
        ? { rpcError: answer['error'] as { code: number; message: string } }
        : (answer['result'] as Called)
    },
    ended,
    close() {
      child.stdin.end()
      return ended
    },
  }
}

function messageIn(line: string): Json | undefined {
  try {
    const message: unknown = JSON.parse(line)
    return isObject(message) && message['jsonrpc'] === '2.0' ? message : undefined
  } catch {
    return undefined
  }
}

/** The structured content of a call that must have gone well. */
export function good({ isError, structuredContent, rpcError, content }: Called): Json {
  if (isError || rpcError || !structuredContent)
    throw new Error(`the call failed: ${JSON.stringify(rpcError ?? structuredContent ?? content)}`)
  return structuredContent
}

/** The code of a call that must have failed, after a look at the form of the failure. */
export function failed(called: Called): string {
  const { isError, structuredContent: told, content, rpcError } = called
  if (rpcError) throw new Error(`an error of the protocol: ${JSON.stringify(rpcError)}`)
  if (!isError || !told) throw new Error(`the call did not fail: ${JSON.stringify(called).slice(0, 500)}`)
  const error = told['error']
  const wellFormed =
    isObject(error) &&
    typeof error['code'] === 'string' &&
    typeof error['message'] === 'string' &&
    Number.isInteger(error['number']) &&
    told['code'] === error['code'].replaceAll('_', '-') &&
    typeof told['hint'] === 'string' &&
    told['hint'] !== ''
  if (!wellFormed) throw new Error(`no failure of ours: ${JSON.stringify(told)}`)
  if (content?.length !== 1 || content[0]?.text !== JSON.stringify(told))
    throw new Error(`the text is not the failure: ${JSON.stringify(content)}`)
  return String(told['code'])
}
