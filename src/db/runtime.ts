import { rmSync } from 'node:fs'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { Result, resultCodeOf } from './sqlite/result-code.ts'
import { together } from './sqlite/together.ts'

/** An answer that is there at once from a file of this machine, and later from a database elsewhere. */
export type Soon<T> = T | Promise<T>

/** What the processes of one server share and can afford to lose: counts of calls, and which libraries have work due. */
export interface Runtime {
  calls: CallCounts
  work: WorkDue
  close(): Soon<void>
}

/** At most `most` in any one window of `ms` milliseconds; a window begins with its first call. */
export interface Window {
  ms: number
  most: number
}

export interface CallCounts {
  /**
   * Counts one call under `key`, where both windows have room for it, and says whether they had: undefined if so, else the
   * window that is full and the instant (milliseconds) from which there is room again. What is refused is not counted.
   */
  take(key: string, windows: readonly [Window, Window], now: number): Soon<FullWindow | undefined>
  /** Forgets what no window counts any more. */
  sweep(now: number): Soon<void>
  /** Forgets what was counted under these keys. */
  forget(keys: readonly string[]): Soon<void>
}

export interface FullWindow {
  window: Window
  /** Milliseconds. */
  until: number
}

/** Which libraries have work, and from when on. Every row can be made again by looking into the library. */
export interface WorkDue {
  /** Says that a library has work from `at` on (milliseconds); what is due earlier stays so. */
  mark(library: string, at: number): Soon<void>
  /** Says that a library may have work now, if nothing is known of it. */
  introduce(libraries: Iterable<string>, now: number): Soon<void>
  /** Takes libraries whose time has come; nobody else is given them for `leaseMs`, unless they are marked again. */
  claim(now: number, leaseMs: number, limit: number): Soon<Claim[]>
  /** Keeps a claimed library until then, unless it was marked meanwhile. */
  renew(claim: Claim, until: number): Soon<void>
  /** Puts a claimed library back for `next`, unless it was marked meanwhile: then it is due as marked. */
  settle(claim: Claim, next: number): Soon<void>
  /** Gives back what processes claimed that are no more, as far as that is known before their leases have passed. */
  reclaim(now: number): Soon<void>
  forget(library: string): Soon<void>
  /** How many libraries are due, and since when the oldest of them is. */
  overdue(now: number): Soon<Overdue>
}

export interface Overdue {
  count: number
  /** Milliseconds; absent where none is due. */
  since?: number
}

export interface Claim {
  library: string
  seq: number
}

const LAYOUT = `
  create table if not exists call_count (
    key text primary key, short_until integer not null, short_count integer not null,
    long_until integer not null, long_count integer not null
  ) without rowid, strict;
  create table if not exists work_due (
    library text primary key, due_at integer not null, seq integer not null, claimed integer not null
  ) without rowid, strict;
  create index if not exists work_due_at on work_due (due_at);
`

/**
 * A file of its own beside the accounts: it is written at every call, so without waiting for the disk, and each write is done
 * before anything else in this process is. Made anew where it is missing or broken: nothing in it is worth a refusal. Calls are
 * counted at the end of the process's turn, all other answers are there at once.
 */
export function openRuntime(file: string): Runtime {
  let database: DatabaseSyncInstance
  try {
    database = connect(file)
  } catch (error) {
    // 11 and 26: damaged, or no database at all.
    const code = error instanceof Error && 'sqliteCode' in error ? Number(error.sqliteCode) & 0xff : 0
    if (code !== 11 && code !== 26) throw error
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
    database = connect(file)
  }
  return { calls: callCounts(database), work: workDue(database), close: () => database.close() }
}

/** The same counts, which go on in memory, for this process alone, while the disk takes none: reading needs no room on it. */
export function countedThoughFull(counts: CallCounts): CallCounts {
  let spare: CallCounts | undefined
  return {
    ...counts,
    async take(key, windows, now) {
      try {
        return await counts.take(key, windows, now)
      } catch (error) {
        const code = resultCodeOf(error)
        if (code !== Result.full && code !== Result.ioError) throw error
        spare ??= openRuntime(':memory:').calls
        return spare.take(key, windows, now)
      }
    },
    async sweep(now) {
      await spare?.sweep(now)
      await counts.sweep(now)
    },
    async forget(keys) {
      await spare?.forget(keys)
      await counts.forget(keys)
    },
  }
}

