import {
  CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import type pg from 'pg'
import type { MigrationSet } from '../postgres/migrate.ts'
import { PostgresError } from '../postgres/postgres-error.ts'
import { named } from '../postgres/statement-name.ts'
import { RUNTIME_LAYOUT } from '../runtime-on-postgres.ts'
import { STATEMENTS } from './migrations/0001-server.ts'
import type { ServerSchema } from './schema.ts'

/** What is compared as text sorts by its bytes, as on SQLite. */
const inByteOrder = (statement: string): string => statement.replaceAll(/\btext\b/g, 'text collate "C"')

/** Readers, how they sign in, what they allowed; and what replicas count together. Outside of row-level security. */
export const SERVER_TABLES: MigrationSet = {
  name: 'server',
  migrations: [{ statements: () => [...STATEMENTS, ...RUNTIME_LAYOUT].map(inByteOrder) }],
}

/** The server's own tables on connections that serve; they are others' too, and stay open. */
export const serverDbOnPostgres = (pool: pg.Pool): Kysely<ServerSchema> =>
  new Kysely<ServerSchema>({ dialect: poolDialect(pool) })

const poolDialect = (pool: pg.Pool): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PoolDriver(pool),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

class PoolDriver implements Driver {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  /** A single statement takes a connection for itself, a transaction when it begins. */
  async acquireConnection(): Promise<PoolConnection> {
    return new PoolConnection(this.#pool)
  }

  async beginTransaction(connection: PoolConnection): Promise<void> {
    await connection.begin()
  }

  async commitTransaction(connection: PoolConnection): Promise<void> {
    await connection.end('commit')
  }

  async rollbackTransaction(connection: PoolConnection): Promise<void> {
    await connection.end('rollback')
  }

  async releaseConnection(connection: PoolConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {}
}

class PoolConnection implements DatabaseConnection {
  readonly #pool: pg.Pool
  #client: pg.PoolClient | undefined

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async begin(): Promise<void> {
    try {
      this.#client = await this.#pool.connect()
      await this.#client.query('begin')
    } catch (error) {
      this.release(true)
      throw new PostgresError(error)
    }
  }

  /** A transaction that cannot be ended goes with its connection. */
  async end(how: 'commit' | 'rollback'): Promise<void> {
    if (!this.#client) return
    try {
      const { command } = await this.#client.query(how)
      // After a failed statement PostgreSQL rolls back whatever it is told.
      if (command.toLowerCase() !== how) throw new Error(`The server answered ${command} to ${how}`)
    } catch (error) {
      this.release(true)
      if (how === 'commit') throw new PostgresError(error)
    }
  }

  release(broken = false): void {
    this.#client?.release(broken)
    this.#client = undefined
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const { command, rows, rowCount } = await (this.#client ?? this.#pool).query(
        named(sql, parameters.map(bind)),
      )
      return {
        rows: rows as R[],
        ...(CHANGING.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
      }
    } catch (error) {
      throw new PostgresError(error)
    }
  }

  // oxlint-disable-next-line require-yield -- the interface asks for a generator, and there is nothing to give
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Rows of the server are few: they are not streamed')
  }
}

const CHANGING = new Set(['INSERT', 'UPDATE', 'DELETE'])

/** PostgreSQL takes no NUL, which means nothing in a text: U+FFFD says that it was there. */
const bind = (value: unknown): unknown =>
  typeof value === 'string'
    ? value.replaceAll('\0', '\u{fffd}')
    : typeof value === 'boolean'
      ? Number(value)
      : value
