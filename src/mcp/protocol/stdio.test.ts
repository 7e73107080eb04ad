import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { createSmallApp } from '../../../test/protocol/small-app.ts'
import { LOG_LEVEL, callTool, meta, notification, rpc } from '../../../test/protocol/wire.ts'
import type { App } from './app.ts'
import { serveStdio, type StdioOptions } from './stdio.ts'

let end = async (): Promise<void> => {}
afterEach(() => end())

/** A server on streams in this process. */
function start(app: App = createSmallApp(), options: StdioOptions = {}) {
  const input = new PassThrough()
  const output = new PassThrough()
  const done = serveStdio(app, { input, output, maxLineBytes: 1000, graceMs: 100, ...options })
  let text = ''
  output.on('data', (chunk) => (text += chunk))
  end = async () => {
    input.end()
    await done
  }
  const lines = (): unknown[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  return {
    input,
    output,
    done,
    lines,
    send: (value: unknown) => input.write(typeof value === 'string' ? value : `${JSON.stringify(value)}\n`),
    /** The lines so far, once there are this many. */
    read: async (count: number) => {
      await expect.poll(() => lines().length, { interval: 5, timeout: 10_000 }).toBeGreaterThanOrEqual(count)
      return lines()
    },
  }
}

describe('framing', () => {
  it('puts characters together that chunks cut', async () => {
    const { input, read } = start()
    for (const byte of Buffer.from(`${JSON.stringify(callTool('echo', { q: 'é😀' }))}\r\n`)) {
      input.write(Buffer.from([byte]))
    }
    expect(await read(1)).toMatchObject([{ result: { content: [{ text: 'é😀' }] } }])
  })

  it('answers each line that is no message, and goes on', async () => {
    const { send, read } = start()
    send('\n{\n')
    send('[]\n')
    send('7\n')
    send(rpc('ping', {}, 2))
    expect(await read(4)).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
      { id: 2, result: {} },
    ])
  })

  it('answers a line over the limit under its id, where the line shows it', async () => {
    const { send, read } = start()
    const q = 'x'.repeat(2000)
    send(callTool('echo', { q }, {}, 'first'))
    const { jsonrpc, id, ...rest } = callTool('echo', { q }, {}, 7)
    send({ ...rest, jsonrpc, id })
    send(`"${q}"\n`)
    send({ a: { b: { jsonrpc, id: 8 } }, q })
    send(rpc('ping', {}, 9))
    expect(await read(5)).toMatchObject([
      { id: 'first', error: { code: -32600 } },
      { id: 7, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
      { id: 9, result: {} },
    ])
  })

  it('reads a byte order mark over, and a last line that does not end', async () => {
    const { input, done, lines } = start()
    input.end(`\uFEFF${JSON.stringify(rpc('ping'))}`)
    await done
    expect(lines()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  it('stops reading from a client that does not read', async () => {
    const app = createSmallApp()
    const input = new PassThrough()
    const output = new PassThrough({ highWaterMark: 1000 })
    const done = serveStdio(app, { input, output, graceMs: 100 })
    for (let id = 0; id < 200; id++) input.write(`${JSON.stringify(rpc('tools/list', {}, id))}\n`)
    await expect.poll(() => input.isPaused(), { timeout: 10_000 }).toBe(true)
    let count = 0
    output.on('data', (chunk: Buffer) => (count += chunk.toString().split('\n').length - 1))
    await expect.poll(() => count, { timeout: 10_000 }).toBe(200)
    input.end()
    await done
  })
})

describe('eras', () => {
  it('serves both on one connection, and batches by the revision agreed on', async () => {
    const { send, read } = start()
    send(rpc('initialize', { protocolVersion: '2025-03-26', capabilities: {} }, 1))
    send([rpc('ping', {}, 2), rpc('ping', {}, 3), rpc('initialize', {}, 4)])
    send(rpc('server/discover', { _meta: meta }, 5))
    const lines = await read(3)
    expect(lines).toContainEqual([
      expect.objectContaining({ id: 2, result: {} }),
      expect.objectContaining({ id: 3, result: {} }),
      expect.objectContaining({ id: 4, error: expect.objectContaining({ code: -32600 }) }),
    ])
    expect(lines).toContainEqual(
      expect.objectContaining({
        id: 5,
        result: expect.objectContaining({ supportedVersions: ['2026-07-28'] }),
      }),
    )
  })

  it('refuses a batch after another revision was agreed on', async () => {
    const { send, read } = start()
    send(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} }, 1))
    await read(1)
    send([rpc('ping', {}, 2)])
    expect(await read(2)).toMatchObject([{ id: 1 }, { id: null, error: { code: -32600 } }])
  })

  it('answers a version it does not know with those it does', async () => {
    const { send, read } = start()
    send(rpc('tools/list', { _meta: { ...meta, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' } }))
    expect(await read(1)).toMatchObject([
      { error: { code: -32022, data: { requested: '2031-01-01', supported: ['2026-07-28'] } } },
    ])
  })

  it('asks an older client on its connection, where it can be asked', async () => {
    const { send, read } = start()
    send(callTool('ask', {}, {}, 1))
    expect(await read(1)).toMatchObject([{ id: 1, result: { isError: true } }])
    send(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } }, 2))
    await read(2)
    send(callTool('ask', {}, {}, 3))
    const [, , question] = await read(3)
    expect(question).toMatchObject({
      id: 'ask-1',
      method: 'elicitation/create',
      params: { message: 'Sure?' },
    })
    send({ jsonrpc: '2.0', id: 'ask-1', result: { action: 'decline' } })
    expect((await read(4)).at(-1)).toMatchObject({
      id: 3,
      result: { content: [{ text: '{"action":"decline"}' }] },
    })
  })

  it('withdraws a question when the request behind it is cancelled', async () => {
    const { send, read, lines, done, input } = start()
    send(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } }, 1))
    send(callTool('ask', {}, {}, 2))
    await read(2)
    send(notification('notifications/cancelled', { requestId: 2 }))
    expect((await read(3)).at(-1)).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: 'ask-1' },
    })
    input.end()
    await done
    expect(lines()).toHaveLength(3)
  })
})

