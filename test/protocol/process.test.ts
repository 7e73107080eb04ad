/** A server in a process of its own: what is on its standard output, and how it ends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../conformance/bundle.mjs'
import { callTool, rpc } from './wire.ts'

const SERVE_SMALL = fileURLToPath(new URL('serve-small.ts', import.meta.url))

let programs: Awaited<ReturnType<typeof bundle>>
beforeAll(async () => {
  programs = await bundle(SERVE_SMALL)
})
afterAll(() => programs.remove())

function start() {
  const child = spawn(process.execPath, [programs.file(SERVE_SMALL)], { stdio: 'pipe' })
  const out: Buffer[] = []
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  child.stdin.on('error', () => {})
  const closed = once(child, 'close')
  return {
    child,
    closed,
    send: (value: unknown) => child.stdin.write(`${JSON.stringify(value)}\n`),
    out: () => Buffer.concat(out).toString(),
    lines: () =>
      Buffer.concat(out)
        .toString()
        .split('\n')
        .filter((line) => line !== '')
        .map((line): unknown => JSON.parse(line)),
    err: () => err,
  }
}

describe('standard output', () => {
  it('carries protocol lines only, whatever is printed here or in a worker', async () => {
    const { child, send, closed, lines, err } = start()
    send(callTool('print'))
    send(rpc('ping', {}, 2))
    child.stdin.end()
    await closed
    expect(lines()).toHaveLength(2)
    expect(lines()).toContainEqual(
      expect.objectContaining({ id: 1, result: { content: [expect.anything()] } }),
    )
    expect(err()).toContain('a dependency prints\n')
    expect(err()).toContain('and prints\n')
    expect(err()).toContain('a worker prints\n')
  })

  it('is whole when the input ends at once, however long the answers', async () => {
    const { child, send, closed, lines } = start()
    const q = 'é😀'.repeat(200_000)
    for (let id = 1; id <= 3; id++) send(callTool('echo', { q }, {}, id))
    child.stdin.end()
    const [code] = await closed
    expect(code).toBe(0)
    expect(lines()).toHaveLength(3)
    expect(lines()).toContainEqual({
      jsonrpc: '2.0',
      id: 2,
      result: { content: [{ type: 'text', text: q }] },
    })
  })
})

describe('the end', () => {
  it('comes by itself when the input ends', async () => {
    const { child, closed, out } = start()
    child.stdin.end()
    expect(await closed).toEqual([0, null])
    expect(out()).toBe('')
  })

  it.runIf(process.platform !== 'win32').each(['SIGTERM', 'SIGINT'] as const)(
    'comes in order on %s, with the input still open',
    async (signal) => {
      const { child, send, closed, lines, err } = start()
      send(callTool('slow', {}, {}, 1))
      send(callTool('stuck', {}, {}, 2))
      send(rpc('ping', {}, 3))
      await expect.poll(lines, { timeout: 10_000 }).toHaveLength(1)
      child.kill(signal)
      expect(await closed).toEqual([0, null])
      expect(lines()).toMatchObject([{ id: 3 }, { id: 1 }])
      expect(err()).toBe('ended, aborted: stuck\n')
    },
  )

  it.runIf(process.platform !== 'win32')('is hurried by a signal after the input ended', async () => {
    const { child, send, closed, lines, err } = start()
    send(callTool('stuck', {}, {}, 1))
    send(rpc('ping', {}, 2))
    child.stdin.end()
    await expect.poll(lines, { timeout: 10_000 }).toHaveLength(1)
    child.kill('SIGTERM')
    expect(await closed).toEqual([0, null])
    expect(err()).toBe('ended, aborted: stuck\n')
  })

  it.runIf(process.platform !== 'win32')('comes when the client no longer reads', async () => {
    const { child, send, closed, lines, err } = start()
    send(callTool('stuck', {}, {}, 1))
    send(rpc('ping', {}, 2))
    await expect.poll(lines, { timeout: 10_000 }).toHaveLength(1)
    child.stdout.destroy()
    send(rpc('tools/list', {}, 3))
    expect(await closed).toEqual([0, null])
    expect(err()).toBe('ended, aborted: stuck\n')
  })
})
