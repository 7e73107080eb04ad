import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { libraryOn, testPostgres } from '../../../test/support/library.ts'
import { addTestSource } from '../../../test/support/search.ts'
import type { Postgres } from './open.ts'

let postgres: Postgres
let tables: string[]
let ours: number
let theirs: number

/** Rows that a connection of the server sees, asked directly, about the library that is named to it. */
async function rowsOf(table: string, named?: number | string): Promise<number> {
  const client = await postgres.pool.connect()
  try {
    await client.query('begin')
    if (named !== undefined)
      await client.query(`select set_config('commonplace.library', $1, true)`, [String(named)])
    const { rows } = await client.query<{ count: number }>(`select count(*) from ${table}`)
    await client.query('rollback')
    return rows[0]!.count
  } finally {
    client.release(true)
  }
}

/** Puts at least one row into every table of a library. */
async function fill(library: number): Promise<void> {
  const db = postgres.ofLibrary(library)
  const id = await addTestSource(libraryOn(db), {
    title: 'Secret bees',
    url: 'https://hive.test/',
    text: 'A secret dance.',
    highlights: ['A secret'],
    comments: ['mine'],
    tags: ['private'],
    status: 'reading',
  })
  const at = '2026-01-01T00:00:00.000Z'
  await libraryOn(db).change(async (change) => {
    await change.insert('setting', { key: 'a', value: 'b' })
    await change.insert('source_url', { source_id: id, url: 'https://hive.test/', url_key: 'hive.test' })
    await change.insert('alias', { target_id: id })
    await change.erase('setting', await change.insert('setting', { key: 'c', value: 'd' }))
    const { rows } = await sql<{ id: number }>`select id from passage limit 1`.execute(change.db)
    const passage = rows[0]!.id
    await sql`insert into capture (id, source_id, state, requested_at) values (1, ${id}, 'pending', ${at})`.execute(
      change.db,
    )
    await sql`insert into import (id, kind, status, created_at) values (1, 'file', 'pending', ${at})`.execute(
      change.db,
    )
    await sql`insert into import_batch (id, import_id, rows) values (1, 1, '[]')`.execute(change.db)
    await sql`insert into imported (id, source_id, kind, key, row_id) values (1, ${id}, 'source', 'a', ${id})`.execute(
      change.db,
    )
    const highlight = await change.db.selectFrom('highlight').select('id').executeTakeFirstOrThrow()
    await change.insert('review', {
      source_id: id,
      highlight_id: highlight.id,
      rating: 3,
      reviewed_at: at,
      due_at: at,
      stability: 1,
      difficulty: 5,
      state: 'review',
      learning_steps: 0,
      scheduled_days: 1,
      reps: 1,
      lapses: 0,
    })
    await change.insert('version', {
      source_id: id,
      table_name: 'highlight',
      row_id: highlight.id,
      field: 'quote',
      value: 'A sec',
      created_at: at,
    })
    await sql`insert into audit (id, at, connection, tool, changes) values (1, ${at}, 'x', 'y', '[]')`.execute(
      change.db,
    )
    await sql`insert into request (tool, request_id, arguments_hash, state, created_at)
      values ('t', 'r', 'h', 'done', ${at})`.execute(change.db)
    await sql`insert into ranking (id, filter, ids, expires_at) values ('r', '', '[]', ${at})`.execute(
      change.db,
    )
    await sql`insert into code (passage_id, model, code) values (${passage}, 'm', '0101')`.execute(change.db)
    await sql`insert into vector (passage_id, quantised) values (${passage}, '\\x00')`.execute(change.db)
  })
}

