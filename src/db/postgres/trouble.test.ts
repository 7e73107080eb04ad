import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { libraryOn } from '../../../test/support/library.ts'
import { freshDatabase } from '../../../test/support/postgres.ts'
import type { Library } from '../../core/library.ts'
import { toFailure } from '../../core/to-failure.ts'
import { CompiledQuery } from 'kysely'
import { connectOwner } from './connect.ts'
import { openPostgres, type Postgres } from './open.ts'

let url: string
let postgres: Postgres
let library: Library

beforeAll(async () => {
  url = await freshDatabase(inject('postgresUrl'))
  postgres = await openPostgres({ url, connections: 3 })
  library = libraryOn(postgres.ofLibrary(await postgres.makeLibrary('a')))
})

afterAll(() => postgres.close())

const raw = (statement: string) => library.db.executeQuery(CompiledQuery.raw(statement))
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => toFailure(error),
  )

/** How many rows a superuser's statement gives. */
async function superuser(statement: string, values: string[] = []): Promise<number> {
  const client = await connectOwner({ url, connections: 1 })
  const { rowCount } = await client.query(statement, values)
  await client.end()
  return rowCount ?? 0
}

/** Ends every connection of the server, as an administrator or a restart does. */
const endConnections = (): Promise<number> =>
  superuser(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  )

describe('what PostgreSQL answers, in the reader’s terms', () => {
  it.each([
    ['53100', 'disk_full'],
    ['53200', 'unavailable'],
    ['53300', 'unavailable'],
    ['57P01', 'unavailable'],
    ['57P03', 'unavailable'],
    ['25006', 'read_only'],
    ['40001', 'library_locked'],
    ['40P01', 'library_locked'],
    ['55P03', 'library_locked'],
    ['XX001', 'library_damaged'],
    ['42703', 'internal_error'],
  ])('%s is %s', async (state, code) => {
    const failure = await failureOf(
      raw(`do $$ begin raise exception 'no' using errcode = '${state}'; end $$`),
    )
    expect(failure).toMatchObject({ code })
    expect(JSON.stringify(failure)).not.toContain('errcode')
  })
})

describe('connections that break', () => {
  it('fail the call that uses them, and the next one has another', async () => {
    const sleeping = failureOf(raw('select pg_sleep(20)'))
    await expect
      .poll(() => superuser('select from pg_stat_activity where query like $1', ['%sleep(20)']))
      .toBe(1)
    await endConnections()
    expect(await sleeping).toMatchObject({ code: 'unavailable' })
    await expect.poll(() => failureOf(raw('select 1'))).toBe(undefined)
  })

  it('take a change with them whole, wherever it was', async () => {
    const change = library.change(async (change) => {
      await change.insert('setting', { key: 'half', value: 'done' })
      await endConnections()
      await change.insert('setting', { key: 'other', value: 'half' })
    })
    expect(await failureOf(change)).toMatchObject({ code: 'unavailable' })
    await expect.poll(() => failureOf(raw('select 1'))).toBe(undefined)
    const { rows } = await library.db.executeQuery(CompiledQuery.raw('select * from setting'))
    expect(rows).toEqual([])
    // Its turn is over: the next change is not kept waiting.
    await library.change((change) => change.insert('setting', { key: 'whole', value: 'done' }))
  })

  it('that break as a change is committed say the same, and no words of our own', async () => {
    const change = library.db.transaction().execute(async (db) => {
      await db.executeQuery(CompiledQuery.raw('select 1'))
      await endConnections()
    })
    expect(await failureOf(change)).toMatchObject({ code: 'unavailable' })
    await expect.poll(() => failureOf(raw('select 1'))).toBe(undefined)
    await library.change((change) => change.insert('setting', { key: 'next', value: 'x' }))
  })

  it('leave no library named on a connection that goes on to serve others', async () => {
    const other = libraryOn(postgres.ofLibrary(await postgres.makeLibrary('b')))
    await other.change((change) => change.insert('setting', { key: 'of b', value: 'x' }))
    const broken = [
      failureOf(raw('select no_such_column')),
      failureOf(library.change((change) => change.db.executeQuery(CompiledQuery.raw('select 1 / 0')))),
      failureOf(library.change(() => Promise.reject(new Error('a call that was given up')))),
      failureOf(raw(`do $$ begin raise exception 'no' using errcode = '57014'; end $$`)),
    ]
    await Promise.all(broken)
    for (let n = 0; n < 6; n++) {
      const { rows } = await postgres.pool.query(
        `select coalesce(current_setting('commonplace.library', true), '') as named, (select count(*) from setting) as seen`,
      )
      expect(rows).toEqual([{ named: '', seen: 0 }])
    }
    const { rows } = await raw(`select key from setting where key = 'of b'`)
    expect(rows).toEqual([])
  })

  it('never end the process while they are idle', async () => {
    await Promise.all(Array.from({ length: 3 }, () => raw('select pg_sleep(0.05)')))
    await endConnections()
    await new Promise((resolve) => setTimeout(resolve, 100))
    await expect.poll(() => failureOf(raw('select 1'))).toBe(undefined)
  })
})

it('a change that fails is undone, and its connection serves on', async () => {
  const work = library.change(async (change) => {
    await change.insert('setting', { key: 'wrong', value: 'x' })
    await change.db.executeQuery(CompiledQuery.raw('select no_such_column'))
  })
  expect(await failureOf(work)).toMatchObject({ code: 'internal_error' })
  const { rows } = await raw(`select * from setting where key = 'wrong'`)
  expect(rows).toEqual([])
  expect(postgres.pool.totalCount).toBe(postgres.pool.idleCount)
})
