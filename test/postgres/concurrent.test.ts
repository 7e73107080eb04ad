import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { z } from 'zod'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { defineJob } from '../../src/core/define-job.ts'
import type { Library } from '../../src/core/library.ts'
import { getLocal, setLocal } from '../../src/db/changes.ts'
import { openPostgres, type Postgres } from '../../src/db/postgres/open.ts'
import { claimJob } from '../../src/jobs/queue.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { libraryOn, testPostgres } from '../support/library.ts'

/** Two processes as PostgreSQL sees them: each with connections, and with turns, of its own. */
let replicas: [Postgres, Postgres]

beforeAll(async () => {
  replicas = [await testPostgres(), await openPostgres({ url: inject('postgresUrl'), connections: 4 })]
})

afterAll(() => replicas[1].close())

/** A new library, opened by both. */
async function sharedLibrary(): Promise<[Library, Library]> {
  const number = await replicas[0].makeLibrary(randomUUID())
  return [libraryOn(replicas[0].ofLibrary(number)), libraryOn(replicas[1].ofLibrary(number))]
}

const note = defineJob({
  kind: 'note',
  input: z.object({ n: z.number() }),
  concurrency: 2,
  run: async () => {},
})

it('no id is given out twice, no change lost and none noted out of order, whoever writes', async () => {
  /** What each of some writers does, one after the other: rows to insert, and milliseconds to think in between. */
  const writer = fc.array(fc.record({ rows: fc.integer({ min: 1, max: 4 }), thinks: fc.nat(2) }), {
    minLength: 1,
    maxLength: 5,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(writer, { minLength: 2, maxLength: 6 }), async (writers) => {
      const libraries = await sharedLibrary()
      const given: number[] = []
      const write = async (library: Library, changes: (typeof writers)[number], name: number) => {
        for (const [step, { rows, thinks }] of changes.entries()) {
          await library.change(async (change) => {
            const count = Number((await getLocal(change.db, 'count')) ?? 0)
            const settings = Array.from({ length: rows }, (_, i) => ({
              key: `${name} ${step} ${i}`,
              value: String(count),
            }))
            given.push(...(await change.insertMany('setting', settings)))
            await new Promise((resolve) => setTimeout(resolve, thinks))
            await setLocal(change.db, 'count', String(count + rows))
          })
        }
      }
      await Promise.all(writers.map((changes, i) => write(libraries[i % 2]!, changes, i)))
      const { db } = libraries[0]
      const total = writers.flat().reduce((sum, { rows }) => sum + rows, 0)
      expect(new Set(given).size).toBe(total)
      expect(await getLocal(db, 'count')).toBe(String(total))
      const log = await db.selectFrom('change_log').selectAll().orderBy('seq').execute()
      expect(log.map(({ row_id }) => row_id)).toEqual(given.toSorted((a, b) => a - b))
      expect(log.map(({ clock }) => clock)).toEqual(log.map(({ clock }) => clock).toSorted())
    }),
    { numRuns: 15 },
  )
})

it('a change waits for the one before it, in whatever process, and then sees what that did', async () => {
  const [one, other] = await sharedLibrary()
  const order: string[] = []
  let second: Promise<unknown> | undefined
  await one.change(async (change) => {
    second = other.change(async ({ db }) => order.push(`second sees ${await getLocal(db, 'k')}`))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await setLocal(change.db, 'k', 'v')
    order.push('first is done')
  })
  await second
  expect(order).toEqual(['first is done', 'second sees v'])
})

it('many changes of one library leave connections to the others', async () => {
  const [busy] = await sharedLibrary()
  const [other] = await sharedLibrary()
  let finish: () => void = () => {}
  const held = new Promise<void>((resolve) => (finish = resolve))
  const changes = Array.from({ length: 50 }, () => busy.change(() => held))
  await other.change(({ db }) => setLocal(db, 'k', 'v'))
  expect(await getLocal(busy.db, 'k')).toBeUndefined()
  finish()
  await Promise.all(changes)
})

it('each job is done once, by whichever of two processes takes it', async () => {
  const libraries = await sharedLibrary()
  const done: number[] = []
  const job = defineJob({ ...note, input: note.input, run: async (_library, { n }) => void done.push(n) })
  await libraries[0].change(async (change) => {
    for (let n = 0; n < 40; n++) await change.later(job, { n })
  })
  const workers = libraries.map((library) => startWorker(library, [job]))
  await Promise.all(workers.map((worker) => worker.drained()))
  await Promise.all(workers.map((worker) => worker.stop()))
  expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n))
})

it('a job is taken while a change goes on, but not one that the change counts on', async () => {
  const [one, other] = await sharedLibrary()
  const waiting = await one.change((change) => change.later(note, { n: 1 }, { key: 'index' }))
  const free = await one.change((change) => change.later(note, { n: 2 }))
  const claim = () => claimJob(other.db, ['note'], 'other', new Date())
  await one.change(async (change) => {
    expect(await change.later(note, { n: 1 }, { key: 'index' })).toBe(waiting)
    expect((await claim())?.id).toBe(free)
    expect(await claim()).toBeUndefined()
  })
  expect((await claim())?.id).toBe(waiting)
  // It runs: what is queued under its key now is another.
  expect(await one.change((change) => change.later(note, { n: 1 }, { key: 'index' }))).not.toBe(waiting)
})
