/** Disks that are full and folders that cannot be written: clear failures, nothing half there, and all well afterwards. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { failed, good, serve, spawnServer, type ServeOptions, type Served } from '../stdio/serve.ts'
import { openSite, type Site } from '../stdio/site.ts'
import { openWorkspace, PROGRAM, type Workspace } from '../support/run-cli.ts'

// Many programs, one after another: a machine with other work needs longer.
vi.setConfig({ testTimeout: 120_000 })

let at: Workspace
let site: Site
let folder: string
/** The item of the library in `at`, which tests copy. */
let id: string
const servers: Served[] = []

beforeAll(async () => {
  at = openWorkspace()
  ;({ folder } = at)
  site = await openSite()
  const server = await serve(at.library, { env: site.env })
  const saved = good(await server.call('save_url', { url: `${site.origin}/sound` }))
  ;({ id } = saved['item'] as { id: string })
  await server.close()
})
afterAll(async () => {
  for (const { child } of servers) child.kill('SIGKILL')
  await site.close()
  at.remove()
})

function copied(name: string): string {
  const library = join(folder, name)
  cpSync(at.library, library, { recursive: true })
  return library
}

async function start(library: string, options: ServeOptions = {}): Promise<Served> {
  const server = await serve(library, { ...options, env: { ...site.env, ...options.env } })
  servers.push(server)
  return server
}

