import { spawnSync } from 'node:child_process'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { onPostgres, testLibrary } from '../../test/support/library.ts'
import { defineJob, type Job } from '../core/define-job.ts'
import { Failure } from '../core/failure.ts'
import type { Library } from '../core/library.ts'
import { ownerName } from './job-owner.ts'
import { claimJob } from './queue.ts'
import { startWorker } from './worker.ts'

/** This machine, as it names itself to other processes. */
const here = ownerName().split('/')[0]!

const jobStates = async (library: Library) =>
  (await library.db.selectFrom('job').select(['state', 'attempts']).orderBy('id').execute()).map(
    ({ state, attempts }) => `${state} ${attempts}`,
  )

const note = (run: Job<{ n: number }>['run'], options: Partial<Job<{ n: number }>> = {}) =>
  defineJob({ kind: 'note', input: z.object({ n: z.number() }), run, ...options })

describe('the worker', () => {
  it('does what was queued, once, in order', async () => {
    const done: number[] = []
    const job = note(async (_library, { n }) => void done.push(n))
    const library = await testLibrary()
    await library.change(async (change) => {
      for (const n of [1, 2, 3]) await change.later(job, { n })
    })
    const worker = startWorker(library, [job])
    await worker.drained()
    await worker.stop()
    expect(done).toEqual([1, 2, 3])
    expect(await jobStates(library)).toEqual(['completed 1', 'completed 1', 'completed 1'])
  })

  it('shares the work with others on the same library', async () => {
    const done: number[] = []
    const job = note(async (_library, { n }) => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      done.push(n)
    })
    const library = await testLibrary()
    await library.change(async (change) => {
      for (let n = 0; n < 20; n++) await change.later(job, { n })
    })
    const workers = [startWorker(library, [job]), startWorker(library, [job]), startWorker(library, [job])]
    await Promise.all(workers.map((worker) => worker.drained()))
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n))
  })

  it('runs as many of a kind at a time as the kind allows', async () => {
    let now = 0
    let most = 0
    const job = note(
      async () => {
        most = Math.max(most, ++now)
        await new Promise((resolve) => setTimeout(resolve, 5))
        now--
      },
      { concurrency: 2 },
    )
    const library = await testLibrary()
    await library.change(async (change) => {
      for (let n = 0; n < 6; n++) await change.later(job, { n })
    })
    const worker = startWorker(library, [job])
    await worker.drained()
    await worker.stop()
    expect(most).toBe(2)
  })

  it('tries again later what broke, and gives up in the end with its last word', async () => {
    let at = new Date('2026-03-01T12:00:00Z')
    const last: string[] = []
    const job = note(
      async () => {
        throw new Error('broken')
      },
      { attempts: 2, failed: async (_library, _input, failure) => void last.push((failure as Failure).code) },
    )
    const library = await testLibrary({ now: () => at })
    await library.change((change) => change.later(job, { n: 1 }))
    const worker = startWorker(library, [job])
    await worker.drained()
    expect(await jobStates(library)).toEqual(['pending 1'])
    expect(last).toEqual([])
    at = new Date('2026-03-01T12:00:06Z')
    await worker.drained()
    await worker.stop()
    expect(await jobStates(library)).toEqual(['failed 2'])
    expect(last).toEqual(['internal_error'])
  })

  it('does not try again what cannot work', async () => {
    const job = note(async () => {
      throw new Failure('unsupported_type', 'No.', { hint: 'Something else.' })
    })
    const library = await testLibrary()
    await library.change((change) => change.later(job, { n: 1 }))
    const worker = startWorker(library, [job])
    await worker.drained()
    await worker.stop()
    const row = await library.db.selectFrom('job').select(['state', 'failure']).executeTakeFirstOrThrow()
    expect(row.state).toBe('failed')
    expect(JSON.parse(row.failure ?? '')).toMatchObject({ hint: 'Something else.' })
  })

  it('tries again what met a busy library, however often, and never calls that its end', async () => {
    let at = new Date('2026-03-01T12:00:00Z')
    const last: unknown[] = []
    let busy = 5
    const job = note(
      async () => {
        if (busy-- > 0) throw new Failure('library_locked', 'Busy.', { hint: 'Wait.' })
      },
      { attempts: 2, failed: async (_library, _input, failure) => void last.push(failure) },
    )
    const library = await testLibrary({ now: () => at })
    await library.change((change) => change.later(job, { n: 1 }))
    const worker = startWorker(library, [job])
    for (let round = 0; round < 5; round++) {
      await worker.drained()
      at = new Date(at.getTime() + 5_000)
    }
    await worker.drained()
    await worker.stop()
    expect(last).toEqual([])
    expect(await jobStates(library)).toEqual(['completed 6'])
  })

  // A setting of SQLite takes the disk's place.
  it.skipIf(onPostgres)(
    'says so when the queue can be read but not written, and does not ask for ever',
    async () => {
      const library = await testLibrary()
      const job = note(async () => {})
      await library.change((change) => change.later(job, { n: 1 }))
      await sql`pragma query_only = on`.execute(library.db)
      const refused: string[] = []
      const onError = (_error: unknown, where: string) => void refused.push(where)
      const worker = startWorker(library, [job], { pollMs: 1, onError })
      await expect(worker.drained()).rejects.toThrow(/readonly/)
      await worker.stop()
      expect(refused.length).toBeGreaterThanOrEqual(3)
      expect(new Set(refused)).toEqual(new Set(['queue']))
    },
  )

  it('does not try again what the job says would only fail once more', async () => {
    const late = note(
      async () => {
        throw new Failure('timed_out', 'Too late.', { hint: 'Later.' })
      },
      { givesUpOn: ['timed_out'] },
    )
    const library = await testLibrary()
    await library.change((change) => change.later(late, { n: 1 }))
    const worker = startWorker(library, [late])
    await worker.drained()
    await worker.stop()
    expect(await jobStates(library)).toEqual(['failed 1'])
  })

  it('gives back what it was at when it is stopped', async () => {
    let begin = (): void => {}
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const job = note(async (_library, _input, { signal }) => {
      begin()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      signal.throwIfAborted()
    })
    const library = await testLibrary()
    await library.change((change) => change.later(job, { n: 1 }))
    const worker = startWorker(library, [job])
    await begun
    expect(await jobStates(library)).toEqual(['running 1'])
    await worker.stop()
    expect(await jobStates(library)).toEqual(['pending 0'])
  })
})

