import type pg from 'pg'
import { PostgresError } from './postgres/postgres-error.ts'
import { named } from './postgres/statement-name.ts'
import type { CallCounts, Claim, Runtime, WorkDue } from './runtime.ts'

/**
 * Counts and due work of all replicas, beside the libraries and outside of row-level security. Counts are worth no log: after a
 * crash of the database all begin anew. Due work is written in the transaction that queues it, and survives what that survives.
 */
export const RUNTIME_LAYOUT: readonly string[] = [
  `create unlogged table call_count (
     key text primary key, short_until bigint not null, short_count integer not null,
     long_until bigint not null, long_count integer not null) with (fillfactor = 60)`,
  `create table work_due (
     library text primary key, due_at bigint not null, seq bigint not null)`,
  `create index work_due_at on work_due (due_at)`,
]

/** Marks a library as due; run in the transaction that queues the work. `$1` library, `$2` due at. */
export const MARK_WORK = `
  insert into work_due values ($1, $2, 1)
  on conflict (library) do update set due_at = least(work_due.due_at, excluded.due_at), seq = work_due.seq + 1`

/** The counts and the due work that any number of processes share. Does not end the pool. */
export const openRuntimeOnPostgres = (pool: pg.Pool): Runtime => ({
  calls: callCounts(pool),
  work: workDue(pool),
  close() {},
})

/** Throws `PostgresError`. */
async function ask<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: unknown[],
): Promise<pg.QueryResult<Row>> {
  try {
    return await pool.query<Row>(named(text, values))
  } catch (error) {
    throw new PostgresError(error)
  }
}

// One statement: whoever comes second waits for the row of the first, and decides by what the first left.
const TAKE = `
  insert into call_count values ($1, $2::bigint + $3, 1, $2::bigint + $4, 1)
  on conflict (key) do update set
    short_count = case when call_count.short_until <= $2 then 1 else call_count.short_count + 1 end,
    short_until = case when call_count.short_until <= $2 then excluded.short_until else call_count.short_until end,
    long_count = case when call_count.long_until <= $2 then 1 else call_count.long_count + 1 end,
    long_until = case when call_count.long_until <= $2 then excluded.long_until else call_count.long_until end
  where (call_count.short_until <= $2 or call_count.short_count < $5)
    and (call_count.long_until <= $2 or call_count.long_count < $6)
  returning 1`

interface CallCount {
  short_until: number
  short_count: number
  long_until: number
  long_count: number
}

function callCounts(pool: pg.Pool): CallCounts {
  return {
    async take(key, [short, long], now) {
      const taken = await ask(pool, TAKE, [key, now, short.ms, long.ms, short.most, long.most])
      if (taken.rowCount) return undefined
      const {
        rows: [row],
      } = await ask<CallCount>(pool, 'select * from call_count where key = $1', [key])
      // Both may be full: there is room when the later of the two has passed.
      if (row && row.long_until > now && row.long_count >= long.most)
        return { window: long, until: row.long_until }
      return { window: short, until: row?.short_until ?? now }
    },
    async sweep(now) {
      await ask(pool, 'delete from call_count where short_until <= $1 and long_until <= $1', [now])
    },
    async forget(keys) {
      await ask(pool, 'delete from call_count where key = any($1::text[])', [[...keys]])
    },
  }
}

function workDue(pool: pg.Pool): WorkDue {
  return {
    async mark(library, at) {
      await ask(pool, MARK_WORK, [library, at])
    },
    async introduce(libraries, now) {
      await ask(pool, 'insert into work_due select unnest($1::text[]), $2, 1 on conflict do nothing', [
        [...libraries],
        now,
      ])
    },
    async claim(now, leaseMs, limit) {
      const { rows } = await ask<Claim>(
        pool,
        `update work_due set due_at = $1, seq = seq + 1
         where library in (
           select library from work_due where due_at <= $2 order by due_at limit $3 for update skip locked)
         returning library, seq`,
        [now + leaseMs, now, limit],
      )
      return rows
    },
    async renew({ library, seq }, until) {
      await ask(pool, 'update work_due set due_at = $1 where library = $2 and seq = $3', [
        until,
        library,
        seq,
      ])
    },
    async settle({ library, seq }, next) {
      await ask(pool, 'update work_due set due_at = $1 where library = $2 and seq = $3', [next, library, seq])
    },
    // What a process held that is no more comes back when its lease has passed: of other machines nothing else is known.
    reclaim() {},
    async forget(library) {
      await ask(pool, 'delete from work_due where library = $1', [library])
    },
    async overdue(now) {
      const { rows } = await ask<{ count: number; since: number | null }>(
        pool,
        'select count(*)::integer as count, min(due_at) as since from work_due where due_at <= $1',
        [now],
      )
      const { count = 0, since = null } = rows[0] ?? {}
      return { count, ...(since !== null && { since: Number(since) }) }
    },
  }
}
