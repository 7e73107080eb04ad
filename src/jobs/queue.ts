import { sql, type Kysely, type Selectable } from 'kysely'
import { engineOf } from '../db/engine.ts'
import type { JobTable, Schema } from '../db/schema.ts'

export type QueuedJob = Selectable<JobTable>

/** How long a process may hold a job without a sign of life. */
export const LEASE_MS = 60_000

const later = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString()

/**
 * Takes one due job of the given kinds: a waiting one, or a running one whose process gave no sign for a lease. It is one
 * statement, so that no other process takes the same; where rows can be locked it passes over those that others are at.
 */
export async function claimJob(
  db: Kysely<Schema>,
  kinds: readonly string[],
  owner: string,
  now: Date,
): Promise<QueuedJob | undefined> {
  if (kinds.length === 0) return undefined
  const due = db
    .selectFrom('job')
    .select('id')
    .where('kind', 'in', kinds)
    .where((where) =>
      where.or([
        where.and([where('state', '=', 'pending'), where('run_at', '<=', now.toISOString())]),
        where.and([where('state', '=', 'running'), where('lease_until', '<', now.toISOString())]),
      ]),
    )
    // What was begun often comes last: a job that brings its process down must not keep the others from their turn.
    .orderBy('attempts')
    .orderBy('run_at')
    .orderBy('id')
    .limit(1)
    .$if(engineOf(db).locksRows, (query) => query.forUpdate().skipLocked())
  return db
    .updateTable('job')
    .set({
      state: 'running',
      attempts: sql<number>`attempts + 1`,
      lease_owner: owner,
      lease_until: later(now, LEASE_MS),
    })
    .where('id', '=', due)
    .returningAll()
    .executeTakeFirst()
}

/** Lets go of jobs whose process is known to be dead, so that nobody waits for their leases to end. */
export async function releaseDeadJobs(
  db: Kysely<Schema>,
  isDead: (owner: string) => boolean,
  now: Date,
): Promise<void> {
  const held = await db
    .selectFrom('job')
    .select(['id', 'lease_owner'])
    .where('state', '=', 'running')
    .execute()
  for (const { id, lease_owner } of held) {
    if (lease_owner === null || !isDead(lease_owner)) continue
    await db
      .updateTable('job')
      .set({ lease_until: later(now, -1) })
      .where('id', '=', id)
      .where('lease_owner', '=', lease_owner)
      .execute()
  }
}

/** Whether anything waits that a worker could do now. */
export async function hasDueJobs(db: Kysely<Schema>, kinds: readonly string[], now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('job')
    .select('id')
    .where('kind', 'in', kinds)
    .where('state', '=', 'pending')
    .where('run_at', '<=', now.toISOString())
    .executeTakeFirst()
  return row !== undefined
}

/**
 * When there is next something to do: a waiting job's time, or the end of a running one's lease, past which its process
 * counts as dead. Undefined where no job of these kinds waits or runs.
 */
export async function nextDue(db: Kysely<Schema>, kinds: readonly string[]): Promise<Date | undefined> {
  const { at } = await db
    .selectFrom('job')
    .select(sql<string | null>`min(case when state = 'pending' then run_at else lease_until end)`.as('at'))
    .where('kind', 'in', kinds)
    .where('state', 'in', ['pending', 'running'])
    .executeTakeFirstOrThrow()
  return at === null ? undefined : new Date(at)
}

/** Keeps a job; false where it was lost to another process. */
export async function keepJob(
  db: Kysely<Schema>,
  id: number,
  owner: string,
  now: Date,
  progress?: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('job')
    .set({ lease_until: later(now, LEASE_MS), ...(progress !== undefined && { progress }) })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function completeJob(db: Kysely<Schema>, id: number, owner: string, now: Date): Promise<void> {
  await db
    .updateTable('job')
    .set({
      state: 'completed',
      finished_at: now.toISOString(),
      lease_until: null,
      lease_owner: null,
      failure: null,
    })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .execute()
}

/** Puts a job back for another try at `runAt`, or gives it up where `runAt` is undefined. */
export async function failJob(
  db: Kysely<Schema>,
  id: number,
  owner: string,
  now: Date,
  failure: string,
  runAt: Date | undefined,
): Promise<void> {
  await db
    .updateTable('job')
    .set({
      // Another job may wait under the same key by now: this one then needs no further try.
      state: runAt ? 'pending' : 'failed',
      unique_key: null,
      run_at: (runAt ?? now).toISOString(),
      finished_at: runAt ? null : now.toISOString(),
      lease_until: null,
      lease_owner: null,
      failure,
    })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .execute()
}

/** Gives a job back untried, as a process does that ends. */
export async function releaseJob(db: Kysely<Schema>, id: number, owner: string): Promise<void> {
  await db
    .updateTable('job')
    .set({
      state: 'pending',
      unique_key: null,
      attempts: sql<number>`attempts - 1`,
      lease_until: null,
      lease_owner: null,
    })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .execute()
}

/** Forgets jobs that ended before `before`. */
export async function forgetJobs(db: Kysely<Schema>, before: Date): Promise<void> {
  await db
    .deleteFrom('job')
    .where('state', 'in', ['completed', 'failed'])
    .where('finished_at', '<', before.toISOString())
    .execute()
}
