import type { Review } from './review-store.ts'

export const RATINGS = ['again', 'hard', 'good', 'easy'] as const
export type Rating = (typeof RATINGS)[number]

/** What an answer does to the memory of a highlight. */
export type Memory = Pick<
  Review,
  | 'rating'
  | 'reviewed_at'
  | 'due_at'
  | 'stability'
  | 'difficulty'
  | 'state'
  | 'learning_steps'
  | 'scheduled_days'
  | 'reps'
  | 'lapses'
>

/** What a highlight's memory was when it was last asked for. */
export type Remembered = Omit<Memory, 'rating'>

const DAY = 86_400_000

/**
 * The memory of a highlight after an answer at `now`, by FSRS 6 with its default weights for a recall of 90 %
 * (docs/decisions/0026). Nothing is drawn by lot and nothing is asked twice on a day: the same answers give the same dates
 * on every device. Where the clock stands before the last answer, as after it was set back, this one still comes last, and no
 * time passed between them.
 */
export async function answerHighlight(
  before: Remembered | undefined,
  rating: Rating,
  now: Date,
): Promise<Memory> {
  const fsrs = await import('ts-fsrs')
  const scheduler = fsrs.fsrs({ enable_fuzz: false, enable_short_term: false })
  const grade = fsrs.TypeConvert.rating(rating[0]!.toUpperCase() + rating.slice(1))
  if (grade === fsrs.Rating.Manual) throw new Error(`no rating: ${rating}`)
  const last = before ? Date.parse(before.reviewed_at) : -Infinity
  const asked = Math.max(now.getTime(), last)
  const card = before
    ? {
        due: before.due_at,
        stability: before.stability,
        difficulty: before.difficulty,
        elapsed_days: 0,
        scheduled_days: before.scheduled_days,
        learning_steps: before.learning_steps,
        reps: before.reps,
        lapses: before.lapses,
        state: fsrs.State.Review,
        last_review: before.reviewed_at,
      }
    : fsrs.createEmptyCard(now)
  const { card: after } = scheduler.next(card, new Date(asked), grade)
  return {
    rating: numberOf(rating),
    reviewed_at: new Date(Math.max(now.getTime(), last + 1)).toISOString(),
    due_at: new Date(now.getTime() + after.scheduled_days * DAY).toISOString(),
    stability: after.stability,
    difficulty: after.difficulty,
    state: 'review',
    learning_steps: after.learning_steps,
    scheduled_days: after.scheduled_days,
    reps: after.reps,
    lapses: after.lapses,
  }
}

const NUMBERS = { again: 1, hard: 2, good: 3, easy: 4 } as const

const numberOf = (rating: Rating): Review['rating'] => NUMBERS[rating]