function connect(file: string): DatabaseSyncInstance {
  const database = new DatabaseSync(file, { timeout: 5_000 })
  try {
    // Small pages, since each call writes one; never waiting for the disk, since a process that dies takes nothing with it.
    // Only a machine that dies can leave the file broken, and whoever opens it then finds that out.
    database.exec('pragma page_size = 512; pragma journal_mode = wal; pragma synchronous = off')
    const found = database.prepare('pragma quick_check(1)').get() as { quick_check: string }
    if (found.quick_check !== 'ok') throw Object.assign(new Error(found.quick_check), { sqliteCode: 11 })
    database.exec(LAYOUT)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

interface Taking {
  key: string
  windows: readonly [Window, Window]
  now: number
}

function callCounts(database: DatabaseSyncInstance): CallCounts {
  // Nearly every call: both windows are open and have room.
  const again = database.prepare(`
    update call_count set short_count = short_count + 1, long_count = long_count + 1
    where key = ?1 and short_until > ?2 and short_count < ?3 and long_until > ?2 and long_count < ?4`)
  // In one statement, so that processes that share the file never let through one too many.
  const take = database.prepare(`
    insert into call_count values (:key, :now + :short, 1, :now + :long, 1)
    on conflict (key) do update set
      short_count = iif(short_until <= :now, 1, short_count + 1),
      short_until = iif(short_until <= :now, :now + :short, short_until),
      long_count = iif(long_until <= :now, 1, long_count + 1),
      long_until = iif(long_until <= :now, :now + :long, long_until)
    where (short_until <= :now or short_count < :mostShort) and (long_until <= :now or long_count < :mostLong)
    returning 1`)
  const look = database.prepare('select * from call_count where key = ?')
  const forget = database.prepare('delete from call_count where key = ?')
  const sweep = database.prepare('delete from call_count where short_until <= ?1 and long_until <= ?1')
  const takeOne = ({ key, windows: [short, long], now }: Taking): FullWindow | undefined => {
    if (again.run(key, now, short.most, long.most).changes === 1) return undefined
    // All of it: the binding keeps an error to itself that comes after the row that was asked for.
    const taken = take.all({
      key,
      now,
      short: short.ms,
      long: long.ms,
      mostShort: short.most,
      mostLong: long.most,
    })
    if (taken.length > 0) return undefined
    const row = look.get(key) as
      | { short_until: number; short_count: number; long_until: number; long_count: number }
      | undefined
    // Both may be full: there is room when the later of the two has passed.
    if (row && row.long_until > now && row.long_count >= long.most)
      return { window: long, until: row.long_until }
    return { window: short, until: row?.short_until ?? now }
  }
  const takeInTurn = together(database, takeOne)
  return {
    take: (key, windows, now) => takeInTurn({ key, windows, now }),
    sweep: (now) => void sweep.run(now),
    forget(keys) {
      for (const key of keys) forget.run(key)
    },
  }
}

function workDue(database: DatabaseSyncInstance): WorkDue {
  const mark = database.prepare(`
    insert into work_due values (?, ?, 1, 0)
    on conflict (library) do update set due_at = min(due_at, excluded.due_at), seq = seq + 1, claimed = 0`)
  const introduce = database.prepare('insert or ignore into work_due values (?, ?, 1, 0)')
  const claim = database.prepare(`
    update work_due set due_at = :until, seq = seq + 1, claimed = 1
    where library in (select library from work_due where due_at <= :now order by due_at limit :limit)
    returning library, seq`)
  const renew = database.prepare('update work_due set due_at = ? where library = ? and seq = ?')
  const settle = database.prepare('update work_due set due_at = ?, claimed = 0 where library = ? and seq = ?')
  const reclaim = database.prepare('update work_due set due_at = ?, claimed = 0 where claimed = 1')
  const forget = database.prepare('delete from work_due where library = ?')
  const overdue = database.prepare(
    'select count(*) as count, min(due_at) as since from work_due where due_at <= ?',
  )
  return {
    mark: (library, at) => void mark.run(library, at),
    introduce(libraries, now) {
      for (const library of libraries) introduce.run(library, now)
    },
    claim: (now, leaseMs, limit) => claim.all({ now, until: now + leaseMs, limit }) as unknown as Claim[],
    renew: ({ library, seq }, until) => void renew.run(until, library, seq),
    settle: ({ library, seq }, next) => void settle.run(next, library, seq),
    reclaim: (now) => void reclaim.run(now),
    forget: (library) => void forget.run(library),
    overdue(now) {
      const { count, since } = overdue.get(now) as { count: number; since: number | null }
      return { count, ...(since !== null && { since }) }
    },
  }
}
