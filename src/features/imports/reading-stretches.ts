import { breather } from '../../core/breath.ts'
import { codePointLength } from '../../core/text.ts'
import { countWords } from '../capture/count-words.ts'
import { readingCost, type Extent } from '../credits/reading-cost.ts'
import { secondsOf, type Place } from '../texts/places.ts'

/** A part of a text that the reading aid takes at once, in code points of `plain`. */
export interface Stretch {
  start: number
  end: number
  /** How much of the text there is from its beginning up to `end`. */
  upTo: Extent
}

/** Words of a stretch: enough to choose from, and few enough that highlights land while a long text is read. */
const WORDS = 2_000
/** A rest of fewer words goes with the stretch before it. */
const LEAST_WORDS = 600
/** UTF-16 units of a paragraph beyond which it is cut inside. */
const LONG = 4_000

/**
 * Cuts a text into the stretches that the reading aid takes one after the other: whole paragraphs of about 2,000 words
 * together; a paragraph that is very long is cut between sentences or, where it has none, between words. Together they are the
 * whole text, and the same text is always cut alike, so that a reading can go on where it ended. Leaves others their turn.
 */
export async function readingStretches(plain: string, places: readonly Place[]): Promise<Stretch[]> {
  const stretches: { end: number; words: number }[] = []
  let end = 0
  let words = 0
  const breathe = breather()
  for (const piece of piecesOf(plain)) {
    await breathe()
    end += codePointLength(piece)
    words += countWords(piece)
    if (words < WORDS) continue
    stretches.push({ end, words })
    words = 0
  }
  const last = stretches.at(-1)
  if (words >= LEAST_WORDS || (!last && words > 0)) stretches.push({ end, words })
  else if (last) Object.assign(last, { end, words: last.words + words })
  let before = 0
  let total = 0
  return stretches.map((stretch, index) => {
    const start = before
    before = stretch.end
    total += stretch.words
    const ended = index === stretches.length - 1
    const seconds = ended ? secondsOf(places) : secondsOf(places, stretch.end)
    return { start, end: stretch.end, upTo: { words: total, seconds } }
  })
}

/** Credits that a stretch costs, those before it being paid. */
export function costOf(stretches: readonly Stretch[], index: number): number {
  const [before, stretch] = [stretches[index - 1], stretches[index]]
  if (!stretch) return 0
  return readingCost(stretch.upTo) - (before ? readingCost(before.upTo) : 0)
}

/** Paragraphs with the breaks behind them, very long ones in parts; together they are the text. */
function* piecesOf(plain: string): Generator<string> {
  for (const [paragraph] of plain.matchAll(/[^\n]*\n+|[^\n]+$/g)) {
    let rest = paragraph
    while (rest.length > LONG) {
      const at = cutBefore(rest)
      yield rest.slice(0, at)
      rest = rest.slice(at)
    }
    yield rest
  }
}

/** Where to cut within the first `LONG` units: behind the last sentence, else behind the last space, else between characters. */
function cutBefore(text: string): number {
  const head = text.slice(0, LONG)
  const sentence = lastEnd(head, /[.!?…]["'”’»)\]]*\s+|[。！？][」』”’）]*/g)
  const at = sentence ?? lastEnd(head, /\s+/g)
  if (at !== undefined) return at
  const unit = text.charCodeAt(LONG - 1)
  return unit >= 0xd800 && unit < 0xdc00 ? LONG - 1 : LONG
}

function lastEnd(text: string, pattern: RegExp): number | undefined {
  let end: number | undefined
  for (const match of text.matchAll(pattern)) end = match.index + match[0].length
  return end
}
