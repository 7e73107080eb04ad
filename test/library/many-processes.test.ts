/** Several processes on the file of one library: servers of different assistants, and the command line. */
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { good, serve, spawnServer } from '../stdio/serve.ts'
import { openSite, page, type Site } from '../stdio/site.ts'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'

// Many programs, one after another: a machine with other work needs longer.
vi.setConfig({ testTimeout: 120_000 })

let folder: string
let site: Site
const spaces: Workspace[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-many-'))
  site = await openSite()
})
afterAll(async () => {
  await site.close()
  for (const space of spaces) space.remove()
  rmSync(folder, { recursive: true, force: true })
})

function workspace(): Workspace {
  const space = openWorkspace()
  spaces.push(space)
  return space
}

function rowsOf(library: string, sql: string): Json[] {
  const database = new DatabaseSync(join(library, 'library.db'), { timeout: 30_000 })
  try {
    return database.prepare(sql).all() as Json[]
  } finally {
    database.close()
  }
}

const isSound = (library: string): void => {
  expect(rowsOf(library, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(rowsOf(library, 'pragma foreign_key_check')).toEqual([])
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)

it('loses none of 200 comments that three processes write at once', async () => {
  const at = workspace()
  const [one, two] = await Promise.all([
    serve(at.library, { env: site.env }),
    serve(at.library, { env: site.env }),
  ])
  const saved = good(await one.call('save_url', { url: `${site.origin}/busy` }))
  const { id } = saved['item'] as { id: string }
  const comment = async (server: typeof one, n: number): Promise<string> => {
    const { comment: made } = good(await server.call('add_comment', { id, body: `comment ${n}` }))
    return (made as { id: string }).id
  }
  const fromCli = async (n: number): Promise<string> => {
    const { stdout, stderr } = await at.run(['add-comment', id, '--body', `comment ${n}`, '--json'], {
      env: { COMMONPLACE_EMBEDDER: 'off' },
    })
    expect(stderr).toBe('')
    return JSON.parse(stdout).comment.id
  }
  const answered = await Promise.all([
    ...numbers(0, 95).map((n) => comment(one, n)),
    ...numbers(95, 192).map((n) => comment(two, n)),
    // One after another, as in a script: each is a process of its own.
    (async () => {
      const ids: string[] = []
      for (const n of numbers(192, 200)) ids.push(await fromCli(n))
      return ids
    })(),
  ])
  const ids = answered.flat()
  await Promise.all([one.close(), two.close()])

  expect(new Set(ids).size).toBe(200)
  const notes = rowsOf(at.library, 'select id, body from note')
  expect(notes.map((row) => String(row['id'])).toSorted()).toEqual(ids.toSorted())
  expect(new Set(notes.map((row) => row['body']))).toEqual(
    new Set(numbers(0, 200).map((n) => `comment ${n}`)),
  )
  const logged = rowsOf(at.library, `select row_id, clock from change_log where table_name = 'note'`)
  expect(logged.map((row) => String(row['row_id'])).toSorted()).toEqual(ids.toSorted())
  expect(new Set(logged.map((row) => row['clock'])).size).toBe(200)
  const audited = rowsOf(
    at.library,
    `select connection, count(*) as count from audit where tool = 'add_comment' group by connection order by connection`,
  )
  expect(audited).toEqual([
    { connection: 'cli', count: 8 },
    { connection: 'test-client', count: 192 },
  ])
  const found = rowsOf(at.library, `select count(*) as count from passage where kind = 'note'`)
  expect(found).toEqual([{ count: 200 }])
  expect(rowsOf(at.library, 'select count(*) as count from replica')).toEqual([{ count: 1 }])
  isSound(at.library)
})

it('makes one item of a page that two servers and the command line save at once', async () => {
  const at = workspace()
  const servers = await Promise.all([1, 2].map(() => serve(at.library, { env: site.env })))
  const url = `${site.origin}/shared`
  const [ended, ...saved] = await Promise.all([
    at.run(['add', url, '--wait', '--json'], { env: { ...site.env, COMMONPLACE_EMBEDDER: 'off' } }),
    ...servers.flatMap((server) => [1, 2].map(() => server.call('save_url', { url, note: 'the same' }))),
  ])
  expect(ended.code).toBe(0)
  const results = saved.map(good)
  for (const { state } of results) expect(state).toBe('captured')
  expect(new Set(results.map(({ item }) => (item as { id: string }).id)).size).toBe(1)
  await Promise.all(servers.map((server) => server.close()))
  expect(rowsOf(at.library, 'select count(*) as count from source')).toEqual([{ count: 1 }])
  expect(rowsOf(at.library, 'select count(*) as count from text')).toEqual([{ count: 1 }])
  expect(rowsOf(at.library, 'select body from note')).toEqual([{ body: 'the same' }])
  expect(site.asked('/shared')).toBe(1)
  isSound(at.library)
})

it('is made once when many processes open it at the same moment', async () => {
  const at = workspace()
  writeFileSync(join(at.folder, 'note.md'), '# A note\n\nThe heron stood in the shallows.\n')
  const servers = numbers(0, 4).map(() => spawnServer(at.library, { env: site.env }))
  const [ended, ...listed] = await Promise.all([
    at.run(['add', 'note.md', '--wait', '--json'], { env: { COMMONPLACE_EMBEDDER: 'off' } }),
    ...servers.map(async (server) => {
      await server.request('initialize', { protocolVersion: '2025-06-18' })
      return server.call('list_items')
    }),
  ])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  for (const called of listed) good(called)
  const url = `${site.origin}/first`
  const saved = await Promise.all(servers.map((server) => server.call('save_url', { url })))
  for (const called of saved) expect(good(called)).toMatchObject({ state: 'captured' })
  expect(await Promise.all(servers.map((server) => server.close()))).toEqual([0, 0, 0, 0])
  for (const server of servers) expect(server.stderr()).toBe('')
  // One layout, made once: a second migration would have left a snapshot, a second opening a further number.
  expect(readdirSync(at.library)).not.toContain('backups')
  expect(rowsOf(at.library, 'select count(*) as count from replica')).toEqual([{ count: 1 }])
  expect(rowsOf(at.library, 'select count(*) as count from source')).toEqual([{ count: 2 }])
  isSound(at.library)
})

it('takes a folder from the command line while an assistant reads and writes', async () => {
  const at = workspace()
  const server = await serve(at.library, { env: site.env })
  for (const n of numbers(0, 6)) writeFileSync(join(at.folder, `${n}.html`), page(`Page ${n}`))
  const adding = at.run(['add', ...numbers(0, 6).map((n) => `${n}.html`), '--wait', '--json'], {
    // Whichever process gets to it captures a page: all of them may go to the same places.
    env: { ...site.env, COMMONPLACE_EMBEDDER: 'off' },
  })
  const seen: number[] = []
  const over = adding.then(() => true)
  const saved = server.call('save_url', { url: `${site.origin}/meanwhile` })
  do {
    seen.push(good(await server.call('list_items'))['total'] as number)
    good(await server.call('search_library', { query: 'heron' }))
  } while (!(await Promise.race([over, setTimeout(20, false)])))
  expect((await adding).code).toBe(0)
  good(await saved)
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect(good(await server.call('list_items'))).toMatchObject({ total: 7 })
  const found = good(await server.call('search_library', { query: 'heron', limit: 50 }))
  expect(found['results']).toHaveLength(7)
  expect(await server.close()).toBe(0)
  isSound(at.library)
})

it('draws a number of its own as a copy, so that two copies never give out one id', async () => {
  const at = workspace()
  writeFileSync(join(at.folder, 'note.md'), '# A note\n\nThe heron stood in the shallows.\n')
  await at.run(['add', 'note.md', '--wait'], { env: { COMMONPLACE_EMBEDDER: 'off' } })
  const copy = join(at.folder, 'copy')
  cpSync(at.library, copy, { recursive: true })
  const [item] = rowsOf(at.library, 'select id from source')
  const id = String(item!['id'])
  const write = async (library: string): Promise<number[]> => {
    const server = await serve(library)
    const calls = numbers(0, 5).map((n) => server.call('add_comment', { id, body: `comment ${n}` }))
    const made = (await Promise.all(calls)).map((called) => good(called)['comment'] as { id: string })
    await server.close()
    return made.map((comment) => Number(comment.id))
  }
  const [here, there] = await Promise.all([write(at.library), write(copy)])
  const replicas = (ids: number[]): number[] => [...new Set(ids.map((each) => Math.floor(each / 2 ** 40)))]
  expect(replicas(here)).toHaveLength(1)
  expect(replicas(there)).toHaveLength(1)
  expect(replicas(here)).not.toEqual(replicas(there))
  // The original stays what it was, and so does what was copied.
  expect(replicas(here)).toEqual(replicas([Number(id)]))
  expect(rowsOf(copy, 'select id from source')).toEqual([item])
})
