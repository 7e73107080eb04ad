import { codePointLength } from '../../core/text.ts'
import { locateWords, type FoldedWord } from './fold-words.ts'
import type { Term } from './query.ts'

export interface Snippet {
  /** Words of the passage as they stand there, white space as single spaces; `…` where something was left off. */
  text: string
  /** Matched words: start and end (exclusive), counted in code points of `text`. */
  marks: [number, number][]
  /** Code point of the passage at which the first of them begins, or the snippet where none is in it. */
  start: number
}

/** Most UTF-16 units of a snippet: three lines of a terminal. */
const LONGEST = 280
/** Of what goes before the first matched word. */
const BEFORE = 60

/** The stretch of a passage that shows most of the matched words, or its beginning. */
export function cutSnippet(body: string, terms: readonly Term[], longest = LONGEST): Snippet {
  const words = locateWords(body)
  const found = joinRanges(terms.flatMap((term) => placesOf(term, words)))
  const { from, to } = bestWindow(body, words, found, longest)
  const text = body.slice(from, to).replaceAll(/\s/g, ' ')
  const lead = from > 0 ? '…' : ''
  const offset = (index: number) => codePointLength(`${lead}${body.slice(from, index)}`)
  const shown = found.filter(({ start, end }) => start >= from && end <= to)
  return {
    text: `${lead}${text}${to < body.trimEnd().length ? '…' : ''}`,
    marks: shown.map(({ start, end }) => [offset(start), offset(end)]),
    start: codePointLength(body.slice(0, shown[0]?.start ?? from)),
  }
}

interface Range {
  start: number
  end: number
}

function placesOf({ words: needle, prefix }: Term, words: readonly FoldedWord[]): Range[] {
  const ranges: Range[] = []
  const last = needle.length - 1
  for (let at = 0; at + last < words.length; at++) {
    const matches = needle.every((word, i) => {
      const here = words[at + i]!.word
      return i === last && prefix ? here.startsWith(word) : here === word
    })
    if (!matches) continue
    const end = words[at + last]!
    // One character that begins a pair is all that was asked for.
    const alone = prefix && last === 0 && [...needle[0]!].length === 1 && isPair(words, at)
    ranges.push({ start: words[at]!.start, end: alone ? words[at + 1]!.start : end.end })
  }
  return ranges
}

/** Whether a word is a pair of characters: the next one begins inside it. */
const isPair = (words: readonly FoldedWord[], at: number): boolean =>
  words[at + 1] !== undefined && words[at + 1]!.start < words[at]!.end

function joinRanges(ranges: readonly Range[]): Range[] {
  const joined: Range[] = []
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1)
    if (last && start < last.end) last.end = Math.max(last.end, end)
    else joined.push({ start, end })
  }
  return joined
}

function bestWindow(
  body: string,
  words: readonly FoldedWord[],
  found: readonly Range[],
  longest: number,
): { from: number; to: number } {
  const whole = body.trimEnd().length
  if (whole <= longest) return { from: 0, to: whole }
  let best = 0
  let most = 0
  for (let i = 0; i < found.length; i++) {
    let held = 0
    while (i + held < found.length && found[i + held]!.end - found[i]!.start <= longest - BEFORE) held++
    if (held > most) {
      most = held
      best = found[i]!.start
    }
  }
  const wanted = Math.min(Math.max(0, best - BEFORE), whole - longest)
  const from = wanted <= 0 ? 0 : boundaryAfter(words, wanted, Math.max(best, wanted))
  const to = from + longest >= whole ? whole : boundaryBefore(body, words, from, from + longest)
  return { from, to }
}

/** Where the first word at or after `index` begins. */
const boundaryAfter = (words: readonly FoldedWord[], index: number, fallback: number): number =>
  words.find(({ start }) => start >= index)?.start ?? fallback

/** Where the last word that fits ends; a single endless word is cut between two characters. */
function boundaryBefore(body: string, words: readonly FoldedWord[], from: number, index: number): number {
  const last = words.findLast(({ start, end }) => start >= from && end <= index)
  if (last) return last.end
  const unit = body.charCodeAt(index)
  return unit >= 0xdc00 && unit < 0xe000 ? index - 1 : index
}
