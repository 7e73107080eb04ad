import type { AccountCredits } from '../../core/outside.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Allowance } from '../allowances/allowance-store.ts'
import { creditsOf, returnCredits, spendCredits } from './credits.ts'

/** A reader's credits as their library sees them. */
export function accountCredits(
  books: Pick<Accounts, 'db' | 'now'>,
  readerId: string,
  configured: Allowance,
): AccountCredits {
  return {
    left: async () => (await creditsOf(books, readerId, configured)).left,
    async spend(spending) {
      await spendCredits(books, readerId, spending, configured)
    },
    async giveBack(key) {
      await returnCredits(books, readerId, key)
    },
  }
}
