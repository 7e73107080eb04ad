import type { Change } from '../../core/library.ts'
import { newestReview } from './review-store.ts'

/** Takes the newest answer to a highlight back, as if it had not been given. Answers false where there is none. */
export async function takeBackAnswer(change: Change, highlightId: number): Promise<boolean> {
  const newest = await newestReview(change.db, highlightId)
  return newest !== undefined && (await change.erase('review', newest.id))
}
