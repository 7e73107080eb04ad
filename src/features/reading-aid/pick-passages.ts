import type { Outside } from '../../core/outside.ts'
import { codePointLength, indexOfCodePoint } from '../../core/text.ts'
import { choosePassages } from './choose-passages.ts'
import { passagesOf } from './how-many.ts'

/** A text to pick from. Offsets count code points of `plain`, as everywhere. */
export interface TextToRead {
  title: string
  plain: string
  /** BCP 47, where it is known. */
  language: string | null
  /** The stretch to pick from, the whole text where absent. Stretches that part a text together get what the whole would. */
  from?: number
  to?: number
}

/** Words of the text, exactly: `plain` from `start` to `end`. */
export interface PickedPassage {
  start: number
  end: number
  quote: string
}

export interface Picked {
  /** In the order of the text, none over another. */
  passages: PickedPassage[]
  /** `built-in`, or the model's id. */
  by: string
  /** Where something fell back, one sentence that says what and why. */
  remark?: string
}

export interface PickOptions {
  signal?: AbortSignal
  /** Quotes picked from other stretches of the same text: nothing that says the same is picked. */
  already?: readonly string[]
}

/**
 * Picks the passages of a text, or of a stretch of it, that are worth marking: about one in 300 words, at most 40 of a
 * whole text, spread over it, no thought twice, every one verbatim. The same text gives the same passages without a model.
 * Leaves others their turn; costs up to a few seconds for a book.
 *
 * Throws what the signal gives.
 */
export async function pickPassages(
  outside: Pick<Outside, 'model' | 'embedder'>,
  text: TextToRead,
  options: PickOptions = {},
): Promise<Picked> {
  const { signal, already = [] } = options
  const { title, plain } = text
  const first = text.from === undefined ? 0 : indexOfCodePoint(plain, text.from)
  const end = text.to === undefined ? plain.length : indexOfCodePoint(plain, text.to)
  const stretch = plain.slice(first, end)
  const wanted = Math.min(await passagesOf(plain, { start: first, end }, signal), 40 - already.length)
  const { embedder } = outside
  const choice = await choosePassages(stretch, { wanted, title, already, embedder, signal })
  return {
    passages: inCodePoints(plain, first, choice.spans),
    by: 'built-in',
    ...(choice.embedderFailed && {
      remark: 'Passages were compared by their words alone: no embedding could be made.',
    }),
  }
}

/** Spans in order, counted from `first`, as passages of the whole text. */
function inCodePoints(
  plain: string,
  first: number,
  spans: { start: number; end: number }[],
): PickedPassage[] {
  const passages: PickedPassage[] = []
  let at = 0
  let points = 0
  for (const { start, end } of spans) {
    points += codePointLength(plain.slice(at, first + start))
    const quote = plain.slice(first + start, first + end)
    const length = codePointLength(quote)
    passages.push({ start: points, end: points + length, quote })
    points += length
    at = first + end
  }
  return passages
}
