import { breather } from '../../core/breath.ts'
import { UNSPACED } from '../../core/text.ts'

/** Passages of a whole text at most, and words to a passage. */
export const MOST_PASSAGES = 40
const WORDS_A_PASSAGE = 300
/** Characters that are counted between two breaths. */
const SLICE = 50_000

const EACH = new RegExp(`${UNSPACED.source}|[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}'’-]*`, 'gu')

/**
 * How many passages a stretch of a text gets: one for each 300 words, at most 40 for the whole text, and one where there
 * is less. Stretches that part a text together get what the whole does, wherever it is parted.
 */
export async function passagesOf(
  plain: string,
  { start, end }: { start: number; end: number },
  signal?: AbortSignal,
): Promise<number> {
  const words = await wordsOf(plain, signal)
  const whole = words === 0 ? 0 : Math.min(MOST_PASSAGES, Math.max(1, Math.round(words / WORDS_A_PASSAGE)))
  const upTo = (offset: number) => Math.round((whole * offset) / Math.max(1, plain.length))
  return Math.max(0, upTo(end) - upTo(start))
}

/** Words of a text; two characters of a script without spaces count as one. A word over a slice's end counts twice. */
async function wordsOf(plain: string, signal?: AbortSignal): Promise<number> {
  const breathe = breather()
  let words = 0
  for (let from = 0; from < plain.length; from += SLICE) {
    for (const [word] of plain.slice(from, from + SLICE).matchAll(EACH)) {
      words += UNSPACED.test(word) ? 0.5 : 1
      await breathe()
    }
    signal?.throwIfAborted()
  }
  return words
}