describe('while a request runs', () => {
  it('progress goes to the token that was given, and only upwards', async () => {
    const app: App = {
      info: { name: 'a', version: '1' },
      tools: [{ name: 'count', inputSchema: { type: 'object' } }],
      callTool(_name, _args, context) {
        for (const step of [0, 1, 1, 0.5, Number.NaN, 2]) context.progress(step, 2, 'counting')
        return { content: [] }
      },
    }
    const { send, read } = start(app)
    send(callTool('count', {}, { _meta: { progressToken: 'tok' } }))
    const lines = await read(4)
    expect(lines.slice(0, 3)).toMatchObject(
      [0, 1, 2].map((progress) => ({
        method: 'notifications/progress',
        params: { progressToken: 'tok', progress, total: 2, message: 'counting' },
      })),
    )
    expect(lines[3]).toMatchObject({ id: 1, result: { content: [] } })
  })

  it('logs at the level asked for, and only where logging is declared', async () => {
    const app: App = {
      info: { name: 'a', version: '1' },
      tools: [{ name: 'log', inputSchema: { type: 'object' } }],
      callTool(_name, _args, context) {
        context.log('debug', 'quiet')
        context.log('error', 'loud')
        return { content: [] }
      },
    }
    const silent = start(app)
    silent.send(callTool('log'))
    silent.send(callTool('log', {}, { _meta: { ...meta, [LOG_LEVEL]: 'debug' } }, 2))
    await end()
    expect(silent.lines()).toHaveLength(2)

    const { send, lines } = start({ ...app, logging: true })
    send(callTool('log'))
    send(rpc('logging/setLevel', { level: 'error' }, 2))
    send(callTool('log', {}, {}, 3))
    send(callTool('log', {}, { _meta: meta }, 4))
    send(callTool('log', {}, { _meta: { ...meta, [LOG_LEVEL]: 'warning' } }, 5))
    await end()
    const said = lines().filter((line) => JSON.stringify(line).includes('notifications/message'))
    expect(said).toMatchObject(['quiet', 'loud', 'loud', 'loud'].map((data) => ({ params: { data } })))
  })

  it('a cancelled one stops and gets no answer, the others do', async () => {
    const app = createSmallApp()
    const { send, lines } = start(app)
    send(callTool('stuck'))
    send(notification('notifications/cancelled', { requestId: 1 }))
    send(notification('notifications/cancelled', { requestId: 'never there' }))
    send(notification('notifications/cancelled', { requestId: {} }))
    send(callTool('echo', { q: 'still here' }, {}, 9))
    await end()
    expect(lines()).toMatchObject([{ id: 9, result: { content: [{ text: 'still here' }] } }])
    expect(app.aborted).toEqual(['stuck'])
  })

  it('what an application throws is not shown', async () => {
    const errors: unknown[] = []
    const { send, read } = start(createSmallApp(), { onError: (error) => errors.push(error) })
    send(callTool('boom'))
    expect(await read(1)).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } },
    ])
    expect(errors).toEqual([new Error('secret')])
  })
})

