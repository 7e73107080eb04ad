import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { Result, resultCodeOf } from './result-code.ts'

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

it('is the primary one, whether the binding gives a code or words alone', () => {
  const database = new DatabaseSync(':memory:')
  database.exec('pragma max_page_count = 3; create table t (b blob)')
  const full = 'insert into t values (zeroblob(100000))'
  expect(resultCodeOf(thrownBy(() => database.prepare(full).run()))).toBe(Result.full)
  // Rows that come back are read another way, which gives no code.
  expect(resultCodeOf(thrownBy(() => database.prepare(`${full} returning b`).all()))).toBe(Result.full)
})

it('is none of what is no failure of the file', () => {
  const database = new DatabaseSync(':memory:')
  expect(resultCodeOf(thrownBy(() => database.prepare('not sql').all()))).not.toBe(Result.corrupt)
  expect(resultCodeOf(new Error('database is locked'))).toBeUndefined()
  expect(resultCodeOf('database is locked')).toBeUndefined()
})