it('a job whose process died on this machine is taken up at once', async () => {
  const done: number[] = []
  const job = note(async (_library, { n }) => void done.push(n))
  const library = await testLibrary()
  await library.change((change) => change.later(job, { n: 1 }))
  const { pid } = spawnSync(process.execPath, ['-e', '0'])
  await claimJob(library.db, ['note'], `${here}/${pid}/gone`, library.now())
  const worker = startWorker(library, [job])
  await worker.drained()
  await worker.stop()
  expect(done).toEqual([1])
})

it('a job of a process that lives, or of another machine, is left to it', async () => {
  const job = note(async () => {})
  const library = await testLibrary()
  await library.change(async (change) => [
    await change.later(job, { n: 1 }),
    await change.later(job, { n: 2 }),
  ])
  await claimJob(library.db, ['note'], `${here}/${process.pid}/other`, library.now())
  await claimJob(library.db, ['note'], 'elsewhere/1/other', library.now())
  const worker = startWorker(library, [job])
  await worker.drained()
  await worker.stop()
  expect(await jobStates(library)).toEqual(['running 1', 'running 1'])
})

it('a job that another process took over is left to it, and has not failed', async () => {
  const failures: unknown[] = []
  const job = note(
    async (library, _input, run) => {
      const taken = { lease_owner: 'elsewhere/1/x' }
      await library.db.updateTable('job').set(taken).where('id', '=', run.id).execute()
      await run.progress(1)
      run.signal.throwIfAborted()
    },
    { failed: async (_library, _input, failure) => void failures.push(failure) },
  )
  const library = await testLibrary()
  await library.change((change) => change.later(job, { n: 1 }))
  const worker = startWorker(library, [job])
  await worker.drained()
  await worker.stop()
  expect(failures).toEqual([])
  expect(await jobStates(library)).toEqual(['running 1'])
})

it('is done when all that is left is of a kind it does not know', async () => {
  const library = await testLibrary()
  await library.change((change) =>
    change.later({ ...note(async () => {}), kind: 'of a later version' }, { n: 1 }),
  )
  const worker = startWorker(library, [note(async () => {})])
  await worker.drained()
  await worker.stop()
  expect(await jobStates(library)).toEqual(['pending 0'])
})

describe('the queue', () => {
  it('holds one waiting job under a key', async () => {
    const job = note(async () => {})
    const library = await testLibrary()
    const ids = await library.change(async (change) => [
      await change.later(job, { n: 1 }, { key: 'same' }),
      await change.later(job, { n: 2 }, { key: 'same' }),
      await change.later(job, { n: 3 }, { key: 'other' }),
    ])
    expect(ids[0]).toBe(ids[1])
    expect(await jobStates(library)).toHaveLength(2)
  })

  it('lets what waits under a key begin when what it waits for is there', async () => {
    const job = note(async () => {})
    const now = new Date('2026-01-01T00:00:00.000Z')
    const library = await testLibrary({ now: () => now })
    const runAt = new Date('2026-01-01T01:00:00.000Z')
    for (const key of ['mine', 'other'])
      await library.change((change) => change.later(job, { n: 1 }, { key, runAt }))
    const queuedFor = await library.change(async (change) => {
      await change.hasten('mine')
      return change.queuedFor
    })
    expect(queuedFor).toEqual(now)
    expect(await claimJob(library.db, ['note'], 'one', now)).toMatchObject({ unique_key: 'mine' })
    expect(await claimJob(library.db, ['note'], 'one', now)).toBeUndefined()
    expect(
      await library.change(async (change) => {
        await change.hasten('nothing')
        return change.queuedFor
      }),
    ).toBeUndefined()
  })

  it('gives a job to another process when the first gave no sign for a lease', async () => {
    const job = note(async () => {})
    const library = await testLibrary()
    await library.change((change) => change.later(job, { n: 1 }))
    const now = new Date()
    const first = await claimJob(library.db, ['note'], 'one', now)
    expect(first?.lease_owner).toBe('one')
    expect(await claimJob(library.db, ['note'], 'two', new Date(now.getTime() + 59_000))).toBeUndefined()
    const second = await claimJob(library.db, ['note'], 'two', new Date(now.getTime() + 61_000))
    expect(second).toMatchObject({ id: first?.id, attempts: 2, lease_owner: 'two' })
  })
})
