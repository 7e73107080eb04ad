import { breather } from '../../core/breath.ts'
import type { Embedder } from '../../core/outside.ts'
import type { Span } from '../highlights/anchor.ts'
import { cosineOf, countTerms } from '../texts/term-vectors.ts'
import { likeness, meaningsOf, type Said } from './likeness.ts'
import { sentencesOfText, type Candidate, type Stretch } from './sentences-of-text.ts'
import { weighTerms, type Terms } from './terms-of-text.ts'
import { isQuestion, isTalk, leans, standing, WIDEST } from './worth-of-words.ts'

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

interface Passage extends Span, Said {
  worth: number
}

/** Sentences of one passage. */
const MOST_SENTENCES = 3
/** Passages that are kept of each part of the text to choose from. */
const KEPT = 8
/** Passages whose meaning is compared: what is embedded costs about 3 ms each. */
const MOST_MEANINGS = 200
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
export async function choosePassages(stretch: Stretch, options: ChooseOptions): Promise<Choice> {
  const { wanted, title, already = [], embedder, signal } = options
  if (wanted <= 0) return { spans: [], embedderFailed: false }
  const terms = await weighTerms(stretch, title, signal)
  const candidates = await candidatesOf(stretch, terms, wanted, signal)
  const before: Said[] = already.map((text) => ({ text, vector: terms.vectorOf(countTerms(text)) }))
  const compared = candidates
    .toSorted((a, b) => b.worth - a.worth || a.start - b.start)
    .slice(0, MOST_MEANINGS)
  const toCompare = compared.length + before.length > 1 ? [...compared, ...before] : []
  const meanings =
    embedder && toCompare.length > 0
      ? await meaningsOf(
          toCompare.map(({ text }) => text),
          embedder,
          { signal },
        )
      : undefined
  for (const [index, said] of toCompare.entries()) {
    const meaning = meanings?.vectors[index]
    if (meaning) said.meaning = meaning
  }
  const { length } = stretch.text
  const spans = select(candidates, before, { wanted, length, same: meanings?.same ?? Infinity })
  return { spans, embedderFailed: embedder !== undefined && toCompare.length > 0 && !meanings }
}

/** The best passages of each part of the text, by their own worth. */
async function candidatesOf(
  stretch: Stretch,
  terms: Terms,
  wanted: number,
  signal?: AbortSignal,
): Promise<Passage[]> {
  const breathe = breather()
  const { text: plain } = stretch
  const parts: Passage[][] = Array.from({ length: wanted }, () => [])
  const partOf = partsOf(plain.length, wanted)
  let recent: Candidate[] = []
  for (const sentence of sentencesOfText(stretch)) {
    await breathe()
    signal?.throwIfAborted()
    if (recent[0]?.paragraph !== sentence.paragraph || !sentence.isWhole) recent = []
    // Furniture is in no passage, so none goes over it.
    if (!isTalk(sentence.text)) {
      recent = []
      continue
    }
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
  const isWhole = sentences.every((sentence) => sentence.isWhole)
  if (new Set(sentences.map((sentence) => sentence.text)).size < sentences.length) return undefined
  const form = standing(text, isWhole) * [1, 0.92, 0.82][sentences.length - 1]!
  if (form === 0) return undefined
  const counts = countTerms(text)
  const vector = terms.vectorOf(counts)
  const ofTitle = [...terms.title].filter((term) => counts.has(term)).length
  const subject = cosineOf(vector, terms.centroid) * (1 + 0.1 * Math.min(3, ofTitle))
  // A second sentence that stands by itself belongs to another thought.
  const joins = sentences.slice(1).some((sentence) => leans(sentence.text)) || sentences.length === 1
  return { text, vector, worth: (0.05 + subject) * form * (joins ? 1 : 0.8) }
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
