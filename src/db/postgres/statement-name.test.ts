import { expect, inject, test } from 'vitest'
import { openPool } from './connect.ts'
import { named, statementName } from './statement-name.ts'

test('a statement is parsed once on each connection', async () => {
  const pool = openPool({ url: inject('postgresUrl'), connections: 1 })
  try {
    for (const value of [1, 2, 3]) {
      const { rows } = await pool.query(named('select $1::integer + 1 as next', [value]))
      expect(rows).toEqual([{ next: value + 1 }])
    }
    const { rows } = await pool.query(
      `select generic_plans + custom_plans as runs from pg_prepared_statements where statement like '%as next'`,
    )
    expect(rows).toEqual([{ runs: 3 }])
  } finally {
    await pool.end()
  }
})

test('one that gives whatever columns there are follows the table', async () => {
  expect(statementName('select count(*) from a')).toBeDefined()
  for (const text of ['select * from a', 'select a.* from a', 'delete from a returning *'])
    expect(statementName(text)).toBeUndefined()
  const pool = openPool({ url: inject('postgresUrl'), connections: 1 })
  try {
    await pool.query('create temporary table shelf (book text)')
    const all = () => pool.query(named('select * from shelf', []))
    expect((await all()).fields).toHaveLength(1)
    await pool.query('alter table shelf add column place text')
    expect((await all()).fields).toHaveLength(2)
  } finally {
    await pool.end()
  }
})

test('so many are kept, and no more', () => {
  for (let n = 0; n < 1_000; n++) statementName(`select ${n}`)
  expect(statementName('select 1')).toBeDefined()
  expect(statementName('select 999')).toBeUndefined()
})
