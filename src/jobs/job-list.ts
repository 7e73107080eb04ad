import type { Kysely } from 'kysely'
import type { Db, Schema } from '../db/schema.ts'
import type { QueuedJob } from './queue.ts'

export const JOB_STATES = ['pending', 'running', 'failed', 'completed'] as const
export type JobState = (typeof JOB_STATES)[number]

/** How many jobs there are of each state; `since` counts only what has ended from that instant on. */
export async function countJobs(
  db: Kysely<Schema>,
  { since }: { since?: Date } = {},
): Promise<Record<JobState, number>> {
  let query = db
    .selectFrom('job')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .groupBy('state')
  if (since) query = query.where('finished_at', '>=', since.toISOString())
  const rows = await query.execute()
  const of = (state: JobState) => rows.find((row) => row.state === state)?.count ?? 0
  return { pending: of('pending'), running: of('running'), failed: of('failed'), completed: of('completed') }
}

/** Jobs of some states, last queued first. */
export const listJobs = (
  db: Kysely<Schema>,
  states: readonly JobState[],
  most: number,
): Promise<QueuedJob[]> =>
  db
    .selectFrom('job')
    .selectAll()
    .where('state', 'in', states)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()

/** When the next waiting job may be begun; undefined where none waits. */
export async function nextRun(db: Kysely<Schema>): Promise<Date | undefined> {
  const row = await db
    .selectFrom('job')
    .select('run_at')
    .where('state', '=', 'pending')
    .orderBy('run_at')
    .executeTakeFirst()
  return row && new Date(row.run_at)
}

/** How many jobs a process that ended has left, and how many have waited since before `due`. */
export async function countNeglected(
  db: Kysely<Schema>,
  now: Date,
  due: Date,
): Promise<{ abandoned: number; late: number }> {
  const { abandoned } = await db
    .selectFrom('job')
    .select(({ fn }) => fn.countAll<number>().as('abandoned'))
    .where('state', '=', 'running')
    .where('lease_until', '<', now.toISOString())
    .executeTakeFirstOrThrow()
  const { late } = await db
    .selectFrom('job')
    .select(({ fn }) => fn.countAll<number>().as('late'))
    .where('state', '=', 'pending')
    .where('run_at', '<', due.toISOString())
    .executeTakeFirstOrThrow()
  return { abandoned, late }
}

export const findJob = (db: Db, id: number): Promise<QueuedJob | undefined> =>
  db.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirst()
