import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { queriesOn } from '../open.ts'
import { connect } from './connect.ts'

const database = () => queriesOn(new DatabaseSync(':memory:'))

describe('SQLite under the query builder', () => {
  it('loses nothing of a text that holds a NUL', async () => {
    const { rows } = await sql<{ text: string }>`select ${'before\0after'} as text`.execute(database())
    expect(rows[0]?.text).toBe('before\ufffdafter')
  })

  it('keeps numbers up to 2^53 and bytes as they are', async () => {
    const bytes = new Uint8Array([0, 1, 255])
    const { rows } = await sql`select ${2 ** 53 - 1} as n, ${bytes} as b, ${null} as z, ${true} as t`.execute(
      database(),
    )
    expect(rows[0]).toEqual({ n: 2 ** 53 - 1, b: bytes, z: null, t: 1 })
  })

  it('lets the process do other things during a change of many statements', async () => {
    const db = database()
    let others = 0
    const timer = setInterval(() => others++, 1)
    onTestFinished(() => clearInterval(timer))
    await db.transaction().execute(async (transaction) => {
      for (const end = performance.now() + 100; performance.now() < end;) {
        await sql`select 1`.execute(transaction)
      }
      expect(others).toBeGreaterThan(0)
    })
  })

  it('runs one transaction at a time, and other queries wait for it', async () => {
    const db = database()
    await sql`create table t (n integer)`.execute(db)
    const order: string[] = []
    await Promise.all([
      db.transaction().execute(async (transaction) => {
        order.push('one begins')
        await sql`insert into t values (1)`.execute(transaction)
        await new Promise((resolve) => setTimeout(resolve, 5))
        order.push('one ends')
      }),
      db.transaction().execute(async () => void order.push('two')),
      sql`select * from t`.execute(db).then(() => order.push('read')),
    ])
    expect(order).toEqual(['one begins', 'one ends', 'two', 'read'])
  })

  it('is usable again after a transaction that failed', async () => {
    const db = database()
    await expect(db.transaction().execute(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    await expect(sql`not sql`.execute(db)).rejects.toThrow()
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
  })

  it('reads on while writes wait for another process, and then they are done', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'commonplace-dialect-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'x.db')
    const holder = connect(file)
    holder.exec('create table t (n integer); begin immediate')
    const db = queriesOn(connect(file))
    const order: string[] = []
    const writes = [
      db
        .transaction()
        .execute((transaction) => sql`insert into t values (1)`.execute(transaction))
        .then(() => order.push('transaction')),
      sql`insert into t values (2)`.execute(db).then(() => order.push('statement')),
    ]
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect((await sql`select * from t`.execute(db)).rows).toEqual([])
    order.push('read')
    holder.exec('commit')
    await Promise.all(writes)
    expect(order[0]).toBe('read')
    expect((await sql`select n from t order by n`.execute(db)).rows).toEqual([{ n: 1 }, { n: 2 }])
    await db.destroy()
    holder.close()
  })
})
