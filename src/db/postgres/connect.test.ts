import { expect, inject, test } from 'vitest'
import { openPool } from './connect.ts'

test('counts and ids are numbers, bytes are bytes', async () => {
  const pool = openPool({ url: inject('postgresUrl'), connections: 2 })
  try {
    const { rows } = await pool.query(
      String.raw`select 9007199254740991::bigint as id, sum(x) as sum, '\x00ff'::bytea as bytes from (values (1), (2)) v (x)`,
    )
    expect(rows).toEqual([{ id: 9007199254740991, sum: 3, bytes: Buffer.from([0, 255]) }])
  } finally {
    await pool.end()
  }
})

test('what an address sets for its connections is set, but for the role to work under', async () => {
  const url = new URL(inject('postgresUrl'))
  url.searchParams.set('options', '-c work_mem=9MB -c random_page_cost=3 -c role=postgres')
  const pool = openPool({ url: url.href, connections: 1 }, 'pg_monitor')
  try {
    const { rows } = await pool.query(
      `select current_setting('work_mem') as memory, current_setting('random_page_cost') as cost, current_setting('jit') as jit, current_user as role`,
    )
    expect(rows).toEqual([{ memory: '9MB', cost: '3', jit: 'off', role: 'pg_monitor' }])
  } finally {
    await pool.end()
  }
})
