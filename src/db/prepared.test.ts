import { DatabaseSync } from '@photostructure/sqlite'
import fc from 'fast-check'
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
  type CompiledQuery,
} from 'kysely'
import { describe, expect, it } from 'vitest'
import { postgresEngine } from './postgres/engine.ts'
import { prepared, type Given } from './prepared.ts'
import { sqliteDialect } from './sqlite/dialect.ts'

interface Shelf {
  book: { id: number; title: string; shelf: string | null }
}

interface Question {
  ids?: readonly number[] | undefined
  shelf?: string | undefined
  limit: number
}

const query = (db: Kysely<Shelf>, given: Given<Question>) => {
  let books = db.selectFrom('book').select(['id', 'title']).orderBy('id').limit(given.value('limit'))
  if (given.has('ids')) books = books.where('id', 'in', given.list('ids', 'bigint'))
  if (given.has('shelf')) books = books.where('shelf', '=', given.value('shelf'))
  return books
}

async function shelfOf(count: number): Promise<Kysely<Shelf>> {
  const db = new Kysely<Shelf>({ dialect: sqliteDialect(new DatabaseSync(':memory:')) })
  await sql`create table book (id integer primary key, title text, shelf text)`.execute(db)
  for (let id = 1; id <= count; id++) {
    const shelf = id % 2 === 0 ? 'even' : 'odd'
    await db
      .insertInto('book')
      .values({ id, title: `Book ${id}`, shelf })
      .execute()
  }
  return db
}

const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id)

describe('a prepared query', () => {
  it('gives what its values ask for, whichever of them are there', async () => {
    const db = await shelfOf(12)
    const find = prepared(query)
    const question = fc.record({
      ids: fc.option(fc.array(fc.integer({ min: 0, max: 14 }), { maxLength: 9 }), { nil: undefined }),
      shelf: fc.option(fc.constantFrom('even', 'odd', 'none'), { nil: undefined }),
      limit: fc.integer({ min: 0, max: 13 }),
    })
    await fc.assert(
      fc.asyncProperty(question, async ({ ids, shelf, limit }) => {
        const fits = Array.from({ length: 12 }, (_, n) => n + 1)
          .filter((id) => ids === undefined || ids.includes(id))
          .filter((id) => shelf === undefined || shelf === (id % 2 === 0 ? 'even' : 'odd'))
        expect(idsOf(await find(db, { ids, shelf, limit }))).toEqual(fits.slice(0, limit))
      }),
    )
  })

  it('is put together once for each set of values, for all databases of a kind', async () => {
    let built = 0
    const find = prepared((db: Kysely<Shelf>, given: Given<Question>) => {
      built++
      return query(db, given)
    })
    for (const db of [await shelfOf(3), await shelfOf(4)]) {
      await find(db, { ids: [], limit: 9 })
      await find(db, { ids: [4, 3, 2, 1], limit: 1 })
      await find(db, { shelf: 'even', limit: 9 })
      await db.transaction().execute((transaction) => Promise.resolve(find(transaction, { limit: 9 })))
    }
    expect(built).toBe(3)
  })

  it('answers at once where the database is free, and waits for a change that is going on', async () => {
    const db = await shelfOf(1)
    const find = prepared(query)
    // A turn of the process that is long over lets others go first.
    await new Promise((resolve) => setImmediate(resolve))
    expect(find(db, { limit: 9 })).toEqual([{ id: 1, title: 'Book 1' }])
    let begun = (): void => {}
    const going = new Promise<void>((resolve) => (begun = resolve))
    let done = (): void => {}
    const change = db.transaction().execute(async (transaction) => {
      await sql`insert into book values (2, 'Book 2', null)`.execute(transaction)
      expect(idsOf(await find(transaction, { limit: 9 }))).toEqual([1, 2])
      begun()
      await new Promise<void>((resolve) => (done = resolve))
      await sql`delete from book where id = 2`.execute(transaction)
    })
    await going
    const read = find(db, { limit: 9 })
    expect(read).toBeInstanceOf(Promise)
    done()
    await change
    expect(idsOf(await read)).toEqual([1])
  })

  it('has a text for PostgreSQL too', async () => {
    const asked: Pick<CompiledQuery, 'sql' | 'parameters'>[] = []
    const db: Kysely<Shelf> = new Kysely({
      dialect: {
        createAdapter: () => Object.assign(new PostgresAdapter(), { engine: postgresEngine(1) }),
        createDriver: () => new DummyDriver(),
        createIntrospector: () => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
      log: (event) => void asked.push(event.query),
    })
    await prepared(query)(db, { ids: [7, 8, 9], limit: 5 })
    expect(asked[0]).toMatchObject({
      sql: 'select "id", "title" from "book" where "id" in (select unnest($1::bigint[])) order by "id" limit $2',
      parameters: [[7, 8, 9], 5],
    })
  })

  it('fails as the database does', async () => {
    const db = await shelfOf(1)
    const find = prepared((books: Kysely<Shelf>, given: Given<{ id: number }>) =>
      books
        .selectFrom('book')
        .select(sql`no_such_column`.as('x'))
        .where('id', '=', given.value('id')),
    )
    await expect(async () => await find(db, { id: 1 })).rejects.toThrow('no_such_column')
  })
})
