import {
  CompiledQuery,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import type pg from 'pg'
import type { Engine, EngineAdapter } from '../engine.ts'
import { PostgresError } from './postgres-error.ts'
import { named } from './statement-name.ts'
import type { Turns } from './turns.ts'

export interface LibraryDialectOptions {
  pool: pg.Pool
  /** The library's number. */
  library: number
  engine: Engine
  /** Shared by everything in this process that changes the library. */
  turns: Turns
}

/**
 * Kysely on the connections of a pool, for one library: each query, and each transaction, begins by saying which. A
 * transaction holds the library's lock, so that one change is made at a time, as on a file of SQLite.
 */
export function libraryDialect(options: LibraryDialectOptions): Dialect {
  return {
    createAdapter: () => new LibraryAdapter(options.engine),
    createDriver: () => new LibraryDriver(options),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

class LibraryAdapter extends PostgresAdapter implements EngineAdapter {
  readonly engine: Engine

  constructor(engine: Engine) {
    super()
    this.engine = engine
  }
}

class LibraryDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #turns: Turns
  readonly #begin: string
  readonly #lock: string

  constructor({ pool, library, turns }: LibraryDialectOptions) {
    this.#pool = pool
    this.#turns = turns
    this.#begin = `begin; select set_config('commonplace.library', '${library}', true)`
    // Rows may go on referring to it meanwhile; only another change waits.
    this.#lock = `${this.#begin}; select 1 from library where id = ${library} for no key update`
  }

  async init(): Promise<void> {}

  /** Which of the two it will be is not known yet: a connection is taken from the pool when it is. */
  async acquireConnection(): Promise<LibraryConnection> {
    return new LibraryConnection(this.#pool, this.#begin)
  }

  async beginTransaction(connection: LibraryConnection): Promise<void> {
    // Those who wait for their turn hold no connection meanwhile, which other libraries may need.
    const done = await this.#turns.take()
    try {
      await connection.begin(this.#lock, done)
    } catch (error) {
      done()
      throw error
    }
  }

  async commitTransaction(connection: LibraryConnection): Promise<void> {
    await connection.end('commit')
  }

  async rollbackTransaction(connection: LibraryConnection): Promise<void> {
    await connection.end('rollback')
  }

  async savepoint(connection: LibraryConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint "${name}"`))
  }

  async rollbackToSavepoint(connection: LibraryConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to savepoint "${name}"`))
  }

  async releaseSavepoint(connection: LibraryConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release savepoint "${name}"`))
  }

  async releaseConnection(connection: LibraryConnection): Promise<void> {
    connection.release()
  }

  /** The pool is others' too. */
  async destroy(): Promise<void> {}
}

interface Transaction {
  client: pg.PoolClient
  done: () => void
}

class LibraryConnection implements DatabaseConnection {
  readonly #pool: pg.Pool
  readonly #begin: string
  #open: Transaction | undefined

  constructor(pool: pg.Pool, begin: string) {
    this.#pool = pool
    this.#begin = begin
  }

  async begin(lock: string, done: () => void): Promise<void> {
    const client = await take(this.#pool)
    try {
      const results: unknown = await client.query(lock)
      const locked = (results as pg.QueryResult[]).at(-1)!
      if (locked.rows.length === 0) throw new PostgresError(new Error('The library is gone'), 'removed')
      this.#open = { client, done }
    } catch (error) {
      client.release(true)
      throw asPostgresError(error)
    }
  }

  /** A transaction that cannot be ended goes with its connection. */
  async end(how: 'commit' | 'rollback'): Promise<void> {
    // A commit that failed took its connection with it, and there is nothing more to roll back.
    if (!this.#open) return
    const { client } = this.#open
    try {
      const { command } = await client.query(how)
      if (command.toLowerCase() !== how) throw new Error(`The server answered ${command} to ${how}`)
      this.release()
    } catch (error) {
      this.release(true)
      if (how === 'commit') throw asPostgresError(error)
    }
  }

  release(broken = false): void {
    const open = this.#open
    if (!open) return
    this.#open = undefined
    open.client.release(broken)
    open.done()
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const values = query.parameters.map(bind)
    try {
      return resultOf<R>(
        await (this.#open
          ? this.#open.client.query(named(query.sql, values))
          : this.#alone(query.sql, values)),
      )
    } catch (error) {
      throw asPostgresError(error)
    }
  }

  /** A transaction of one statement, whose three parts go out at once. */
  async #alone(sql: string, values: unknown[]): Promise<pg.QueryResult> {
    const client = await take(this.#pool)
    let broken = true
    try {
      const [, answer, ended] = await Promise.allSettled(
        together(client, () => [
          client.query(this.#begin),
          client.query(named(sql, values)),
          client.query('commit'),
        ]),
      )
      broken = ended.status === 'rejected'
      if (answer.status === 'rejected') throw answer.reason
      if (ended.status === 'rejected') throw ended.reason
      return answer.value
    } finally {
      client.release(broken)
    }
  }

  // oxlint-disable-next-line require-yield -- the interface asks for a generator, and there is nothing to give
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Rows are not streamed from PostgreSQL: read them page by page')
  }
}

/** Gives what `send` sends to the socket in one piece. */
function together<T>(client: pg.PoolClient & { connection?: pg.Connection }, send: () => T): T {
  const stream = client.connection?.stream
  stream?.cork()
  try {
    return send()
  } finally {
    stream?.uncork()
  }
}

async function take(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw asPostgresError(error)
  }
}

const asPostgresError = (error: unknown): PostgresError =>
  error instanceof PostgresError ? error : new PostgresError(error)

const CHANGING = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

const resultOf = <R>({ rows, rowCount, command }: pg.QueryResult): QueryResult<R> => ({
  rows: rows as R[],
  ...(CHANGING.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
})

/** NUL, which PostgreSQL refuses and SQLite would end a text at, means nothing in a text: U+FFFD says so. */
const withoutNul = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text)

function bind(value: unknown): unknown {
  if (typeof value === 'string') return withoutNul(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  return value
}
