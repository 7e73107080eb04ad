/** What becomes of a newly captured text beside the one that is there. */
export type Verdict = 'current' | 'unchanged' | 'kept'

/** A text this much shorter than the one before is a wall, an error page or a teaser, not a new edition. */
const SHRUNK = 10

/**
 * A good text is never replaced by a failed, empty or ten times shorter one: such a version is kept beside it and read only
 * where someone asks for it. A text whose words are the same is no new version.
 */
export function judgeRefetch(
  current: { plain: string; words: number } | undefined,
  fresh: { plain: string; words: number },
): Verdict {
  if (!current) return 'current'
  if (fresh.plain === current.plain) return 'unchanged'
  if (fresh.words === 0 || fresh.words * SHRUNK <= current.words) return 'kept'
  return 'current'
}