beforeAll(async () => {
  postgres = await testPostgres()
  const { rows } = await postgres.pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = current_schema() and column_name = 'library_id' order by 1`,
  )
  tables = ['library', ...rows.map(({ name }) => name)]
  ours = await postgres.makeLibrary(`ours ${Date.now()}`)
  theirs = await postgres.makeLibrary(`theirs ${Date.now()}`)
  await fill(ours)
})

describe('a connection of the server', () => {
  it('sees rows of a library in every table once that library is named', async () => {
    expect(tables).toHaveLength(29)
    for (const table of tables) expect([table, await rowsOf(table, ours)]).not.toEqual([table, 0])
  })

  it('sees nothing, in any table, as long as no library is named', async () => {
    for (const table of tables) {
      expect([table, await rowsOf(table)]).toEqual([table, 0])
      expect([table, await rowsOf(table, '')]).toEqual([table, 0])
    }
  })

  it('sees nothing of another library, in any table', async () => {
    for (const table of tables) {
      // A new library has a row that is the library, and the number it draws ids under.
      const own = table === 'library' || table === 'replica' || table === 'local' ? 1 : 0
      expect([table, (await rowsOf(table, theirs)) <= own]).toEqual([table, true])
    }
  })

  it('finds no words of another library, even where it asks for them as they stand in the index', async () => {
    const words = `'${ours.toString(36)}:secret'`
    const db = postgres.ofLibrary(theirs)
    const found = await sql`select * from match_words(${words}::tsquery, 0, 1000, 10)`.execute(db)
    const counted = await sql`select * from count_words(${words}::tsquery, 10)`.execute(db)
    const ranked =
      await sql`select * from rank_words(${words}::tsquery, array[${words}]::tsquery[], 0, 1000, 10)`.execute(
        db,
      )
    expect([found.rows, counted.rows, ranked.rows]).toEqual([[], [{ count: 0, last: null }], []])
    const own = await sql`select * from match_words(${words}::tsquery, 0, 1000, 10)`.execute(
      postgres.ofLibrary(ours),
    )
    expect(own.rows).not.toEqual([])
  })

  it('writes nothing into another library, nor moves a row there', async () => {
    const db = postgres.ofLibrary(theirs)
    const refused = /row-level security/
    await expect(
      sql`insert into local (library_id, key, value) values (${ours}, 'k', 'v')`.execute(db),
    ).rejects.toThrow(refused)
    await sql`insert into local (key, value) values ('k', 'v')`.execute(db)
    await expect(sql`update local set library_id = ${ours}`.execute(db)).rejects.toThrow(refused)
    const { rows } = await sql<{ library_id: number }>`select library_id from local where key = 'k'`.execute(
      db,
    )
    expect(rows).toEqual([{ library_id: theirs }])
    await expect(postgres.pool.query(`insert into local (key, value) values ('k', 'v')`)).rejects.toThrow()
  })

  it('neither changes nor removes what is another library’s', async () => {
    const db = postgres.ofLibrary(theirs)
    for (const table of tables)
      await sql`delete from ${sql.table(table)} where library_id = ${ours}`.execute(db).catch(() => {})
    await sql`delete from library where id = ${ours}`.execute(db)
    await sql`delete from source`.execute(db)
    for (const table of tables) expect([table, await rowsOf(table, ours)]).not.toEqual([table, 0])
  })

  it('may not change what holds it', async () => {
    for (const statement of [
      'alter table source disable row level security',
      'drop policy own on source',
      'alter role commonplace_app bypassrls',
      'create table mine (a int)',
      `update schema_version set version = 99`,
      `create or replace function library_named(wanted text) returns integer language sql as 'select 1'`,
    ])
      await expect(postgres.pool.query(statement), statement).rejects.toThrow(
        /must be owner|must be superuser|permission denied/,
      )
  })
})

it('a removed library is gone from every table, and takes no more changes', async () => {
  const gone = await postgres.makeLibrary(`gone ${Date.now()}`)
  await fill(gone)
  await postgres.removeLibrary(gone)
  for (const table of tables) expect([table, await rowsOf(table, gone)]).toEqual([table, 0])
  for (const table of tables) expect([table, await rowsOf(table, ours)]).not.toEqual([table, 0])
  const change = libraryOn(postgres.ofLibrary(gone)).change(async (change) => change.newId())
  await expect(change).rejects.toThrow('The library is gone')
  await postgres.removeLibrary(gone)
})
