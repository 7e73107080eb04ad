import { breather } from '../../core/breath.ts'
import type { Embedder } from '../../core/outside.ts'
import { Failure } from '../../core/failure.ts'
import { cosineOf, countTerms, unitVector, type TermVector } from '../texts/term-vectors.ts'
import { sentencesOfText, type Candidate } from './sentences-of-text.ts'
import { isQuestion, isTalk, leans, standing, WIDEST } from './worth-of-words.ts'

/** A stretch of a text, as UTF-16 indexes. */
export interface Span {
  start: number
  end: number
}

export interface Choice {
  /** In the order of the text. */
  spans: Span[]
  /** Why meanings were not compared, where there was something to compare them with. */
  embedderFailed: boolean
}

export interface ChooseOptions {
  /** Most passages. */
  wanted: number
  title: string
  /** Passages of the same text that were picked before: none is picked again, nor one that says the same. */
  already?: readonly string[]
  embedder?: Embedder | undefined
  signal?: AbortSignal | undefined
}

interface Passage extends Span {
  text: string
  paragraph: number
  vector: TermVector
  worth: number
  meaning?: Float32Array
}

/** Sentences of one passage. */
const MOST_SENTENCES = 3
/** Passages that are kept of each part of the text to choose from. */
const KEPT = 8
/** Passages whose meaning is compared: what is embedded costs about 3 ms each. */
const MOST_MEANINGS = 200
/** Cosine of words from which two passages say the same. */
const SAME_WORDS = 0.45
/** Cosine of meanings from which they do, at the least: an embedder that does not know a language finds all of it alike. */
const SAME_MEANING = 0.78
/** Worth beside the best passage's below which a passage is not worth marking. */
const LEAST = 0.3
/** Characters between two passages; nearer, they are rather one. */
const APART = 300

/**
 * Picks passages of one to three whole sentences, verbatim, that say most of what the text speaks of (cosine of tf-idf to
 * the text's centroid; Radev et al., 2004) and look like a thought that stands alone, one after the other, each unlike
 * those before (maximal marginal relevance; Carbonell and Goldstein, 1998) and from a part of the text that has none yet.
 * The same text and embedder give the same passages. Others get their turn every few milliseconds.
 *
 * Throws what the signal gives.
 */
export async function choosePassages(plain: string, options: ChooseOptions): Promise<Choice> {
  const { wanted, title, already = [], embedder, signal } = options
  if (wanted <= 0) return { spans: [], embedderFailed: false }
  const terms = await weighTerms(plain, title, signal)
  const candidates = await candidatesOf(plain, terms, wanted, signal)
  const meanings = embedder && (await compareMeanings(candidates, already, embedder, signal))
  const before = already.map((text, index) => {
    const meaning = meanings && meanings !== 'failed' ? meanings.already[index] : undefined
    return { text, vector: terms.vectorOf(countTerms(text)), ...(meaning && { meaning }) }
  })
  const same = meanings && meanings !== 'failed' ? meanings.same : Infinity
  const spans = select(candidates, before, { wanted, length: plain.length, same })
  return { spans, embedderFailed: meanings === 'failed' }
}

interface Terms {
  vectorOf(counts: TermVector): TermVector
  /** What the whole text speaks of. */
  centroid: TermVector
  title: Set<string>
}

async function weighTerms(plain: string, title: string, signal?: AbortSignal): Promise<Terms> {
  const breathe = breather()
  const spread = new Map<string, number>()
  const total = new Map<string, number>()
  let sentences = 0
  for (const { text } of sentencesOfText(plain)) {
    await breathe()
    signal?.throwIfAborted()
    sentences++
    for (const [term, count] of countTerms(text)) {
      spread.set(term, (spread.get(term) ?? 0) + 1)
      total.set(term, (total.get(term) ?? 0) + count)
    }
  }
  const rarity = (term: string): number => Math.log((sentences + 1) / (spread.get(term) ?? 1))
  const centroid = new Map<string, number>()
  for (const [term, count] of total) {
    // What is said once only is no subject of the text.
    if (sentences < 6 || spread.get(term) !== 1) centroid.set(term, (1 + Math.log(count)) * rarity(term))
  }
  return {
    vectorOf: (counts) =>
      unitVector(new Map([...counts].map(([term, count]) => [term, (1 + Math.log(count)) * rarity(term)]))),
    centroid: unitVector(centroid),
    title: new Set([...countTerms(title).keys()].filter((term) => spread.has(term))),
  }
}

/** The best passages of each part of the text, by their own worth. */
async function candidatesOf(
  plain: string,
  terms: Terms,
  wanted: number,
  signal?: AbortSignal,
): Promise<Passage[]> {
  const breathe = breather()
  const parts: Passage[][] = Array.from({ length: wanted }, () => [])
  const partOf = partsOf(plain.length, wanted)
  let recent: Candidate[] = []
  for (const sentence of sentencesOfText(plain)) {
    await breathe()
    signal?.throwIfAborted()
    if (recent[0]?.paragraph !== sentence.paragraph || !sentence.isWhole) recent = []
    recent = [...recent, sentence].slice(-MOST_SENTENCES)
    if (isQuestion(sentence.text)) continue
    for (let first = recent.length - 1; first >= 0; first--) {
      const start = recent[first]?.start ?? 0
      const end = sentence.start + sentence.text.length
      if (end - start > WIDEST) break
      const passage = weigh(plain.slice(start, end), recent.slice(first), terms)
      if (!passage) continue
      keepBest(parts[partOf(start)] ?? [], { ...passage, start, end })
    }
  }
  return parts.flat()
}

