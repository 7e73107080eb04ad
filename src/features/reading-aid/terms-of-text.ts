import { breather } from '../../core/breath.ts'
import { countTerms, unitVector, type TermVector } from '../texts/term-vectors.ts'
import { sentencesOfText, type Stretch } from './sentences-of-text.ts'

/** The words of a text, weighed by how rare they are among its sentences. */
export interface Terms {
  vectorOf(counts: TermVector): TermVector
  /** What the whole text speaks of. */
  centroid: TermVector
  /** Words of the title that stand in the text. */
  title: Set<string>
}

/** Reads a text once; others get their turn meanwhile. Throws what the signal gives. */
export async function weighTerms(stretch: Stretch, title: string, signal?: AbortSignal): Promise<Terms> {
  const breathe = breather()
  const spread = new Map<string, number>()
  const total = new Map<string, number>()
  let sentences = 0
  for (const { text } of sentencesOfText(stretch)) {
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