const rowsOf = (library: string, sql: string): unknown[] => {
  const database = new DatabaseSync(join(library, 'library.db'))
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

/** Limits how large a file the process may write, in bytes; what is over it fails as a full disk does. */
const limitFiles = (server: Served, bytes: number | 'unlimited'): void => {
  const { status } = spawnSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${bytes}:unlimited`])
  expect(status).toBe(0)
}
const canLimit = spawnSync('prlimit', ['--version']).status === 0

describe.runIf(canLimit)('a full disk', () => {
  it('is a failure with a hint; nothing is half there, and writing goes on when there is room', async () => {
    const library = copied('full')
    const server = await start(library)
    good(await server.call('add_comment', { id, body: 'before' }))
    // What is written comes into the file beside the library first, which may grow a little more.
    const room = statSync(join(library, 'library.db-wal')).size + 60_000
    limitFiles(server, room)
    const kept: string[] = ['before']
    const codes = new Set<string>()
    for (let n = 0; n < 12; n++) {
      const body = `${n} ${'word '.repeat(1_000)}`
      const called = await server.call('add_comment', { id, body, requestId: `r${n}` })
      if (called.isError) codes.add(failed(called))
      else kept.push(body)
    }
    expect([...codes]).toEqual(['disk-full'])
    // There is no room for a page and what it was read from either.
    expect(failed(await server.call('save_url', { url: `${site.origin}/no-room` }))).toBe('disk-full')
    expect(good(await server.call('read_item', { id, format: 'summary' }))).toMatchObject({
      annotationsTotal: kept.length,
    })
    good(await server.call('search_library', { query: 'heron' }))
    limitFiles(server, 'unlimited')
    // What failed frees its requestId.
    const body = `11 ${'word '.repeat(1_000)}`
    good(await server.call('add_comment', { id, body, requestId: 'r11' }))
    kept.push(body)
    expect(good(await server.call('save_url', { url: `${site.origin}/no-room` }))).toMatchObject({
      state: 'captured',
    })
    expect(await server.close()).toBe(0)
    expect(server.strays).toEqual([])
    expect(rowsOf(library, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
    expect(rowsOf(library, 'select body from note order by id')).toEqual(kept.map((each) => ({ body: each })))
    expect(rowsOf(library, `select count(*) as count from change_log where table_name = 'note'`)).toEqual([
      { count: kept.length },
    ])
    expect(rowsOf(library, `select count(*) as count from audit where tool = 'add_comment'`)).toEqual([
      { count: kept.length },
    ])
  })

  it('for files that a page is made of fails the capture and keeps the library well', async () => {
    const library = copied('no-media')
    const server = await start(library)
    good(await server.call('list_items'))
    // Less than the page, more than the lock's file.
    limitFiles(server, 200)
    expect(failed(await server.call('save_url', { url: `${site.origin}/too-much` }))).toBe('disk-full')
    limitFiles(server, 'unlimited')
    expect(good(await server.call('save_url', { url: `${site.origin}/too-much` }))).toMatchObject({
      state: 'captured',
    })
    await server.close()
    expect(readdirSync(join(library, 'media', 'unfinished'))).toEqual([])
  })
})

describe.runIf(process.platform !== 'win32')('a disk that fills while the command line captures', () => {
  it('ends the command, wherever it fills, and the library is well', async () => {
    writeFileSync(join(folder, 'essay.txt'), 'Herons stand in the sound and wait. '.repeat(400))
    const codes: (number | null)[] = []
    // From no room for the first write to room for all of them.
    for (const kilobytes of [8, 60, 160, 4_000]) {
      const library = copied(`fills-${kilobytes}`)
      const { code } = await at.shell(
        `ulimit -f ${kilobytes}; trap '' XFSZ; timeout 60 "${process.execPath}" "${PROGRAM}" add essay.txt --wait --library "${library}"`,
      )
      codes.push(code)
      expect(rowsOf(library, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
    }
    expect(codes.filter((code) => ![0, 4, 5].includes(code ?? -1))).toEqual([])
    expect([codes[0], codes.at(-1)]).toEqual([5, 0])
  })
})

describe('a folder that cannot be', () => {
  it('is said, with what to do, by the server and by the command line', async () => {
    const file = join(folder, 'a-file')
    writeFileSync(file, 'not a folder')
    for (const library of [file, join(file, 'below')]) {
      const server = spawnServer(library)
      expect(await server.ended).toBe(5)
      expect(server.lines).toEqual([])
      const ended = await at.run(['add', '-', '--library', library], { input: '# Text\n\nWords.\n' })
      expect(ended.code).toBe(5)
      for (const said of [server.stderr(), ended.stderr]) {
        expect(said.trimEnd().split('\n')).toEqual([
          expect.stringContaining(library),
          expect.stringMatching(/--library/),
        ])
      }
    }
    expect(readFileSync(file, 'utf8')).toBe('not a folder')
  })
})

/** Somebody who may read the library of these tests and not write it: only root can be another. */
const NOBODY = { uid: 65_534, gid: 65_534 }

describe.runIf(process.getuid?.() === 0)('a library of somebody else', () => {
  it('is read with --read-only though nothing can be written beside it', async () => {
    const library = copied('foreign')
    spawnSync('chmod', ['-R', 'a+rX,go-w', folder])
    const server = await start(library, { args: ['--read-only'], user: NOBODY })
    expect(good(await server.call('list_items'))).toMatchObject({ total: 1 })
    expect(good(await server.call('search_library', { query: 'heron' }))['results']).toHaveLength(1)
    good(await server.call('read_item', { id }))
    expect(await server.close()).toBe(0)
    expect(readdirSync(library).toSorted()).toEqual(['library.db', 'media'])
  })

  it('is not opened for writing: the hint says how to read it', async () => {
    const library = copied('not-ours')
    spawnSync('chmod', ['-R', 'a+rX,go-w', folder])
    const server = spawnServer(library, { user: NOBODY })
    expect(await server.ended).toBe(6)
    expect(server.lines).toEqual([])
    expect(server.stderr()).toMatch(/cannot be written.*\n.*--read-only/)
  })

  it('that is yet to be made in a folder of theirs cannot be made', async () => {
    const theirs = join(folder, 'theirs')
    mkdirSync(theirs, { mode: 0o755 })
    const server = spawnServer(join(theirs, 'library'), { user: NOBODY })
    expect(await server.ended).toBe(5)
    expect(server.stderr()).toMatch(/theirs.*\n.*--library/)
  })
})
