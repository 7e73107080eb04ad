/** What the flags of `commonplace mcp` make of the server, and how it ends. */
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TOOLS } from '../../src/tools/registry.ts'
import { failed, good, serve, spawnServer, type Served, type ServeOptions } from './serve.ts'
import { openSite, type Site } from './site.ts'

// Many programs, one after another: a machine with other work needs longer.
vi.setConfig({ testTimeout: 120_000 })

let folder: string
let site: Site
/** A library with one captured page. */
let library: string
let id: string
const started: Served[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-flags-'))
  site = await openSite()
  library = join(folder, 'library')
  const server = await serve(library, { env: site.env })
  const saved = good(await server.call('save_url', { url: `${site.origin}/page` }))
  ;({ id } = saved['item'] as { id: string })
  await server.call('add_highlight', { id, quote: 'said once only', comment: 'worth it' })
  await server.close()
})
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  site.release()
  await site.close()
  rmSync(folder, { recursive: true, force: true })
})

async function start(options: ServeOptions = {}, where = library): Promise<Served> {
  const server = await serve(where, { ...options, env: { ...site.env, ...options.env } })
  started.push(server)
  return server
}

const names = async (server: Served): Promise<string[]> => {
  const answer = (await server.request('tools/list')) as { result: { tools: { name: string }[] } }
  return answer.result.tools.map(({ name }) => name)
}

/** Names, bytes and times of everything in the library folder but what SQLite keeps there for processes to meet. */
const contents = (): Record<string, unknown> =>
  Object.fromEntries(
    readdirSync(library, { recursive: true, encoding: 'utf8' })
      .filter((name) => !/-(?:shm|wal)$/.test(name))
      .map((name) => {
        const path = join(library, name)
        const found = statSync(path)
        return [
          name,
          found.isFile()
            ? [found.mtimeMs, createHash('sha256').update(readFileSync(path)).digest('hex')]
            : 'folder',
        ]
      }),
  )

describe('--tools', () => {
  it('offers the named set only; what is not offered is not there', async () => {
    const server = await start({ args: ['--tools', 'library'] })
    expect(await names(server)).toHaveLength(8)
    await server.close()
  })

  it('takes no set that there is not', async () => {
    const server = spawnServer(library, { args: ['--tools', 'library,nonsense'] })
    expect(await server.ended).toBe(2)
    expect(server.lines).toEqual([])
    expect(server.stderr()).toMatch(/no toolset "nonsense"\.\nUsage: commonplace mcp/)
  })

  it.each([['--nonsense'], ['--tools'], ['--http', 'many'], ['extra']])(
    'wrong flags: %s %s',
    async (...args) => {
      const server = spawnServer(library, { args: args.filter((word) => word !== undefined) })
      expect(await server.ended).toBe(2)
      expect(server.lines).toEqual([])
      expect(server.stderr()).toContain('Usage: commonplace mcp')
    },
  )
})

describe('--library', () => {
  it('names the library, in whatever place the flag stands', async () => {
    const server = spawnServer(join(folder, 'other'), { env: { COMMONPLACE_LIBRARY: library } })
    started.push(server)
    await server.request('initialize', { protocolVersion: '2025-06-18' })
    expect(good(await server.call('list_items'))).toMatchObject({ total: 0 })
    await server.close()
    expect(readdirSync(folder)).toContain('other')
  })
})

describe('--read-only', () => {
  it('offers what reads, refuses the rest, answers everything it offers, and touches nothing', async () => {
    const before = contents()
    const server = await start({ args: ['--read-only'] })
    const reading = TOOLS.filter(({ effect }) => effect === 'read').map(({ name }) => name)
    expect(reading).toContain('search_highlights')
    expect(await names(server)).toEqual(reading)
    expect(good(await server.call('list_items'))).toMatchObject({ total: 1 })
    expect(good(await server.call('read_item', { id, format: 'summary' }))).toMatchObject({
      annotationsTotal: 1,
    })
    const one = good(await server.call('search_library', { query: 'heron', limit: 1, mode: 'words' }))
    expect(one).toMatchObject({ results: [{ id }] })
    for (const [name, args] of [
      ['add_comment', { id, body: 'written' }],
      ['save_url', { url: `${site.origin}/other` }],
      ['sync', {}],
    ] as const)
      expect((await server.call(name, args)).rpcError).toMatchObject({ code: -32602 })
    expect(await server.close()).toBe(0)
    expect(server.strays).toEqual([])
    expect(contents()).toEqual(before)
    expect(site.asked('/other')).toBe(0)
  })

  it('pages through lists and searches, without anything to write them down in', async () => {
    const copy = join(folder, 'many')
    cpSync(library, copy, { recursive: true })
    const writer = await start({}, copy)
    await Promise.all([1, 2, 3, 4].map((n) => writer.call('save_url', { url: `${site.origin}/many-${n}` })))
    await writer.close()
    const server = await start({ args: ['--read-only'] }, copy)
    for (const [tool, args, rows] of [
      ['list_items', {}, 'items'],
      ['search_library', { query: 'heron' }, 'results'],
    ] as const) {
      const seen: string[] = []
      let cursor: unknown
      do {
        const page = good(
          await server.call(tool, { ...args, limit: 2, ...(cursor !== undefined && { cursor }) }),
        )
        seen.push(...(page[rows] as { id: string }[]).map((row) => row.id))
        cursor = page['nextCursor']
      } while (typeof cursor === 'string')
      expect(new Set(seen).size).toBe(5)
      expect(seen).toHaveLength(5)
    }
    await server.close()
  })

  it('says what to do where there is no library, and makes none', async () => {
    const server = spawnServer(join(folder, 'none'), { args: ['--read-only'] })
    expect(await server.ended).toBe(5)
    expect(server.lines).toEqual([])
    expect(server.stderr().trimEnd().split('\n')).toHaveLength(2)
    expect(readdirSync(folder)).not.toContain('none')
  })
})

describe('the end', () => {
  it('comes with the end of the input, before and after the first call', async () => {
    expect(await (await start()).close()).toBe(0)
    const server = await start()
    await server.call('list_items')
    expect(await server.close()).toBe(0)
  })

  it('comes before anything was asked', async () => {
    const server = spawnServer(library)
    expect(await server.close()).toBe(0)
    expect(server.lines).toEqual([])
  })

  it.runIf(process.platform !== 'win32').each(['SIGTERM', 'SIGINT'] as const)(
    'comes on %s, though a page is slow to come; what was saved before is kept',
    async (signal) => {
      const where = join(folder, signal)
      const server = await start({}, where)
      good(await server.call('save_url', { url: `${site.origin}/before` }))
      const path = `/slow-${signal}`
      server.begin('tools/call', { name: 'save_url', arguments: { url: site.origin + path } })
      await expect.poll(() => site.open(path), { timeout: 30_000 }).toBe(1)
      server.child.kill(signal)
      expect(await server.ended).toBe(0)
      expect(server.strays).toEqual([])
      const next = await start({ args: ['--read-only'] }, where)
      expect(good(await next.call('list_items'))).toMatchObject({ total: 1 })
      await next.close()
    },
  )
})

describe('a server that cannot start', () => {
  it('says why on standard error only', async () => {
    const server = await start({ env: { COMMONPLACE_EMBEDDER: 'magic' } })
    // The protocol answers before the library is looked at; a call then has the reason.
    const called = await server.call('list_items')
    expect(failed(called)).toBe('invalid-input')
    expect(called.structuredContent!['error']).toMatchObject({
      message: expect.stringContaining('COMMONPLACE_EMBEDDER'),
    })
    expect(await server.close()).toBe(0)
  })
})
