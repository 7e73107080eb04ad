import { Failure } from '../../core/failure.ts'
import type { Embedder } from '../../core/outside.ts'
import { cosineOf, type TermVector } from '../texts/term-vectors.ts'

/** Words with what they are compared by. */
export interface Said {
  text: string
  vector: TermVector
  meaning?: Float32Array
}

/** Cosine of words from which two passages say the same. */
const SAME_WORDS = 0.45
/** Cosine of meanings from which they do, at the least: an embedder that does not know a language finds all of it alike. */
const SAME_MEANING = 0.78

/** From 0 to 1, where 1 is the same thought. `same`: cosine of meanings from which two mean the same. */
export function likeness(one: Said, other: Said, same: number): number {
  if (one.text === other.text) return 1
  const words = cosineOf(one.vector, other.vector)
  if (words >= SAME_WORDS) return 1
  const meaning = one.meaning && other.meaning ? dot(one.meaning, other.meaning) : 0
  if (meaning >= same) return 1
  return Math.max(words, meaning * 0.6)
}

export interface Meanings {
  /** Of each text. */
  vectors: readonly Float32Array[]
  /** Cosine from which two of them mean the same: well above what is usual among them. */
  same: number
}

/**
 * The meanings of texts, and how alike `usual` ones are (these themselves, unless others are given); undefined where the
 * embedder has none to give. Throws what the signal gives.
 */
export async function meaningsOf(
  texts: string[],
  embedder: Embedder,
  { usual = texts, signal }: { usual?: string[]; signal?: AbortSignal | undefined } = {},
): Promise<Meanings | undefined> {
  try {
    const more = usual === texts ? [] : usual
    const all = await embedder.embed([...texts, ...more], { priority: 'bulk', ...(signal && { signal }) })
    const vectors = all.slice(0, texts.length)
    const others = more.length > 0 ? all.slice(texts.length) : vectors
    const likenesses = others.slice(1).map((vector, index) => dot(vector, others[index]!))
    const middle = likenesses.toSorted((a, b) => a - b)[Math.floor(likenesses.length / 2)] ?? 0
    return { vectors, same: Math.max(SAME_MEANING, middle + (1 - middle) * 0.6) }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof Failure) return undefined
    throw error
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += a[index]! * b[index]!
  return sum
}
