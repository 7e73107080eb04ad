import type { Kysely, Transaction } from 'kysely'
import { Changes } from '../db/changes.ts'
import type { Soon } from '../db/runtime.ts'
import type { Schema } from '../db/schema.ts'
import { writeAudit, type Author } from './audit.ts'
import type { Job } from './define-job.ts'
import { Failure } from './failure.ts'
import type { Outside } from './outside.ts'

/** One reader's library as a use case sees it. */
export interface Library {
  /** For reading. Writing goes through `change`. */
  readonly db: Kysely<Schema>
  readonly outside: Outside
  readonly readOnly: boolean
  now(): Date
  /**
   * One transaction: rows, change log, queued jobs and the audit entry are committed together or not at all. Nothing that
   * waits for the outside world belongs inside.
   */
  change<T>(work: (change: Change) => Promise<T>): Promise<T>
  /**
   * The change that completes a write tool: what `work` gives is the tool's output, which is checked and remembered under
   * the call's `requestId` in the same transaction.
   */
  answer<T>(work: (change: Change) => Promise<T>): Promise<T>
  /** The same library on behalf of one call. */
  on(call: CallMark): Library
}

/** Who changes the library, for the audit log, and what has to happen in the transaction that answers. */
export interface CallMark extends Author {
  /** First statement of the answering transaction; may throw to end it. */
  begin?(db: Transaction<Schema>): Promise<void>
  /** Last but for the audit entry: gives the output as it is checked. */
  seal?(db: Transaction<Schema>, output: unknown): Promise<void>
}

/** The open transaction of one change. */
export class Change extends Changes {
  readonly db: Transaction<Schema>
  /** The instant of the change, ISO 8601. */
  readonly at: string
  /** When the earliest of the jobs queued here may begin; undefined where none was. */
  queuedFor: Date | undefined

  constructor(db: Transaction<Schema>, now: Date) {
    super(db, now)
    this.db = db
    this.at = now.toISOString()
  }

  /**
   * Queues a job. With a `key`, at most one job of the kind waits under it; the id is then that of the waiting one.
   */
  async later<I>(
    job: Job<I>,
    input: I,
    { key, runAt }: { key?: string; runAt?: Date } = {},
  ): Promise<number> {
    const due = runAt ?? new Date(this.at)
    if (this.queuedFor === undefined || due < this.queuedFor) this.queuedFor = due
    if (key !== undefined) {
      // Written, though nothing changes: nobody may begin it before what it is to find is committed.
      const waiting = await this.db
        .updateTable('job')
        .set({ state: 'pending' })
        .where('kind', '=', job.kind)
        .where('unique_key', '=', key)
        .where('state', '=', 'pending')
        .returning('id')
        .executeTakeFirst()
      if (waiting) return waiting.id
    }
    const id = await this.newId()
    await this.db
      .insertInto('job')
      .values({
        id,
        kind: job.kind,
        input: JSON.stringify(input),
        unique_key: key ?? null,
        state: 'pending',
        run_at: due.toISOString(),
        created_at: this.at,
        lease_until: null,
        lease_owner: null,
        progress: null,
        failure: null,
        finished_at: null,
      })
      .execute()
    return id
  }

  /** Lets the jobs that wait under a key begin now, since what it waits for is there. Does nothing where none wait. */
  async hasten(key: string): Promise<void> {
    const { numUpdatedRows } = await this.db
      .updateTable('job')
      .set({ run_at: this.at })
      .where('unique_key', '=', key)
      .where('state', '=', 'pending')
      .where('run_at', '>', this.at)
      .executeTakeFirst()
    if (numUpdatedRows > 0n) this.queuedFor = new Date(this.at)
  }
}

export interface LibraryParts {
  db: Kysely<Schema>
  outside: Outside
  readOnly?: boolean
  now?: () => Date
  /** Called before every change; may throw to refuse it. */
  guard?: () => void
  /** Called before the commit of a change that queued jobs, with when the earliest may begin and the open transaction. */
  queueing?: (due: Date, db: Transaction<Schema>) => Soon<void>
  /** Called after a commit that queued a job. */
  wake?: () => void
}

export function createLibrary(parts: LibraryParts): Library {
  const {
    db,
    outside,
    readOnly = false,
    now = () => new Date(),
    guard = () => {},
    queueing = () => {},
    wake = () => {},
  } = parts

  async function transact<T>(
    work: (change: Change) => Promise<T>,
    call: CallMark | undefined,
    answers: boolean,
  ): Promise<T> {
    if (readOnly) {
      throw new Failure('read_only', 'This library was opened for reading only.', {
        hint: 'Start Commonplace without --read-only to change the library.',
      })
    }
    guard()
    let queued = false
    const result = await db.transaction().execute(async (transaction) => {
      const change = new Change(transaction, now())
      if (answers) await call?.begin?.(transaction)
      const output = await work(change)
      if (answers) await call?.seal?.(transaction, output)
      const { touched, at } = change
      if (call && touched.length > 0)
        await writeAudit(transaction, { id: await change.newId(), at, touched }, call)
      await change.close()
      queued = change.queuedFor !== undefined
      if (change.queuedFor) await queueing(change.queuedFor, transaction)
      return output
    })
    if (queued) wake()
    return result
  }

  const bind = (call: CallMark | undefined): Library => ({
    db,
    outside,
    readOnly,
    now,
    change: (work) => transact(work, call, false),
    answer: (work) => transact(work, call, true),
    on: bind,
  })
  return bind(undefined)
}
