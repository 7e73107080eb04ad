import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Schema } from '../db/schema.ts'
import { Failure } from '../core/failure.ts'
import type { CallMark, Library } from '../core/library.ts'

const REMEMBERED_MS = 24 * 60 * 60 * 1000
/** How long a call with work outside the library may hold its claim before another may try. */
const LEASE_MS = 5 * 60 * 1000

/** Thrown to end a transaction whose result is known already. */
class Replayed extends Error {
  readonly output: unknown
  constructor(output: unknown) {
    super('replayed')
    this.output = output
  }
}

export interface Replay {
  /** What the call adds to the transaction that answers it. */
  mark: Pick<CallMark, 'begin' | 'seal'>
  /** Runs the call, or gives the first result of the same `requestId`. */
  run(work: () => Promise<Record<string, unknown>>): Promise<unknown>
}

/**
 * One effect for one `requestId`, however often the call comes: the first result is remembered for 24 hours in the
 * transaction of the effect. Other arguments under the same id are `invalid_input`, a call still running is `in_progress`,
 * and a call that failed frees its id.
 */
export function replayOf(
  library: Library,
  tool: { name: string; reachesOut: boolean },
  requestId: string,
  args: unknown,
): Replay {
  const hash = createHash('sha256').update(canonicalJson(args)).digest('hex')
  const key = { tool: tool.name, request_id: requestId }

  /** Throws where the id is taken; otherwise the id is free, or its claim is ours or dead. */
  async function check(db: Transaction<Schema>, ours: boolean): Promise<void> {
    const now = library.now()
    const forgotten = new Date(now.getTime() - REMEMBERED_MS).toISOString()
    await db.deleteFrom('request').where('created_at', '<', forgotten).execute()
    const row = await db
      .selectFrom('request')
      .selectAll()
      .where('tool', '=', key.tool)
      .where('request_id', '=', key.request_id)
      .executeTakeFirst()
    if (!row) return
    if (row.arguments_hash !== hash) {
      throw new Failure(
        'invalid_input',
        `requestId ${JSON.stringify(requestId)} was used with other arguments.`,
        {
          hint: 'Use a new requestId for a new call; repeat the very same arguments to get the first result again.',
        },
      )
    }
    if (row.state === 'done') throw new Replayed(JSON.parse(row.output ?? 'null'))
    if (!ours && row.lease_until !== null && row.lease_until > now.toISOString()) {
      throw new Failure('in_progress', 'The same call is still running.', {
        hint: 'Wait a moment and call again with the same requestId to get its result.',
        retryAfterSeconds: 5,
      })
    }
  }

  /** Until when the claim is ours; another process that took it over wrote a later instant. */
  let leaseUntil: string | null = null

  async function record(
    db: Transaction<Schema>,
    state: 'claimed' | 'done',
    output: string | null,
  ): Promise<void> {
    const now = library.now()
    const lease_until = state === 'claimed' ? new Date(now.getTime() + LEASE_MS).toISOString() : null
    leaseUntil = lease_until ?? leaseUntil
    await db
      .insertInto('request')
      .values({ ...key, arguments_hash: hash, state, lease_until, output, created_at: now.toISOString() })
      .onConflict((conflict) =>
        conflict.columns(['tool', 'request_id']).doUpdateSet({ state, lease_until, output }),
      )
      .execute()
  }

  const release = () =>
    library.db
      .deleteFrom('request')
      .where('tool', '=', key.tool)
      .where('request_id', '=', key.request_id)
      .where('state', '=', 'claimed')
      .where('lease_until', '=', leaseUntil)
      .execute()

  return {
    mark: {
      begin: (db) => check(db, tool.reachesOut),
      seal: (db, output) => record(db, 'done', JSON.stringify(output)),
    },
    async run(work) {
      let claimed = false
      try {
        if (tool.reachesOut) {
          await library.change(async (change) => {
            await check(change.db, false)
            await record(change.db, 'claimed', null)
          })
          claimed = true
        }
        return await work()
      } catch (error) {
        if (error instanceof Replayed) return error.output
        // A claim that cannot be freed now ends with its lease; what went wrong first is what is told.
        if (claimed) await release().catch(() => undefined)
        throw error
      }
    },
  }
}

/** JSON with sorted keys, so that the order of arguments is no difference. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === 'object' && entry !== null && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : entry,
  )
}
