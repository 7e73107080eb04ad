/** Having a page read from the command line, and several programs at the same work. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pageWith, proseOf } from '../support/prose.ts'
import { openWorkspace, type Workspace } from '../support/run-cli.ts'
import { serveWeb, type WebServer } from '../support/web-server.ts'

const PAGES = 6

let web: WebServer
const spaces: Workspace[] = []
beforeAll(async () => {
  web = await serveWeb((path) => {
    const n = Number(/^\/essay-(\d)$/.exec(path)?.[1] ?? NaN)
    return Number.isNaN(n) ? undefined : pageWith(`Essay ${n}`, proseOf(3_000 + 500 * n, `bird ${n}`))
  })
})
afterAll(async () => {
  await web.close()
  for (const space of spaces) space.remove()
})

function workspace(): Workspace {
  const space = openWorkspace()
  Object.assign(space.env, { COMMONPLACE_ALLOW_HOSTS: web.host, COMMONPLACE_EMBEDDER: 'off' })
  spaces.push(space)
  return space
}

const json = async (at: Workspace, ...args: string[]) => {
  const { stdout, stderr } = await at.run([...args, '--json'])
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Record<string, unknown>
}

const addSource = (at: Workspace, n: number) =>
  json(at, 'add-source', '--url', `${web.origin}/essay-${n}`, '--confirm', '--user-intent', 'keep it')

/** An import once it has ended, whichever program did the work. */
async function ended(at: Workspace, id: unknown): Promise<Record<string, unknown>> {
  const look = () => json(at, 'get-import', String(id))
  await expect
    .poll(async () => (await look())['status'], { timeout: 60_000, interval: 200 })
    .toMatch(/completed|failed/)
  return look()
}

it('add-source has a page read, and get-import tells what came of it', async () => {
  const at = workspace()
  const added = await addSource(at, 1)
  expect(added).toMatchObject({ kind: 'link', created: true })
  await at.run(['work'])
  const done = await ended(at, added['import_id'])
  expect(done).toMatchObject({ status: 'completed', title: 'Essay 1', counts: { stretches: 2 } })
  const { stdout } = await at.run(['get-import', String(added['import_id'])])
  expect(stdout).toMatch(/^“Essay 1” is in the library; 1 source, \d+ highlights new\./)
  const { stdout: jobs } = await at.run(['jobs', '--all'])
  expect(jobs).toMatch(/read-link +.*Essay 1/)
  const { stdout: help } = await at.run(['add-source', '--help'])
  expect(help).toContain('commonplace add-source [--url TEXT]')
  expect(help).not.toContain('CONFIRM')
}, 120_000)

it('add --read has marked what add brings in', async () => {
  const at = workspace()
  const url = `${web.origin}/essay-2`
  await at.run(['add', url, '--wait'])
  const sources = async () => (await json(at, 'list-sources'))['sources'] as { highlights_count: number }[]
  expect(await sources()).toMatchObject([{ highlights_count: 0 }])
  await at.run(['add', url, '--read'])
  await expect
    .poll(async () => (await sources())[0]!.highlights_count, { timeout: 60_000, interval: 200 })
    .toBeGreaterThan(3)
  // As often as it is asked for, it is the same reading.
  const { import_id } = await addSource(at, 2)
  const { resumes } = await ended(at, import_id)
  const [read] = await sources()
  await at.run(['add', url, '--read'])
  await at.run(['work'])
  expect([resumes, await sources()]).toEqual([null, [read!]])
}, 120_000)

it('three programs at one library read every page once', async () => {
  const at = workspace()
  const ids: number[] = []
  for (let n = 0; n < PAGES; n++) ids.push(Number((await addSource(at, n))['import_id']))
  await Promise.all([at.run(['work']), at.run(['work']), at.run(['work'])])
  const seen = new Set<string>()
  let counted = 0
  for (const id of ids) {
    const { status, counts } = await ended(at, id)
    expect(status).toBe('completed')
    counted += (counts as { highlights: number }).highlights
  }
  const { stdout } = await at.run(['export-highlights', '--limit', '200', '--json'])
  const { csv } = JSON.parse(stdout) as { csv: string }
  for (const line of csv.trim().split('\r\n').slice(1)) seen.add(line)
  expect(counted).toBeGreaterThan(PAGES)
  expect(seen.size).toBe(counted)
}, 120_000)
