import type { Term } from './query.ts'
import { foldWords } from './fold-words.ts'

/** A term of the question with what it is worth in this library. */
export interface Needle extends Term {
  /** Inverse document frequency: how much its presence says. */
  weight: number
  /** So common that a passage may do without it. */
  optional: boolean
}

export interface PassageScore {
  /** Comparable within one question; at most about 2. */
  score: number
  /** Share of the needles' weight that the passage holds, 0 to 1; those that it may do without count only among themselves. */
  coverage: number
  /** All the words of the question stand in it in their order, one after the other (two words or more). */
  exact: boolean
  /** It is a title that holds every needle. */
  title: boolean
  /** Numbers of the needles that it holds. */
  found: number[]
}

/** BM25's saturation of repeated words, and half its usual regard for length: passages are cut to one size anyway. */
const K1 = 1.2
const B = 0.4
const AVERAGE_WORDS = 70
/** What words of a compound (`multi-agent`) are worth where it does not stand as such. */
const APART = 0.8

/** How well a passage answers a question by its words. `title` says that the first line of the body is a title. */
export function scorePassage(
  needles: readonly Needle[],
  { body, kind }: { body: string; kind: string },
): PassageScore {
  const all = scoreWords(needles, foldWords(body).split(' '))
  if (kind !== 'head') return { ...all, title: false }
  const titleWords = foldWords(body.split('\n', 1)[0]!).split(' ')
  const inTitle = scoreWords(needles, titleWords)
  const title = inTitle.coverage > 0.999
  const whole = title && inTitle.exact && titleWords.length === countWords(needles)
  const bonus = title ? 0.3 + (whole ? 0.2 : 0) : 0
  return { ...all, exact: all.exact || whole, title, score: all.score + bonus }
}

const countWords = (needles: readonly Needle[]): number =>
  needles.reduce((sum, { words }) => sum + words.length, 0)

function scoreWords(needles: readonly Needle[], words: readonly string[]): Omit<PassageScore, 'title'> {
  const places = needles.map((needle) => findNeedle(needle, words))
  const allOptional = needles.every(({ optional }) => optional)
  const counts = (needle: Needle) => allOptional || !needle.optional
  const norm = K1 * (1 - B + (B * words.length) / AVERAGE_WORDS)
  let wanted = 0
  let held = 0
  let total = 0
  let repeated = 0
  const found: number[] = []
  const present = new Set(words)
  for (const [i, needle] of needles.entries()) {
    const times = places[i]!.length
    const share = times > 0 ? 1 : shareOf(needle, present)
    if (times > 0) found.push(i)
    if (counts(needle)) {
      wanted += needle.weight
      held += needle.weight * share
    }
    total += needle.weight
    repeated += (needle.weight * times) / (times + norm)
  }
  const coverage = wanted > 0 ? held / wanted : 0
  const exact = standsTogether(needles, words)
  const closeness = closenessOf(places.filter((list, i) => counts(needles[i]!) && list.length > 0))
  const score =
    coverage * coverage * (0.6 + 0.4 * (total > 0 ? repeated / total : 0)) +
    0.15 * coverage * closeness +
    (exact ? 0.3 : 0)
  return { score, coverage, exact, found }
}

/** Where a needle begins. */
function findNeedle({ words: needle, prefix }: Needle, words: readonly string[]): number[] {
  const places: number[] = []
  for (let at = 0; at + needle.length <= words.length; at++) {
    if (matchesAt(needle, prefix, words, at)) places.push(at)
  }
  return places
}

function matchesAt(
  needle: readonly string[],
  prefix: boolean,
  words: readonly string[],
  at: number,
): boolean {
  const last = needle.length - 1
  for (let i = 0; i < last; i++) if (words[at + i] !== needle[i]) return false
  const word = words[at + last]!
  return prefix ? word.startsWith(needle[last]!) : word === needle[last]
}

function shareOf({ words: needle, quoted }: Needle, present: ReadonlySet<string>): number {
  if (quoted || needle.length === 1) return 0
  return (APART * needle.filter((word) => present.has(word)).length) / needle.length
}

function standsTogether(needles: readonly Needle[], words: readonly string[]): boolean {
  const sequence = needles.flatMap((needle) => needle.words)
  const last = needles.at(-1)
  if (!last || sequence.length < 2) return false
  for (let at = 0; at + sequence.length <= words.length; at++) {
    if (matchesAt(sequence, last.prefix, words, at)) return true
  }
  return false
}

/** Needles over the words of the shortest stretch that holds one of each: 1 where they stand side by side. */
function closenessOf(places: readonly (readonly number[])[]): number {
  if (places.length < 2) return places.length
  const hits = places
    .flatMap((list, which) => list.map((at) => ({ at, which })))
    .toSorted((a, b) => a.at - b.at)
  const within = new Map<number, number>()
  let shortest = Infinity
  let from = 0
  for (const { at, which } of hits) {
    within.set(which, (within.get(which) ?? 0) + 1)
    for (; within.size === places.length; from++) {
      const first = hits[from]!
      shortest = Math.min(shortest, at - first.at + 1)
      const left = within.get(first.which)! - 1
      if (left === 0) within.delete(first.which)
      else within.set(first.which, left)
    }
  }
  return Math.min(1, places.length / shortest)
}