describe('the end', () => {
  it('waits for what runs, then cancels what still does', async () => {
    const app = createSmallApp()
    const { send, input, done, lines } = start(app, { graceMs: 400 })
    send(callTool('slow', {}, {}, 1))
    send(callTool('stuck', {}, {}, 2))
    input.end()
    await done
    expect(lines()).toMatchObject([{ id: 1, result: { content: [] } }])
    expect(app.aborted).toEqual(['stuck'])
  })

  it('lets cancelled work put its things in order', async () => {
    let tidy = false
    const app: App = {
      info: { name: 'a', version: '1' },
      tools: [{ name: 'careful', inputSchema: { type: 'object' } }],
      async callTool(_name, _args, { signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        await new Promise((resolve) => setTimeout(resolve, 20))
        tidy = true
        return { content: [] }
      },
    }
    const { send, input, done, lines } = start(app, { graceMs: 0 })
    send(callTool('careful'))
    input.end()
    await done
    expect(tidy).toBe(true)
    expect(lines()).toEqual([])
  })

  it('does not wait for an answer to a question that nobody is there to give', async () => {
    const { send, read, input, done, lines } = start(createSmallApp(), { graceMs: 60_000 })
    send(rpc('initialize', { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } }, 1))
    send(callTool('ask', {}, {}, 2))
    await read(2)
    input.end()
    await done
    expect(lines()).toContainEqual(
      expect.objectContaining({ id: 2, error: { code: -32603, message: 'The client is gone' } }),
    )
  })

  it('comes at once when the client takes no more answers', async () => {
    const app = createSmallApp()
    const { send, output, done } = start(app, { graceMs: 60_000 })
    send(callTool('stuck'))
    await expect.poll(() => app.started, { timeout: 10_000 }).toEqual(['stuck'])
    output.destroy(new Error('EPIPE'))
    await done
    expect(app.aborted).toEqual(['stuck'])
  })

  it('does not hang on work that ignores its cancelling, nor on a client that does not read', async () => {
    const app: App = {
      info: { name: 'a', version: '1' },
      tools: [{ name: 'deaf', inputSchema: { type: 'object' } }],
      callTool: () => new Promise(() => {}),
    }
    const input = new PassThrough()
    const output = new PassThrough({ highWaterMark: 1 })
    const done = serveStdio(app, { input, output, graceMs: 10 })
    input.write(`${JSON.stringify(rpc('tools/list'))}\n${JSON.stringify(callTool('deaf', {}, {}, 2))}\n`)
    input.end()
    await expect(done).resolves.toBeUndefined()
  })
})
