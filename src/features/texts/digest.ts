import { codePointLength, indexOfCodePoint } from '../../core/text.ts'
import { graphemeStart } from '../../core/grapheme-boundary.ts'
import { lastSentenceEnd, proseSentences, type Sentence } from './digest-sentences.ts'
import { cosineOf, countTerms, unitVector } from './term-vectors.ts'

export interface Digest {
  /** Up to seven sentences of the text in their order, verbatim. */
  sentences: string[]
  /** The opening, at most 500 code points; ends in an ellipsis where it is cut inside a sentence. */
  excerpt: string
}

/** Sentences that are weighed: a longer text is sampled evenly, so that a book costs no more than a long article. */
const WEIGHED = 400
const FEWEST = 3
const MOST = 7
/** Cosine from which two sentences say the same. */
const SAME = 0.55
const EXCERPT = 500

/**
 * A digest of a text in its own sentences, the same each time. Each is weighed by how much of what the whole text speaks of
 * it holds (cosine of its tf-idf vector to the text's centroid; Radev et al., Centroid-based summarization, 2004) and by
 * its place; picked one after the other, each as unlike those before as it can be (maximal marginal relevance; Carbonell
 * and Goldstein, 1998) and rather from a part of the text that has none yet.
 */
export function digestOf(plain: string): Digest {
  return { sentences: chooseSentences(plain).map(({ text }) => text), excerpt: openingOf(plain) }
}

interface Weighed extends Sentence {
  vector: Map<string, number>
  weight: number
}

function chooseSentences(plain: string): Sentence[] {
  const all = proseSentences(plain)
  const wanted = Math.min(MOST, Math.max(FEWEST, Math.round(Math.sqrt(all.length) * 0.7)))
  const candidates = weigh(sample(all, WEIGHED), plain.length)
  const chosen: Weighed[] = []
  const partOf = ({ start }: Sentence) => Math.floor((start / plain.length) * wanted)
  while (chosen.length < wanted) {
    let best: Weighed | undefined
    let most = 0
    for (const candidate of candidates) {
      const likeness = Math.max(0, ...chosen.map(({ vector }) => cosineOf(vector, candidate.vector)))
      if (likeness >= SAME) continue
      const isNewPart = !chosen.some((other) => partOf(other) === partOf(candidate))
      const worth = candidate.weight * (1 - likeness) * (isNewPart ? 1 : 0.5)
      if (worth > most) {
        most = worth
        best = candidate
      }
    }
    if (!best) break
    chosen.push(best)
  }
  return chosen.toSorted((a, b) => a.start - b.start)
}

function sample<T>(all: T[], most: number): T[] {
  if (all.length <= most) return all
  return Array.from({ length: most }, (_, index) => all[Math.floor((index * all.length) / most)]!)
}

function weigh(sentences: Sentence[], length: number): Weighed[] {
  const counts = sentences.map(({ text }) => countTerms(text))
  const spread = new Map<string, number>()
  for (const words of counts) for (const word of words.keys()) spread.set(word, (spread.get(word) ?? 0) + 1)
  const rarity = (word: string) => Math.log((sentences.length + 1) / (spread.get(word) ?? 1))
  const vectors = counts.map((words) =>
    unitVector(new Map([...words].map(([word, count]) => [word, (1 + Math.log(count)) * rarity(word)]))),
  )
  const centroid = new Map<string, number>()
  for (const vector of vectors) {
    for (const [word, value] of vector) {
      // What is said once only is no subject of the text.
      if (sentences.length < 6 || spread.get(word) !== 1)
        centroid.set(word, (centroid.get(word) ?? 0) + value)
    }
  }
  const whole = unitVector(centroid)
  return sentences.map((sentence, index) => {
    const vector = vectors[index] ?? new Map<string, number>()
    const place = sentence.start / Math.max(1, length)
    const position = index === 0 ? 1.6 : place < 0.1 ? 1.3 : place > 0.93 ? 1.1 : 1
    return {
      ...sentence,
      vector,
      weight: (0.05 + cosineOf(vector, whole)) * position * standing(sentence.text),
    }
  })
}

/** How well a sentence stands alone: half a quotation, or a start that leans on the sentence before, makes it weaker. */
function standing(text: string): number {
  const marks = text.match(/["“”«»]/gu)?.length ?? 0
  const leans = /^(?:He|She|They|It|This|These|Those|That|But|And|Or|So|However|Also|Then)\b/.test(text)
  return (marks % 2 === 1 ? 0.5 : 1) * (leans ? 0.75 : 1)
}

/** The opening of the prose (titles and bylines before it are left out where it begins soon). */
function openingOf(plain: string): string {
  const head = plain.slice(0, 3_000)
  const prose = head.search(/^(?=[^\n]*\S)(?:[^\n]{80,}|[^\n]{12,}[.!?…。！？]["'”’»)\]」』）]*[ \t]*)$/mu)
  const text = plain.slice(Math.max(0, prose)).trimStart()
  const limit = indexOfCodePoint(text, EXCERPT)
  if (limit >= text.length) return text.trimEnd()
  const window = text.slice(0, limit)
  const end = lastSentenceEnd(window)
  if (codePointLength(window.slice(0, end)) >= EXCERPT * 0.3) return window.slice(0, end)
  const room = indexOfCodePoint(text, EXCERPT - 1)
  const space = text.slice(0, room + 1).search(/\s\S*$/u)
  return `${text.slice(0, space > room / 2 ? space : graphemeStart(text, room)).trimEnd()}…`
}
