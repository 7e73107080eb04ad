import { Failure } from '../../core/failure.ts'
import type { Accounts } from './accounts.ts'
import { hashPassword } from './password.ts'

/** In characters. A long one is cut for nobody: it would cost more to stretch than it adds. */
export const PASSWORD_LENGTH = { min: 10, max: 200 }

/** The hash of a password that a reader chose. Throws `invalid_input` where it is too short or too long. */
export async function hashChosenPassword(
  { passwordCost }: Pick<Accounts, 'passwordCost'>,
  password: string,
): Promise<string> {
  if ([...password].length < PASSWORD_LENGTH.min || password.length > PASSWORD_LENGTH.max) {
    throw new Failure(
      'invalid_input',
      `A password has ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters.`,
      { hint: 'Take a few words that nobody else would put together.' },
    )
  }
  return hashPassword(password, passwordCost)
}
