import { sql, type CompiledQuery, type Kysely, type RawBuilder } from 'kysely'
import { engineOf } from './engine.ts'
import type { Soon } from './runtime.ts'

/** The values that a prepared query is asked with, where its text is put together. */
export interface Given<V extends object> {
  /** Whether there is such a value: a query has a text for each set of values that are there. */
  has(name: keyof V): boolean
  value<K extends keyof V>(name: K): RawBuilder<Exclude<V[K], undefined>>
  /** A subquery of one column with a list of numbers or texts, for `in` and to join with. */
  list<K extends keyof V>(name: K, of: 'bigint' | 'text'): RawBuilder<ElementOf<V[K]>>
}

type Executes = Pick<Kysely<unknown>, 'getExecutor'>

/** A query of the builder's or a text of ours. */
interface Built<S, R> {
  compile(db: Kysely<S>): CompiledQuery<R>
}

type ElementOf<T> = Exclude<T, undefined> extends readonly (infer E extends number | string)[] ? E : never

/** A database in this process that may answer without being waited for. */
export interface AnswersAtOnce {
  /** The rows; undefined where the query has to wait for its turn, and then nothing was done. */
  answerAtOnce<R>(query: CompiledQuery<R>, inTransaction: boolean): R[] | undefined
  /** See `stateOf`. */
  state(): number | undefined
}

/**
 * A query whose text is put together once and that is then asked again and again with other values. For what every call needs:
 * putting a query together takes the builder ten times as long as SQLite takes to answer it (docs/decisions/0013).
 *
 * `build` may ask which values there are, and nothing else that could change: it is called once for each set of them. The rows are there at once where the database is in this process and free.
 */
export function prepared<S, V extends object, R>(
  build: (db: Kysely<S>, given: Given<V>) => Built<S, R>,
): (db: Kysely<S>, values: V) => Soon<R[]> {
  // The text is the same for all databases of one kind.
  const texts = new WeakMap<object, Map<string, CompiledQuery<R>>>()

  function textFor(db: Kysely<S>, kind: object, values: V): CompiledQuery<R> {
    let ofKind = texts.get(kind)
    if (!ofKind) texts.set(kind, (ofKind = new Map()))
    const shape = shapeOf(values)
    let text = ofKind.get(shape)
    if (!text) ofKind.set(shape, (text = build(db, givenOf(db, values)).compile(db)))
    return text
  }

  return (db, values) => {
    const { adapter } = db.getExecutor()
    const text = textFor(db, adapter.constructor, values)
    const parameters = text.parameters.map((parameter) => valueOf(db, parameter, values))
    const query = { sql: text.sql, parameters, query: text.query, queryId: text.queryId }
    const rows = answersAtOnce(adapter) ? adapter.answerAtOnce<R>(query, db.isTransaction) : undefined
    return rows ?? db.executeQuery<R>(query).then(({ rows }) => rows)
  }
}

/**
 * A number that is another one as soon as anything was written to the database, by whichever process: what was read from it
 * still holds for as long as the number stays. To be asked before what is to be remembered is read. Undefined where it cannot
 * be told at once.
 */
export function stateOf(db: Executes): number | undefined {
  const { adapter } = db.getExecutor()
  return answersAtOnce(adapter) ? adapter.state() : undefined
}

const answersAtOnce = (adapter: object): adapter is AnswersAtOnce => 'answerAtOnce' in adapter

/** Stands in a text for a value that comes later. */
class Later {
  readonly name: string
  readonly isList: boolean

  constructor(name: PropertyKey, isList: boolean) {
    this.name = String(name)
    this.isList = isList
  }
}

const givenOf = <V extends object>(db: Executes, values: V): Given<V> => ({
  has: (name) => values[name] !== undefined,
  value: (name) => sql`${new Later(name, false)}`,
  list: (name, of) => engineOf(db).lists.rows(new Later(name, true), of),
})

function valueOf(db: Executes, parameter: unknown, values: object): unknown {
  if (!(parameter instanceof Later)) return parameter
  const value: unknown = values[parameter.name as keyof typeof values]
  return parameter.isList ? engineOf(db).lists.bind(value as readonly (number | string)[]) : value
}

function shapeOf(values: object): string {
  let shape = ''
  for (const name in values) if (values[name as keyof typeof values] !== undefined) shape += `${name} `
  return shape
}
