/** Libraries that cannot be used, or not now: what the server and the command line say, and that nothing is lost. */
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
  closeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { failed, good, serve, spawnServer, type Served } from '../stdio/serve.ts'
import { openSite, type Site } from '../stdio/site.ts'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

// Many programs, one after another: a machine with other work needs longer.
vi.setConfig({ testTimeout: 120_000 })

let at: Workspace
let site: Site
let folder: string
/** The item of the sound library in `at`, which tests copy. */
let id: string
const servers: Served[] = []

beforeAll(async () => {
  at = openWorkspace()
  ;({ folder } = at)
  site = await openSite()
  const server = await serve(at.library, { env: site.env })
  const saved = good(await server.call('save_url', { url: `${site.origin}/sound` }))
  ;({ id } = saved['item'] as { id: string })
  await server.call('add_comment', { id, body: 'before' })
  await server.close()
})
afterAll(async () => {
  for (const { child } of servers) child.kill('SIGKILL')
  await site.close()
  at.remove()
})

async function start(library: string, options: Parameters<typeof serve>[1] = {}): Promise<Served> {
  const server = await serve(library, { ...options, env: { ...site.env, ...options.env } })
  servers.push(server)
  return server
}

/** A copy of the sound library. */
function copied(name: string): string {
  const library = join(folder, name)
  cpSync(at.library, library, { recursive: true })
  return library
}

const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

const run = (library: string, ...args: string[]) =>
  at.run([...args, '--library', library], { env: { COMMONPLACE_EMBEDDER: 'off' } })

const twoLines = (stderr: string): string[] => {
  const lines = stderr.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  expect(stderr).not.toMatch(/SQLITE|sqlite|node:|file:\/\/| at .*:\d+/)
  return lines
}

describe('a library of a newer program', () => {
  it.each([['wal'], ['delete']])('is refused with what to do, and not touched (%s)', async (mode) => {
    const library = copied(`newer-${mode}`)
    const file = join(library, 'library.db')
    const database = new DatabaseSync(file)
    database.exec(`pragma journal_mode = ${mode}; pragma user_version = 99`)
    database.close()
    const before = hashOf(file)
    for (const args of [[], ['--read-only']]) {
      const server = spawnServer(library, { args })
      expect(await server.ended).toBe(5)
      expect(server.lines).toEqual([])
      expect(twoLines(server.stderr())).toEqual([
        expect.stringContaining('99'),
        expect.stringContaining('Upgrade'),
      ])
    }
    writeFileSync(join(folder, 'note.md'), '# Note\n\nText.\n')
    for (const args of [
      ['list'],
      ['add', 'note.md', '--wait'],
      ['backup', `${mode}.tar.gz`],
      ['doctor', '--fix'],
    ]) {
      const ended = await run(library, ...args)
      expect(ended.code).toBe(5)
      expect(ended.stdout + ended.stderr).toMatch(/99/)
    }
    expect(hashOf(file)).toBe(before)
    // What reading alone leaves beside the file is empty.
    const left = readdirSync(library).filter((name) => !/-(?:shm|wal)$/.test(name))
    expect(left.toSorted()).toEqual(['library.db', 'media'])
  })
})

describe('a damaged library', () => {
  it('that never was one is refused, and kept as it is', async () => {
    const library = join(folder, 'rubbish')
    mkdirSync(library)
    const file = join(library, 'library.db')
    writeFileSync(file, 'these are not the bytes of a library. '.repeat(500))
    const before = hashOf(file)
    for (const args of [[], ['--read-only']]) {
      const server = spawnServer(library, { args })
      expect(await server.ended).toBe(5)
      expect(server.lines).toEqual([])
      expect(twoLines(server.stderr())).toEqual([
        expect.stringContaining('damaged'),
        expect.stringContaining('restore'),
      ])
    }
    expect((await run(library, 'list')).code).toBe(5)
    expect(hashOf(file)).toBe(before)
  })

  it('in the middle says so where it is met, and still gives what is whole', async () => {
    const library = copied('holed')
    const file = join(library, 'library.db')
    const database = new DatabaseSync(file)
    const page = database.prepare(`select rootpage from sqlite_schema where name = 'text'`).get() as {
      rootpage: number
    }
    const { page_size: size } = database.prepare('pragma page_size').get() as { page_size: number }
    database.exec('pragma wal_checkpoint(truncate)')
    database.close()
    const handle = openSync(file, 'r+')
    writeSync(handle, Buffer.alloc(size), 0, size, (page.rootpage - 1) * size)
    closeSync(handle)
    const server = await start(library)
    const read = await server.call('read_item', { id })
    expect(failed(read)).toBe('library-damaged')
    expect(read.structuredContent!['hint']).toMatch(/restore/)
    expect(good(await server.call('list_items'))).toMatchObject({ total: 1 })
    expect(await server.request('ping')).toMatchObject({ result: {} })
    await server.close()
    expect(server.strays).toEqual([])
    const ended = await run(library, 'read', id)
    expect(ended.code).toBe(5)
    twoLines(ended.stderr)
    expect((await run(library, 'doctor')).stdout).toMatch(/✗ library file .*damaged/)
  })

  it.each([
    ['empty', 0],
    ['cut short', 3_000],
  ])('that is %s loses nothing more', async (name, bytes) => {
    const library = copied(`short-${bytes}`)
    const file = join(library, 'library.db')
    writeFileSync(file, readFileSync(file).subarray(0, bytes))
    const server = spawnServer(library)
    servers.push(server)
    // An empty file is a library that was never filled: SQLite makes such a one before the first write.
    if (name === 'empty') {
      await server.request('initialize', { protocolVersion: '2025-06-18' })
      expect(good(await server.call('list_items'))).toMatchObject({ total: 0 })
      await server.close()
    } else {
      expect(await server.ended).toBe(5)
      expect(server.stderr()).toContain('damaged')
      expect(statSync(file).size).toBe(bytes)
    }
  })
})

