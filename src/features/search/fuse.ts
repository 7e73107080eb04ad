/** One result by words, in the order of the list. */
export interface RankedWords {
  key: number
  /** Share of the question's informative words that it holds, 0 to 1. */
  coverage: number
  /** It holds the question as it was written, or in its title. */
  leads: boolean
}

export interface Fused {
  key: number
  score: number
  matched: 'words' | 'meaning' | 'both'
}

/** Of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009); smaller than its 60, so that a first place weighs. */
const K = 10
/** A hit by words counts from this share of the informative words on: below, a word search has met some of them by chance. */
const LEAST_COVERAGE = 0.6
/** All the words weigh more than the same rank by meaning. */
const WORDS_WEIGHT = 1.6
/** Above anything that ranks alone can add up to, so that leading hits come first. */
const LEAD = 1

const weightOf = (coverage: number): number =>
  coverage < LEAST_COVERAGE ? 0 : WORDS_WEIGHT * ((coverage - LEAST_COVERAGE) / (1 - LEAST_COVERAGE)) ** 0.5

/**
 * Joins two ranked lists of distinct keys, best first. Each adds the reciprocal of its rank; by words only as far as the hit
 * covers the question. What both lists leave below counts, chance hits by words at the very end, keeps its order there.
 */
export function fuseRanks(words: readonly RankedWords[], meaning: readonly number[]): Fused[] {
  const byKey = new Map<number, Fused>()
  for (const [rank, key] of meaning.entries()) {
    byKey.set(key, { key, score: 1 / (K + rank + 1), matched: 'meaning' })
  }
  for (const [rank, { key, coverage, leads }] of words.entries()) {
    const weight = weightOf(coverage)
    const known = byKey.get(key)
    const counts = weight > 0 || leads
    if (known && !counts) continue
    // Chance hits come after everything that either way found in earnest.
    const own = counts ? weight / (K + rank + 1) + (leads ? LEAD : 0) : 1e-6 / (rank + 1)
    const score = (known?.score ?? 0) + own
    byKey.set(key, { key, score, matched: known ? 'both' : 'words' })
  }
  return [...byKey.values()].toSorted((a, b) => b.score - a.score)
}
