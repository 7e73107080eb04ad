import { expect, it, onTestFinished } from 'vitest'
import { openAccountsDb } from '../../../test/support/server-database.ts'
import { newName } from '../accounts/secrets.ts'
import { setAllowance } from '../allowances/allowance-store.ts'
import { creditsOf, grantCredits, returnCredits, spendCredits } from './credits.ts'

const CONFIGURED = { quotaBytes: 0, academy: true, credits: 10 }

async function books() {
  const { db, close } = await openAccountsDb()
  onTestFinished(close)
  const id = newName()
  await db
    .insertInto('reader')
    .values({ id, library: id, created_at: '2026-01-01T00:00:00.000Z', email: null, name: null })
    .execute()
  const clock = { at: new Date('2026-03-31T23:00:00Z') }
  return { id, clock, accounts: { db, now: () => clock.at } }
}

it('are spent to the last and no further, each thing once', async () => {
  const { id, accounts } = await books()
  const spend = (amount: number, key: string) =>
    spendCredits(accounts, id, { amount, what: 'a summary', key }, CONFIGURED)
  expect(await spend(7, 'import 1')).toMatchObject({ spent: 7, left: 3 })
  expect(await spend(7, 'import 1')).toMatchObject({ spent: 7, left: 3 })
  await expect(spend(4, 'import 2')).rejects.toMatchObject({ code: 'credits_used_up', kind: 'subscription' })
  expect(await spend(3, 'import 2')).toMatchObject({ left: 0 })
})

it('of many spendings at once only as many pass as there is room for', async () => {
  const { id, accounts } = await books()
  const ended = await Promise.allSettled(
    Array.from({ length: 25 }, (_, n) =>
      spendCredits(accounts, id, { amount: 1, what: 'a page', key: String(n) }, CONFIGURED),
    ),
  )
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  expect(await creditsOf(accounts, id, CONFIGURED)).toMatchObject({ spent: 10, left: 0 })
})

it('come back once for what failed, and can then be spent on something else', async () => {
  const { id, accounts } = await books()
  await spendCredits(accounts, id, { amount: 10, what: 'a theme', key: 'theme 1' }, CONFIGURED)
  expect(await returnCredits(accounts, id, 'theme 1')).toBe(true)
  expect(await returnCredits(accounts, id, 'theme 1')).toBe(false)
  expect(await returnCredits(accounts, id, 'theme 2')).toBe(false)
  expect(await creditsOf(accounts, id, CONFIGURED)).toMatchObject({ spent: 0, left: 10 })
})

it('begin anew with the month, grants of the month before not included', async () => {
  const { id, clock, accounts } = await books()
  await grantCredits(accounts, id, 5)
  expect(await creditsOf(accounts, id, CONFIGURED)).toMatchObject({ month: '2026-03', granted: 5, left: 15 })
  clock.at = new Date('2026-04-01T00:00:00Z')
  expect(await creditsOf(accounts, id, CONFIGURED)).toMatchObject({ month: '2026-04', granted: 0, left: 10 })
})

it('are as many as the operator gave this reader', async () => {
  const { id, accounts } = await books()
  await setAllowance(accounts.db, id, { credits: 2 })
  await expect(
    spendCredits(accounts, id, { amount: 3, what: 'a page', key: 'a' }, CONFIGURED),
  ).rejects.toMatchObject({ code: 'credits_used_up' })
  expect(await grantCredits(accounts, 'nobody', 1)).toBe(false)
})
