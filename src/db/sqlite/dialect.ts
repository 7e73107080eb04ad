import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import { noteClosed } from './free-closed.ts'

type Statement = ReturnType<DatabaseSyncInstance['prepare']>
type Bound = string | number | bigint | Uint8Array | null

const CACHED_STATEMENTS = 400

/** Kysely on the synchronous `node:sqlite` interface: one connection, taken by one query or one transaction at a time. */
export function sqliteDialect(database: DatabaseSyncInstance): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection
  readonly #waiting: (() => void)[] = []
  #taken = false

  constructor(database: DatabaseSyncInstance) {
    this.#connection = new SqliteConnection(database)
  }

  async init(): Promise<void> {}

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

  async destroy(): Promise<void> {
    this.#connection.close()
  }
}

interface Prepared {
  statement: Statement
  /** Whether it gives rows. */
  gives: boolean
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSyncInstance
  readonly #statements = new Map<string, Prepared>()

  constructor(database: DatabaseSyncInstance) {
    this.#database = database
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

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, gives } = this.#prepare(query.sql)
    const values = query.parameters.map(bind)
    if (gives) return { rows: statement.all(...values) as R[] }
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
    const made = { statement, gives: statement.columns().length > 0 }
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

/** The binding ends a text at its first NUL, which would lose what follows; NUL means nothing in a text, U+FFFD says so. */
const withoutNul = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text)

function bind(value: unknown): Bound {
  if (typeof value === 'string') return withoutNul(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === undefined) return null
  return value as Bound
}
