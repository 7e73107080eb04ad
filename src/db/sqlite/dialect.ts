import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type LimitNode,
  type OffsetNode,
  type QueryResult,
} from 'kysely'
import type { EngineAdapter } from '../engine.ts'
import type { AnswersAtOnce } from '../prepared.ts'
import { sqliteEngine } from './engine.ts'
import { noteClosed } from './free-closed.ts'
import { Result, resultCodeOf } from './result-code.ts'

type Statement = ReturnType<DatabaseSyncInstance['prepare']>
type Bound = string | number | bigint | Uint8Array | null

const CACHED_STATEMENTS = 400
/** How long statements may follow one another before the process does something else: a change may hold thousands. */
const TURN_MS = 15

/** How long a write waits for another process, in milliseconds. */
const BUSY_MS = 10_000
/** How much of that at a stretch, with everything else in this process at a stand. */
const STRETCH_MS = 20
/** Longest pause between two tries: as that of SQLite's own busy handler. */
const PAUSE_MS = 100

/** Kysely on the synchronous `node:sqlite` interface: one connection, taken by one query or one transaction at a time. */
export function sqliteDialect(database: DatabaseSyncInstance): Dialect {
  const driver = new SqliteDriver(database)
  return {
    createAdapter: () => new DirectAdapter(driver),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new LimitsThatStay(),
  }
}

/**
 * SQLite plans by the value of a bare `limit ?`: each time one is bound it prepares the whole statement anew, which costs more
 * than a small query itself. A sum it takes as it comes.
 */
class LimitsThatStay extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node)
    this.append(' + 0')
  }

  protected override visitOffset(node: OffsetNode): void {
    super.visitOffset(node)
    this.append(' + 0')
  }
}

/** Where the query builder's own way, with a promise for each of its layers, can be left out. */
class DirectAdapter extends SqliteAdapter implements AnswersAtOnce, EngineAdapter {
  readonly engine = sqliteEngine
  readonly #driver: SqliteDriver

  constructor(driver: SqliteDriver) {
    super()
    this.#driver = driver
  }

  answerAtOnce<R>(query: CompiledQuery<R>, inTransaction: boolean): R[] | undefined {
    return this.#driver.answerAtOnce(query, inTransaction)
  }

  state(): number | undefined {
    return this.#driver.state()
  }
}

class SqliteDriver implements Driver {
  readonly #database: DatabaseSyncInstance
  readonly #connection: SqliteConnection
  readonly #waiting: (() => void)[] = []
  #ready = false
  #taken = false

  constructor(database: DatabaseSyncInstance) {
    this.#database = database
    this.#connection = new SqliteConnection(database, (pauseMs) => this.#giveWay(pauseMs))
  }

  async init(): Promise<void> {
    this.#database.exec(`pragma busy_timeout = ${STRETCH_MS}`)
    this.#ready = true
  }

  /** A transaction asks on the connection that it has; all others have to wait for it to be free. */
  answerAtOnce<R>(query: CompiledQuery<R>, inTransaction: boolean): R[] | undefined {
    return this.#ready && (inTransaction || !this.#taken) ? this.#connection.answerAtOnce(query) : undefined
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#taken = true
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#taken = false
  }

  /** Lets others have the connection while its holder has to wait. */
  async #giveWay(pauseMs: number): Promise<void> {
    await this.releaseConnection()
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    await this.acquireConnection()
  }

  /** Immediate, so that two processes never both read first and then fail to write. */
  async beginTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(): Promise<void> {
    // A full disk or a broken file may have ended the transaction already.
    if (this.#connection.inTransaction) await this.#connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  state(): number | undefined {
    return this.#ready && !this.#taken ? this.#connection.state() : undefined
  }

  async destroy(): Promise<void> {
    this.#ready = false
    this.#connection.close()
  }
}

