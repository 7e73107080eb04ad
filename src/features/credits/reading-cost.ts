/** Words of an article, page or book that one credit reads. */
export const WORDS_A_CREDIT = 3_000
/** Seconds of a video or podcast that one credit reads. */
export const SECONDS_A_CREDIT = 600

/** How much of a text: its words and, where it is that of a recording with times, how long that takes. */
export interface Extent {
  words: number
  /** 0 for what is no recording, and for one whose text has no times. */
  seconds: number
}

/**
 * Credits that it costs to have the reading aid read a text from its beginning up to somewhere: one for each begun 3,000
 * words, or of a recording for each begun ten minutes; nothing for nothing. What a stretch costs is the difference between
 * its end and its beginning, so that however a text is cut its whole costs the same.
 */
export function readingCost({ words, seconds }: Extent): number {
  if (words === 0) return 0
  return Math.max(1, Math.ceil(seconds > 0 ? seconds / SECONDS_A_CREDIT : words / WORDS_A_CREDIT))
}
