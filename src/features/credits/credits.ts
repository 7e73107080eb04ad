import { Failure } from '../../core/failure.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { newName } from '../accounts/secrets.ts'
import { allowanceOf, type Allowance } from '../allowances/allowance-store.ts'
import { addEntry, findEntry, giveBack, grant, monthOf, spend, type CreditMonth } from './credit-store.ts'

type Books = Pick<Accounts, 'db' | 'now'>

export interface Credits extends CreditMonth {
  /** `YYYY-MM`, in UTC. */
  month: string
  /** What the reader gets every month. */
  allowance: number
  left: number
}

/** A reader's AI credits of this month; what is left of one month does not go over into the next. */
export async function creditsOf(
  { db, now }: Books,
  readerId: string,
  configured: Allowance,
): Promise<Credits> {
  const month = monthIn(now())
  const { credits: allowance } = await allowanceOf(db, readerId, configured)
  const { spent, granted } = await monthOf(db, readerId, month)
  return { month, allowance, granted, spent, left: Math.max(0, allowance + granted - spent) }
}

export interface Spending {
  /** Whole credits, at least 1. */
  amount: number
  /** What for, as the reader and the operator see it; never a text of the reader's. */
  what: string
  /** Names what is paid for: the same key is paid once, however often and from wherever it is asked. */
  key: string
}

/**
 * Spends credits, all or none. Throws `credits_used_up` where fewer are left; what should be paid can then be done next month or
 * when the operator grants more.
 */
export async function spendCredits(
  books: Books,
  readerId: string,
  { amount, what, key }: Spending,
  configured: Allowance,
): Promise<Credits> {
  const { db, now } = books
  checkAmount(amount)
  const month = monthIn(now())
  const { credits: allowance } = await allowanceOf(db, readerId, configured)
  await db.transaction().execute(async (transaction) => {
    const entry = { reader_id: readerId, month, amount, what, key, at: now().toISOString() }
    if (!(await addEntry(transaction, { id: newName(), ...entry }))) return
    if (await spend(transaction, readerId, month, amount, allowance)) return
    throw new Failure('credits_used_up', 'There are not enough AI credits left this month.', {
      hint: 'They begin anew with the next month; whoever runs this server can grant more.',
      details: { needed: amount },
    })
  })
  return creditsOf(books, readerId, configured)
}

/** Gives back what was spent under a key for something that failed on our side, once, to the month it was of. */
export async function returnCredits({ db, now }: Books, readerId: string, key: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const spent = await findEntry(transaction, readerId, key)
    if (!spent || spent.amount <= 0) return false
    const entry = {
      id: newName(),
      reader_id: readerId,
      month: spent.month,
      amount: -spent.amount,
      what: spent.what,
      key: `returned ${key}`,
      at: now().toISOString(),
    }
    if (!(await addEntry(transaction, entry))) return false
    await giveBack(transaction, readerId, spent.month, spent.amount)
    return true
  })
}

/** Gives a reader credits for this month beside their allowance. False where there is no such reader. */
export async function grantCredits({ db, now }: Books, readerId: string, amount: number): Promise<boolean> {
  checkAmount(amount)
  return db.transaction().execute(async (transaction) => {
    const month = monthIn(now())
    if (!(await grant(transaction, readerId, month, amount))) return false
    const id = newName()
    const at = now().toISOString()
    await addEntry(transaction, {
      id,
      reader_id: readerId,
      month,
      amount: -amount,
      what: 'granted',
      key: id,
      at,
    })
    return true
  })
}

const monthIn = (instant: Date): string => instant.toISOString().slice(0, 7)

function checkAmount(amount: number): void {
  if (Number.isInteger(amount) && amount >= 1 && amount <= 1_000_000) return
  throw new Failure('invalid_input', 'Credits are counted from 1 to 1,000,000.', {
    hint: 'Give a whole number.',
  })
}
