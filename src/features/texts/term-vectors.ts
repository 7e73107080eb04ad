import { UNSPACED } from '../../core/text.ts'

/** The words of a stretch of text with their weights. */
export type TermVector = Map<string, number>

/** How often each word stands in a text; of a script without spaces, each pair of characters. */
export function countTerms(text: string): TermVector {
  const counts = new Map<string, number>()
  const add = (word: string) => counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const [run] of text.toLowerCase().matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    if (!UNSPACED.test(run)) {
      if (run.length > 2) add(run)
    } else {
      const characters = [...run]
      for (let at = 0; at + 1 < characters.length; at++) add(`${characters[at]}${characters[at + 1]}`)
    }
  }
  return counts
}

/** The same direction with length 1; of nothing, nothing. */
export function unitVector(vector: TermVector): TermVector {
  let squares = 0
  for (const value of vector.values()) squares += value * value
  const size = Math.sqrt(squares) || 1
  return new Map([...vector].map(([word, value]) => [word, value / size]))
}

/** Of unit vectors: 1 for the same words, 0 for none in common. */
export function cosineOf(a: TermVector, b: TermVector): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a]
  let sum = 0
  for (const [word, value] of small) sum += value * (large.get(word) ?? 0)
  return sum
}
