import type { RawBuilder } from 'kysely'
import type { FullText } from './full-text.ts'
import type { Db } from './schema.ts'
import type { Vectors } from './vectors.ts'

/** What the databases that keep libraries do each in a way of its own. All else is one text of SQL for both. */
export interface Engine {
  fullText: FullText
  vectors: Vectors
  /** Whether single rows can be locked, and locked ones passed over: `for update skip locked`. */
  locksRows: boolean
  /** A list of ids for `in`: one parameter, and so one statement, however long it is. */
  listed(ids: readonly number[]): RawBuilder<number>
}

/** Each library's dialect brings its engine, which so goes with every query builder and transaction on it. */
export interface EngineAdapter {
  readonly engine: Engine
}

/** The engine of the database that a library is kept in. */
export function engineOf(db: Db): Engine {
  const { adapter } = db.getExecutor()
  if (!('engine' in adapter)) throw new Error('This database keeps no library')
  return (adapter as EngineAdapter).engine
}
