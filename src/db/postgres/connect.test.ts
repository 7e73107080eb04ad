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
