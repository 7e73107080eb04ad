import type { Kysely, RawBuilder } from 'kysely'
import type { FullText } from './full-text.ts'
import type { Vectors } from './vectors.ts'

/** What the databases that keep libraries do each in a way of its own. All else is one text of SQL for both. */
export interface Engine {
  fullText: FullText
  vectors: Vectors
  /** Whether single rows can be locked, and locked ones passed over: `for update skip locked`. */
  locksRows: boolean
  lists: Lists
}

/** Lists as one parameter, so that a query is one statement however long its list is. */
export interface Lists {
  /** The parameter for a list. */
  bind(list: readonly (number | string)[]): unknown
  /** A subquery of one column with the list that is bound by this parameter, for `in` and to join with. */
  rows<T extends number | string>(parameter: unknown, of: 'bigint' | 'text'): RawBuilder<T>
}

/** Each library's dialect brings its engine, which so goes with every query builder and transaction on it. */
export interface EngineAdapter {
  readonly engine: Engine
}

/** The engine of the database that a library is kept in. */
export function engineOf(db: Pick<Kysely<unknown>, 'getExecutor'>): Engine {
  const { adapter } = db.getExecutor()
  if (!('engine' in adapter)) throw new Error('This database keeps no library')
  return (adapter as EngineAdapter).engine
}
