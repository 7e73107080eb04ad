/** The server's own tables beside those of libraries. */
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import pg from 'pg'
import { databaseFailure } from '../../src/core/database-failure.ts'
import { NewerLibrary } from '../../src/db/newer-library.ts'
import { openPostgres, type Postgres } from '../../src/db/postgres/open.ts'
import { SERVER_TABLES, serverDbOnPostgres } from '../../src/db/server/postgres.ts'
import { insertReader, setEmail } from '../../src/features/accounts/reader-store.ts'
import { freshDatabase } from '../support/postgres.ts'

let url: string
let owner: pg.Client
let opened: Postgres[]
beforeEach(async () => {
  opened = []
  url = await freshDatabase(inject('postgresUrl'))
  owner = new pg.Client({ connectionString: url })
  await owner.connect()
})
afterEach(async () => {
  for (const postgres of opened) await postgres.close()
  await owner.end()
})

async function open(): Promise<Postgres> {
  const postgres = await openPostgres({ url, connections: 2 }, [SERVER_TABLES])
  opened.push(postgres)
  return postgres
}

it('are made once, by however many processes start at the same moment', async () => {
  await Promise.all(Array.from({ length: 5 }, open))
  const { rows } = await owner.query(`select name, version from schema_version where name = 'server'`)
  expect(rows).toEqual([{ name: 'server', version: SERVER_TABLES.migrations.length }])
})

it('may be read and written by the role that serves, which owns none of them', async () => {
  const { pool } = await open()
  const { rows } = await pool.query<{ tablename: string; tableowner: string; current_user: string }>(
    `select tablename, tableowner, current_user from pg_tables where schemaname = current_schema()`,
  )
  const names = rows.map(({ tablename }) => tablename)
  for (const name of ['reader', 'oauth_grant', 'call_count', 'work_due', 'library_removal'])
    expect(names).toContain(name)
  for (const { tableowner, current_user } of rows) expect(tableowner).not.toBe(current_user)
  const db = serverDbOnPostgres(pool)
  const given = {
    email: 'ada@example.org',
    emailVerifiedAt: null,
    name: null,
    at: '2026-01-01T00:00:00.000Z',
  }
  const id = (await insertReader(db, given))?.id
  expect(await db.selectFrom('reader').select('id').execute()).toEqual([{ id }])
  expect(await db.deleteFrom('reader').where('id', '=', id!).executeTakeFirst()).toEqual({
    numDeletedRows: 1n,
  })
  await expect(pool.query('drop table reader')).rejects.toThrow(/owner/)
})

it('of a newer program are left alone', async () => {
  await (await open()).close()
  opened = []
  await owner.query(`update schema_version set version = 99 where name = 'server'`)
  const refused = await open().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(NewerLibrary)
  expect(databaseFailure(refused)).toMatchObject({
    code: 'library_too_new',
    hint: expect.not.stringMatching(/--library|doctor/),
  })
})

it('a transaction that fails leaves nothing, and its connection to the next', async () => {
  const { pool } = await open()
  const db = serverDbOnPostgres(pool)
  for (let round = 0; round < 4; round++) {
    const failed = db.transaction().execute(async (transaction) => {
      await transaction.insertInto('server_setting').values({ name: 'x', value: 'y' }).execute()
      await transaction.insertInto('server_setting').values({ name: 'x', value: 'z' }).execute()
    })
    await expect(failed).rejects.toThrow(/duplicate key/)
    expect(await db.selectFrom('server_setting').selectAll().execute()).toEqual([])
  }
  expect(pool.idleCount).toBe(pool.totalCount)
})

it('a disk that is full is told as one, and nothing is written', async () => {
  const { pool } = await open()
  await owner.query(`
    create function fill() returns trigger language plpgsql as $$ begin
      raise exception 'could not extend file' using errcode = 'disk_full'; end $$;
    create trigger fill before insert on server_setting for each row execute function fill()`)
  const db = serverDbOnPostgres(pool)
  const refused = await db
    .insertInto('server_setting')
    .values({ name: 'x', value: 'y' })
    .execute()
    .catch((error: unknown) => error)
  expect(databaseFailure(refused)?.code).toBe('disk_full')
  expect(await db.selectFrom('server_setting').selectAll().execute()).toEqual([])
})

it('give an address to one of two who take it at the same moment, and tell the other', async () => {
  const { pool } = await open()
  const db = serverDbOnPostgres(pool)
  const nobody = { email: null, emailVerifiedAt: null, name: null, at: '2026-01-01T00:00:00.000Z' }
  const readers = [(await insertReader(db, nobody))!.id, (await insertReader(db, nobody))!.id]
  for (let n = 0; n < 20; n++) {
    const email = `heron${n}@example.org`
    const outcomes = await Promise.allSettled(readers.map((id) => setEmail(db, id, email, null)))
    const [refused] = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(refused).toMatchObject({ code: 'invalid_input' })
  }
})
