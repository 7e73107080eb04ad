import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface McpProcess {
  child: ChildProcess
  /** Resolves to the answer, or to undefined where the process ended before it came. */
  request(method: string, params?: Record<string, unknown>): Promise<Record<string, unknown> | undefined>
  /** Calls a tool; gives its structured content, marked with `isError` where it failed. */
  call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown> | undefined>
  exited: Promise<void>
  /** Ends it as a client does. */
  close(): Promise<void>
}

/** `commonplace mcp` as a process of its own, after `initialize`. */
export async function startMcp(
  library: string,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<McpProcess> {
  const child = spawn(process.execPath, [MAIN, 'mcp', '--library', library, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const waiting = new Map<number, (answer: Record<string, unknown> | undefined) => void>()
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const message = JSON.parse(line) as { id?: number; result?: Record<string, unknown>; error?: unknown }
    if (message.id === undefined) return
    waiting.get(message.id)?.(message.result ?? { error: message.error })
    waiting.delete(message.id)
  })
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      for (const settle of waiting.values()) settle(undefined)
      waiting.clear()
      resolve()
    })
  })
  child.stdin!.on('error', () => {})
  let id = 0
  const request: McpProcess['request'] = (method, params = {}) =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve(undefined)
      waiting.set(++id, resolve)
      child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test-client', version: '1' },
  })
  return {
    child,
    request,
    async call(name, toolArgs) {
      const result = await request('tools/call', { name, arguments: toolArgs })
      if (!result) return undefined
      return {
        ...(result['structuredContent'] as object),
        isError: result['isError'] === true,
        content: result['content'],
      }
    },
    exited,
    async close() {
      child.stdin!.end()
      await exited
    },
  }
}
