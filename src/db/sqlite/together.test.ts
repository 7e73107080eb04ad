import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { together } from './together.ts'

function counter() {
  const database = new DatabaseSync(':memory:')
  database.exec('create table counted (n integer check (n <> 13))')
  const insert = database.prepare('insert into counted values (?)')
  const count = database.prepare('select count(*) as counted from counted')
  const counted = () => (count.get() as { counted: number }).counted
  const transactions: boolean[] = []
  const add = together(database, (n: number) => {
    transactions.push(database.isTransaction)
    insert.run(n)
    return n * 2
  })
  return { add, counted, transactions }
}

it('answers what is asked in one turn in one transaction, in order', async () => {
  const { add, counted, transactions } = counter()
  expect(await Promise.all([add(1), add(2), add(3)])).toEqual([2, 4, 6])
  expect(counted()).toBe(3)
  expect(transactions).toEqual([true, true, true])
})

it('needs no transaction for one alone', async () => {
  const { add, transactions } = counter()
  expect(await add(1)).toBe(2)
  expect(transactions).toEqual([false])
})

it('does nothing of a turn that fails, tells each, and goes on', async () => {
  const { add, counted } = counter()
  const answers = await Promise.allSettled([add(1), add(13), add(3)])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(counted()).toBe(0)
  expect(await Promise.all([add(4), add(5)])).toEqual([8, 10])
  expect(counted()).toBe(2)
})
