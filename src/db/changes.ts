import { sql, type Selectable, type Transaction } from 'kysely'
import { tick, type Clock } from './clock.ts'
import type { Db, Schema, SyncedTable } from './schema.ts'

export type Row<T extends SyncedTable> = Selectable<Schema[T]>

type Own<T extends SyncedTable> = Omit<Row<T>, 'id' | 'clock' | 'clocks'>
type Optional<T> = { [K in keyof T as null extends T[K] ? K : never]?: T[K] | undefined }
type Required<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] }

/** A new row: what may be null may be left out; the id is drawn unless given. */
export type NewRow<T extends SyncedTable> = Required<Omit<Own<T>, Defaulted>> &
  Optional<Own<T>> & { id?: number } & {
    [K in keyof Own<T> & Defaulted]?: Own<T>[K]
  }
type Defaulted = 'isbns'

export type Patch<T extends SyncedTable> = Partial<Own<T>>

/** One row changed, with what it takes to put it back. */
export interface Touched {
  table: SyncedTable
  id: number
  op: 'insert' | 'update' | 'erase'
  /** Old values of the fields that changed. */
  before?: Record<string, unknown>
}

/** Ids are `replica * 2^40 + counter` (docs/architecture.md, Ids). */
const REPLICA_SPAN = 2 ** 40

const ROWS_A_STATEMENT = 400

/**
 * The one door through which synced rows are written, inside one transaction: draws ids, stamps clocks, notes every change
 * for sync and for the audit log. Call `close` as the last statement.
 */
export class Changes {
  readonly touched: Touched[] = []
  readonly #db: Transaction<Schema>
  readonly #nowMs: number
  #replica: { number: number; counter: number } | undefined
  #clock: Clock | undefined
  #drawn = false

  constructor(db: Transaction<Schema>, now: Date) {
    this.#db = db
    this.#nowMs = now.getTime()
  }

  /** A number that no row of any table has had. */
  async newId(): Promise<number> {
    const replica = await this.#currentReplica()
    this.#drawn = true
    return replica.number * REPLICA_SPAN + ++replica.counter
  }

  async insert<T extends SyncedTable>(table: T, row: NewRow<T>): Promise<number> {
    const [id] = await this.insertMany(table, [row])
    return id!
  }