function weigh(
  text: string,
  sentences: Candidate[],
  terms: Terms,
): Omit<Passage, 'start' | 'end'> | undefined {
  const { paragraph, isWhole } = sentences[0]!
  if (!isTalk(text) || new Set(sentences.map((sentence) => sentence.text)).size < sentences.length)
    return undefined
  const form = standing(text, isWhole) * [1, 0.92, 0.82][sentences.length - 1]!
  if (form === 0) return undefined
  const counts = countTerms(text)
  const vector = terms.vectorOf(counts)
  const ofTitle = [...terms.title].filter((term) => counts.has(term)).length
  const subject = cosineOf(vector, terms.centroid) * (1 + 0.1 * Math.min(3, ofTitle))
  // A second sentence that stands by itself belongs to another thought.
  const joins = sentences.slice(1).some((sentence) => leans(sentence.text)) || sentences.length === 1
  return { text, paragraph, vector, worth: (0.05 + subject) * form * (joins ? 1 : 0.8) }
}

function keepBest(kept: Passage[], passage: Passage): void {
  const at = kept.findIndex(({ worth }) => worth < passage.worth)
  if (at < 0 && kept.length >= KEPT) return
  kept.splice(at < 0 ? kept.length : at, 0, passage)
  kept.length = Math.min(kept.length, KEPT)
}

const partsOf =
  (length: number, wanted: number) =>
  (start: number): number =>
    Math.min(wanted - 1, Math.floor((start / Math.max(1, length)) * wanted))

interface Meanings {
  already: Float32Array[]
  /** Cosine from which two mean the same. */
  same: number
}

/** Gives candidates their meaning; the best of them, where there are too many. */
async function compareMeanings(
  candidates: Passage[],
  already: readonly string[],
  embedder: Embedder,
  signal?: AbortSignal,
): Promise<Meanings | 'failed'> {
  const compared = candidates
    .toSorted((a, b) => b.worth - a.worth || a.start - b.start)
    .slice(0, MOST_MEANINGS)
  const texts = [...compared.map(({ text }) => text), ...already]
  try {
    const vectors = await embedder.embed(texts, { priority: 'bulk', ...(signal && { signal }) })
    compared.forEach((passage, index) => {
      const vector = vectors[index]
      if (vector) passage.meaning = vector
    })
    return { already: vectors.slice(compared.length), same: sameMeaning(vectors.slice(0, compared.length)) }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof Failure) return 'failed'
    throw error
  }
}

/** Well above what is usual between passages of this text, and never below a floor. */
function sameMeaning(vectors: Float32Array[]): number {
  const likenesses: number[] = []
  for (let one = 0; one + 1 < vectors.length; one++) likenesses.push(dot(vectors[one]!, vectors[one + 1]!))
  const usual = likenesses.toSorted((a, b) => a - b)[Math.floor(likenesses.length / 2)] ?? 0
  return Math.max(SAME_MEANING, usual + (1 - usual) * 0.6)
}

interface Said {
  text: string
  vector: TermVector
  meaning?: Float32Array
}

function select(
  candidates: Passage[],
  before: Said[],
  { wanted, length, same }: { wanted: number; length: number; same: number },
): Span[] {
  const partOf = partsOf(length, wanted)
  const chosen: Passage[] = []
  // Likeness to what is chosen already, and whether it says the same.
  const state = new Map(
    candidates.map((passage) => [
      passage,
      before.reduce((most, said) => Math.max(most, likeness(passage, said, same)), 0),
    ]),
  )
  const best = Math.max(0, ...candidates.map(({ worth }) => worth))
  const taken = new Set<number>()
  while (chosen.length < wanted) {
    let next: Passage | undefined
    let most = 0
    for (const [passage, alike] of state) {
      if (alike >= 1 || passage.worth < best * LEAST) continue
      const worth = passage.worth * (1 - alike) * (taken.has(partOf(passage.start)) ? 0.4 : 1)
      if (worth > most) {
        most = worth
        next = passage
      }
    }
    if (!next) break
    chosen.push(next)
    taken.add(partOf(next.start))
    for (const [passage, alike] of state) {
      const gap = Math.max(passage.start - next.end, next.start - passage.end)
      state.set(passage, gap < 0 ? 1 : Math.max(alike, likeness(passage, next, same), gap < APART ? 0.5 : 0))
    }
  }
  return chosen.toSorted((a, b) => a.start - b.start).map(({ start, end }) => ({ start, end }))
}

/** From 0 to 1, where 1 is the same thought. */
function likeness(one: Said, other: Said, same: number): number {
  if (one.text === other.text) return 1
  const words = cosineOf(one.vector, other.vector)
  if (words >= SAME_WORDS) return 1
  const meaning = one.meaning && other.meaning ? dot(one.meaning, other.meaning) : 0
  if (meaning >= same) return 1
  return Math.max(words, meaning * 0.6)
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!
  return sum
}