interface Prepared {
  /** Gives rows as arrays. */
  statement: Statement
  /** Of its columns; none where it gives no rows. */
  names: string[]
  writes: boolean
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSyncInstance
  readonly #giveWay: (pauseMs: number) => Promise<void>
  readonly #statements = new Map<string, Prepared>()
  #writes = 0

  constructor(database: DatabaseSyncInstance, giveWay: (pauseMs: number) => Promise<void>) {
    this.#database = database
    this.#giveWay = giveWay
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  close(): void {
    this.#statements.clear()
    if (!this.#database.isOpen) return
    this.#database.close()
    noteClosed()
  }

  /** Outside of a transaction it waits for another process to let go of the file, and others go on here meanwhile. */
  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (isTurnOver()) await nextTurn()
    let until: number | undefined
    for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS)) {
      try {
        return this.#run(query)
      } catch (error) {
        if (resultCodeOf(error) !== Result.busy || this.#database.isTransaction) throw error
        until ??= Date.now() + BUSY_MS
        if (Date.now() >= until) throw error
        await this.#giveWay(pauseMs)
      }
    }
  }

  /** The rows, if nothing is in the way. */
  answerAtOnce<R>(query: CompiledQuery<R>): R[] | undefined {
    if (isTurnOver()) return undefined
    try {
      return this.#run<R>(query).rows
    } catch (error) {
      if (resultCodeOf(error) !== Result.busy || this.#database.isTransaction) throw error
      return undefined
    }
  }

  /** Both only grow: what other connections committed (https://sqlite.org/pragma.html#pragma_data_version), what this one did. */
  state(): number {
    const [version] = this.#prepare('pragma data_version').statement.get() as unknown as [number]
    return version + this.#writes
  }

  #run<R>(query: CompiledQuery): QueryResult<R> {
    const prepared = this.#prepare(query.sql)
    const { statement } = prepared
    if (prepared.writes) this.#writes++
    const values = query.parameters.map(bind)
    if (prepared.names.length > 0) {
      const rows = statement.all(...values) as unknown as unknown[][]
      // SQLite follows a changed layout by itself.
      if (rows[0] && rows[0].length !== prepared.names.length) prepared.names = namesOf(statement)
      return { rows: rows.map((row) => rowOf<R>(prepared.names, row)) }
    }
    const { changes, lastInsertRowid } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    // A statement of its own: a cached one could be run again while it is being read.
    const statement = this.#database.prepare(query.sql)
    for (const row of statement.iterate(...query.parameters.map(bind))) yield { rows: [row as R] }
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    // Asked once: describing the columns costs as much as running a small query.
    const names = namesOf(statement)
    // Rows as the binding makes them, named one by one and with a prototype of their own, are slow to make and to read.
    statement.setReturnArrays(true)
    const made = { statement, names, writes: !/^\s*select\b/i.test(sql) }
    if (this.#statements.size >= CACHED_STATEMENTS) {
      for (const oldest of this.#statements.keys()) {
        this.#statements.delete(oldest)
        break
      }
    }
    this.#statements.set(sql, made)
    return made
  }
}

const namesOf = (statement: Statement): string[] => statement.columns().map(({ name }) => name)

function rowOf<R>(names: readonly string[], values: readonly unknown[]): R {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < names.length; i++) row[names[i]!] = values[i]
  return row as R
}

/** When the first statement ran since the process last did something else; undefined where none has. */
let turn: number | undefined

/** Whether statements, of whatever connection, have followed one another for so long that others come first. */
function isTurnOver(): boolean {
  if (turn !== undefined) return performance.now() - turn > TURN_MS
  turn = performance.now()
  setImmediate(() => (turn = undefined))
  return false
}

/** The binding ends a text at its first NUL, which would lose what follows; NUL means nothing in a text, U+FFFD says so. */
const withoutNul = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text)

function bind(value: unknown): Bound {
  if (typeof value === 'string') return withoutNul(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === undefined) return null
  return value as Bound
}
