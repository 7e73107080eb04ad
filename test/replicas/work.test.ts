/** Queued work and limits, which replicas share. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import pg from 'pg'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { freshDatabase } from '../support/postgres.ts'
import { pageOf, queue, startReplicas, until, type Replica, type Replicas } from './replicas.ts'

let at: Replicas
let database: pg.Client
/** How often each page was fetched. */
const fetched = new Map<string, number>()
/** Pages that nobody is given until they are let go. */
const held = new Map<string, (() => void)[]>()

beforeAll(async () => {
  const url = await freshDatabase(inject('postgresUrl'))
  database = new pg.Client({ connectionString: url })
  await database.connect()
  at = await startReplicas(url, {
    async pageOf(path) {
      fetched.set(path, (fetched.get(path) ?? 0) + 1)
      const waiting = held.get(path)
      if (waiting) await new Promise<void>((resolve) => waiting.push(resolve))
      return pageOf(path.slice(1))
    },
    env: { COMMONPLACE_READS_PER_MINUTE: '40' },
  })
})
afterAll(async () => {
  await at.stop()
  await database.end()
})

const both = (): [Replica, Replica] => [at.one, at.two]

/** The process that does a job, as the job says. */
async function holder(): Promise<number | undefined> {
  const { rows } = await database.query<{ lease_owner: string }>(
    `select lease_owner from job where state = 'running' and kind = 'capture'`,
  )
  const pids = both().map(({ child }) => child.pid!)
  return pids.find((pid) => rows.some(({ lease_owner }) => lease_owner.split('/').includes(String(pid))))
}

it('calls are counted together: exactly as many pass as one connection may make', async () => {
  const token = await at.tokenFor(await at.newReader())
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => both()[n % 2]!.api(token, 'list_items')),
  )
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(40)
  expect(statuses.filter((status) => status === 429)).toHaveLength(60)
  // Whatever another connection does is not counted against this one.
  const other = await at.tokenFor(await at.newReader())
  expect((await at.two.api(other, 'list_items')).status).toBe(200)
})

it('each queued job is done once, whoever does it', async () => {
  const readers = await Promise.all([at.newReader(), at.newReader(), at.newReader()])
  await Promise.all(
    readers.map(async (reader, r) => {
      const paths = Array.from({ length: 6 }, (_, n) => `once-${r}-${n}`)
      await queue(at, await at.tokenFor(reader), paths)
      for (const path of paths) expect(fetched.get(`/${path}`)).toBe(1)
    }),
  )
})

it('a replica that is killed at its work leaves it to the other, and nothing that was acknowledged is lost', async () => {
  const reader = await at.newReader()
  const [first, second] = [await at.tokenFor(reader), await at.tokenFor(reader)]
  held.set('/slow', [])
  const asked = await at.one.api(first, 'queue_save', { url: `${at.web.origin}/slow` })
  expect(asked.status).toBe(200)
  await until(async () => held.get('/slow')!.length > 0 && (await holder()) !== undefined)
  const pid = await holder()
  const [dead, alive] = at.one.child.pid === pid ? [at.one, at.two] : [at.two, at.one]
  dead.child.kill('SIGKILL')
  await dead.ended
  const waiting = held.get('/slow')!
  held.delete('/slow')
  for (const go of waiting) go()
  await until(async () => {
    const { body } = await alive.api(second, 'list_items')
    return ((body['items'] ?? []) as Json[]).some(({ title }) => title === 'slow')
  }, 100_000)
  expect(fetched.get('/slow')).toBe(2)
}, 120_000)