  /** Inserts rows of one shape; answers with their ids in order. */
  async insertMany<T extends SyncedTable>(table: T, rows: readonly NewRow<T>[]): Promise<number[]> {
    const ids: number[] = []
    for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
      const chunk = rows.slice(from, from + ROWS_A_STATEMENT)
      const full: Record<string, unknown>[] = []
      for (const row of chunk) {
        const id = row.id ?? (await this.newId())
        full.push({ ...row, id, clock: await this.#tick() })
        ids.push(id)
        this.touched.push({ table, id, op: 'insert' })
      }
      const columns = [
        ...new Set(full.flatMap((row) => Object.keys(row).filter((key) => row[key] !== undefined))),
      ]
      const values = full.map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`)
      const names = sql.join(columns.map((column) => sql.ref(column)))
      await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`.execute(this.#db)
      await this.#log(
        full.map(({ id, clock }) => ({ table, id: Number(id), fields: null, clock: String(clock) })),
      )
    }
    return ids
  }

  /**
   * Changes the fields of `patch` that differ; answers with the row as it now is, or undefined where there is none.
   * Nothing is noted where nothing differs (`updated_at` alone is no difference).
   */
  async update<T extends SyncedTable>(table: T, id: number, patch: Patch<T>): Promise<Row<T> | undefined> {
    const { rows } = await sql<Row<T>>`select * from ${sql.table(table)} where id = ${id}`.execute(this.#db)
    const [before] = rows
    if (!before) return undefined
    const old: Record<string, unknown> = { ...before }
    const changed = Object.entries(patch).filter(
      ([field, value]) => value !== undefined && value !== old[field],
    )
    if (changed.every(([field]) => field === 'updated_at')) return before
    const clock = await this.#tick()
    const clocks: unknown = JSON.parse(String(old['clocks']))
    const stamped = JSON.stringify({
      ...(clocks as object),
      ...Object.fromEntries(changed.map(([field]) => [field, clock])),
    })
    const assignments = changed.map(([field, value]) => sql`${sql.ref(field)} = ${value}`)
    await sql`update ${sql.table(table)} set ${sql.join(assignments)}, clocks = ${stamped} where id = ${id}`.execute(
      this.#db,
    )
    await this.#log([{ table, id, fields: JSON.stringify(changed.map(([field]) => field)), clock }])
    const was = Object.fromEntries(changed.map(([field]) => [field, old[field]]))
    this.touched.push({ table, id, op: 'update', before: was })
    return { ...before, ...Object.fromEntries(changed) }
  }

  /** Removes a row for ever and leaves its tombstone. Answers false where there was none. */
  async erase(table: SyncedTable, id: number): Promise<boolean> {
    const { rows } = await sql<{
      id: number
    }>`delete from ${sql.table(table)} where id = ${id} returning id`.execute(this.#db)
    if (rows.length === 0) return false
    const clock = await this.#tick()
    await this.#db
      .insertInto('tombstone')
      .values({ id, table_name: table, clock })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ clock }))
      .execute()
    await this.#db
      .insertInto('change_log')
      .values({ table_name: table, row_id: id, fields: null, clock, deleted: 1 })
      .execute()
    this.touched.push({ table, id, op: 'erase' })
    return true
  }

  /** Notes ids whose rows were deleted for ever elsewhere, so that they are never anything else here. */
  async bury(rows: readonly { id: number; table: string }[]): Promise<void> {
    for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
      const stones: { id: number; table_name: string; clock: Clock }[] = []
      for (const { id, table } of rows.slice(from, from + ROWS_A_STATEMENT))
        stones.push({ id, table_name: table, clock: await this.#tick() })
      await this.#db.insertInto('tombstone').values(stones).execute()
      await this.#db
        .insertInto('change_log')
        .values(
          stones.map(({ id, table_name, clock }) => ({
            table_name,
            row_id: id,
            fields: null,
            clock,
            deleted: 1,
          })),
        )
        .execute()
    }
  }

  /** Writes back the id counter and the clock. */
  async close(): Promise<void> {
    if (this.#drawn && this.#replica) {
      const { number, counter } = this.#replica
      await this.#db.updateTable('replica').set({ counter }).where('number', '=', number).execute()
    }
    if (this.#clock !== undefined) await setLocal(this.#db, 'clock', this.#clock)
  }

  async #tick(): Promise<Clock> {
    this.#clock ??= await getLocal(this.#db, 'clock')
    return (this.#clock = tick(this.#clock, this.#nowMs, (await this.#currentReplica()).number))
  }

  async #currentReplica(): Promise<{ number: number; counter: number }> {
    return (this.#replica ??= await this.#db
      .selectFrom('replica')
      .select(['number', 'counter'])
      .where('current', '=', 1)
      .executeTakeFirstOrThrow())
  }

  async #log(entries: { table: string; id: number; fields: string | null; clock: Clock }[]): Promise<void> {
    await this.#db
      .insertInto('change_log')
      .values(
        entries.map(({ table, id, fields, clock }) => ({
          table_name: table,
          row_id: id,
          fields,
          clock,
          deleted: 0,
        })),
      )
      .execute()
  }
}

/** Reads a fact of this file alone. */
export async function getLocal(db: Db, key: string): Promise<string | undefined> {
  return (await db.selectFrom('local').select('value').where('key', '=', key).executeTakeFirst())?.value
}

export async function setLocal(db: Db, key: string, value: string): Promise<void> {
  await db
    .insertInto('local')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}
