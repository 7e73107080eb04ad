import { UNSPACED } from '../../core/text.ts'
import type { Span } from '../highlights/anchor.ts'

/** Passages of a whole text at most, and words to a passage. */
export const MOST_PASSAGES = 40
const WORDS_A_PASSAGE = 300
/** Of a text longer than so many slices of so many characters, slices are counted and not all of it. */
const SLICES = 24
const SLICE = 4_000

const EACH = new RegExp(`${UNSPACED.source}|[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}'’-]*`, 'gu')

/**
 * How many passages a stretch of a text gets: one for each 300 words, at most 40 for the whole text, and one where there
 * is less. Stretches that part a text together get what the whole does, wherever it is parted.
 */
export function passagesIn(plain: string, { start, end }: Span): number {
  const words = wordsOf(plain)
  const whole = words === 0 ? 0 : Math.min(MOST_PASSAGES, Math.max(1, Math.round(words / WORDS_A_PASSAGE)))
  const upTo = (offset: number) => Math.round((whole * offset) / Math.max(1, plain.length))
  return Math.max(0, upTo(end) - upTo(start))
}

/** About how many words a text has; two characters of a script without spaces count as one. */
function wordsOf(plain: string): number {
  if (plain.length <= SLICES * SLICE) return wordsIn(plain)
  let words = 0
  for (let slice = 0; slice < SLICES; slice++) {
    const from = Math.floor((slice * (plain.length - SLICE)) / (SLICES - 1))
    words += wordsIn(plain.slice(from, from + SLICE))
  }
  return (words * plain.length) / (SLICES * SLICE)
}

function wordsIn(text: string): number {
  let words = 0
  for (const [word] of text.matchAll(EACH)) words += UNSPACED.test(word) ? 0.5 : 1
  return words
}
