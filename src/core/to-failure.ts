import { databaseFailure } from './database-failure.ts'
import { Failure } from './failure.ts'

/** Any thrown value as a failure; what is not one of ours says nothing of its cause. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  const ofDatabase = databaseFailure(error)
  if (ofDatabase) return ofDatabase
  if (error instanceof DOMException && error.name === 'AbortError') {
    return new Failure('cancelled', 'The call was cancelled.', { hint: 'Nothing was changed.', cause: error })
  }
  return new Failure('internal_error', 'Something went wrong inside Commonplace.', {
    hint: 'Try again. If it goes on, run `commonplace doctor` and look at the log on standard error.',
    cause: error,
  })
}

/** What went wrong in the world and not here, though it is worth another try. */
const OF_THE_WORLD: readonly string[] = ['fetch_failed', 'timed_out']

/** Whether an error is a fault of ours, for the log: any other is told to whoever called, and that is all. */
export function isFault(error: unknown): boolean {
  const { kind, code } = toFailure(error)
  return kind === 'internal' && !OF_THE_WORLD.includes(code)
}
