import { Failure } from '../../core/failure.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { countAttempt } from '../accounts/rate-counter-store.ts'
import { newName } from '../accounts/secrets.ts'
import { addFeedback } from './feedback-store.ts'

/** Code points of one message. */
export const MOST_FEEDBACK = 4_000

/**
 * Leaves the operator a message of a reader's; gives its id. Throws `invalid_input` where it is empty or too long, and
 * `rate_limited`.
 */
export async function leaveFeedback(accounts: Accounts, readerId: string, text: string): Promise<string> {
  const body = text.replaceAll('\r\n', '\n').trim()
  const length = [...body].length
  if (length === 0 || length > MOST_FEEDBACK) {
    throw new Failure(
      'invalid_input',
      `Feedback has 1 to ${MOST_FEEDBACK.toLocaleString('en')} characters.`,
      {
        hint: length === 0 ? 'Write something first.' : 'Shorten it, or send it in two.',
      },
    )
  }
  await countAttempt(accounts, 'feedback', readerId)
  const id = newName()
  await addFeedback(accounts.db, { id, readerId, body, createdAt: accounts.now().toISOString() })
  return id
}