describe('a library that another process has locked', () => {
  it('is read all the while; a write waits, then says so with nothing half done', async () => {
    const library = copied('locked')
    const server = await start(library)
    good(await server.call('list_items'))
    const holder = new DatabaseSync(join(library, 'library.db'))
    holder.exec('begin immediate')
    const order: string[] = []
    const noted = async <T>(name: string, work: Promise<T>): Promise<T> => {
      const result = await work
      order.push(name)
      return result
    }
    try {
      const [write, saved, fromCli, cliRead] = await Promise.all([
        noted('write', server.call('add_comment', { id, body: 'while locked', requestId: 'r1' })),
        noted('save', server.call('save_url', { url: `${site.origin}/locked` })),
        noted('cli write', run(library, 'add-comment', id, '--body', 'while locked')),
        run(library, 'list', '--json'),
        (async () => {
          await noted('ping', server.request('ping'))
          good(await noted('read', server.call('read_item', { id })))
          good(await noted('search', server.call('search_library', { query: 'heron' })))
        })(),
      ])
      expect(failed(write)).toBe('library-locked')
      expect(write.structuredContent!['hint']).toMatch(/Try again/)
      expect(failed(saved)).toBe('library-locked')
      expect(fromCli.code).toBe(5)
      twoLines(fromCli.stderr)
      expect(cliRead.code).toBe(0)
      expect(JSON.parse(cliRead.stdout)).toMatchObject({ total: 1 })
    } finally {
      holder.exec('rollback')
      holder.close()
    }
    // What only reads was not kept waiting by what waits for the lock.
    expect(order.slice(0, 3)).toEqual(['ping', 'read', 'search'])
    expect(good(await server.call('list_items'))).toMatchObject({ total: 1, items: [{ notes: 1 }] })
    const again = await server.call('add_comment', { id, body: 'while locked', requestId: 'r1' })
    expect(good(again)).toMatchObject({ comment: { body: 'while locked' } })
    await server.close()
    expect(site.asked('/locked')).toBe(0)
  })

  it('for a moment only makes nobody notice', async () => {
    const library = copied('briefly')
    const server = await start(library)
    good(await server.call('list_items'))
    const holder = new DatabaseSync(join(library, 'library.db'))
    holder.exec('begin immediate')
    const writes = [1, 2, 3].map((n) => server.call('add_comment', { id, body: `patient ${n}` }))
    await server.request('ping')
    holder.exec('commit')
    holder.close()
    for (const called of await Promise.all(writes)) good(called)
    await server.close()
  })

  it('does not keep a server from its end', async () => {
    const library = copied('held')
    const server = await start(library)
    good(await server.call('list_items'))
    const holder = new DatabaseSync(join(library, 'library.db'))
    holder.exec('begin immediate')
    expect(await server.close()).toBe(0)
    holder.exec('rollback')
    holder.close()
  })
})

it('a library that is removed under a server takes no more writes: none is said to be kept and lost', async () => {
  const library = join(folder, 'removed')
  cpSync(at.library, library, { recursive: true })
  const server = await serve(library, { env: site.env })
  servers.push(server)
  good(await server.call('add_comment', { id, body: 'while it is there' }))
  rmSync(library, { recursive: true })
  const refused = await server.call('add_comment', { id, body: 'gone' })
  expect(failed(refused)).toBe('unavailable')
  expect(refused.structuredContent?.['hint']).toContain('Nothing was written')
})
