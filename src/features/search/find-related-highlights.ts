import type { Library } from '../../core/library.ts'
import { vectors } from './indexes.ts'
import { parseQuery, type Query } from './query.ts'
import { restoreVector } from './quantise.ts'
import {
  highlightsInSource,
  passagesInSource,
  passagesOfHighlight,
  readSeeds,
  type Seed,
} from './related-store.ts'
import { searchMeaning } from './search-meaning.ts'
import { searchWords } from './search-words.ts'
import type { SearchScope } from './search-scope.ts'
import { boundPrefix, Frequencies, librarySize, weighTerm } from './weigh-terms.ts'

/** What related highlights are looked for of. */
export interface RelatedTo {
  sourceId: number
  /** Without it, of the source as a whole. */
  highlightId?: number
  /** Whether other highlights of the source count as well. */
  ownSource: boolean
}

export interface Related {
  /** Nearest first, each highlight once. Scores of one answer are comparable. */
  hits: { highlightId: number; score: number }[]
  mode: 'semantic' | 'fulltext'
  /** Why it went by words, or is not complete. */
  note?: string
}

/** A source is compared by so many of its passages, spread over it. */
const SEEDS = 8
/** The rarest words of a passage that it is compared by where it has no vector. */
const RAREST = 8

/**
 * The highlights that are nearest in meaning to a highlight or a source. Only vectors that lie in the library are compared,
 * nothing is asked of a model; what has none yet is compared by its rarest words.
 */
export async function findRelatedHighlights(library: Library, to: RelatedTo): Promise<Related> {
  const { db } = library
  const { embedder } = library.outside
  const ids = await seedPassages(library, to)
  if (ids.length === 0) return { hits: [], mode: 'semantic', note: 'There are no words to compare it by.' }
  const seeds = await readSeeds(db, ids, embedder?.id ?? '')
  const excluded = to.ownSource ? [] : await highlightsInSource(db, to.sourceId)
  const scope: SearchScope = {
    columns: ['highlight'],
    unit: 'highlight',
    sources: undefined,
    excluded: new Set(to.highlightId === undefined ? excluded : [to.highlightId, ...excluded]),
  }
  const read = seeds.flatMap(({ quantised }) => (quantised?.length ? [restoreVector(quantised)] : []))
  if (embedder && read.length > 0) {
    const { length } = read[0]!
    const same = read.filter((vector) => vector.length === length)
    const codes = await vectors(db).codesOf(db, { id: embedder.id, dimensions: length })
    const hits = await searchMeaning(db, codes, same, scope)
    return { hits: firstOfEach(hits.map((hit) => ({ ...hit, score: hit.similarity }))), mode: 'semantic' }
  }
  const hits = await searchWords(db, await rarestWords(library, seeds), scope)
  const note = embedder
    ? 'Compared by words: it is not embedded yet, or the model cannot read it.'
    : 'Compared by words: no embedding model is set up.'
  return { hits: firstOfEach(hits), mode: 'fulltext', note }
}

/** The passages to compare by: the highlight's own; a source's highlights, or else its text, or its title. */
async function seedPassages({ db }: Library, { sourceId, highlightId }: RelatedTo): Promise<number[]> {
  if (highlightId !== undefined) return (await passagesOfHighlight(db, highlightId)).slice(0, SEEDS)
  for (const kind of ['highlight', 'text', 'head'] as const) {
    const ids = await passagesInSource(db, sourceId, kind)
    if (ids.length > 0) return spread(ids, SEEDS)
  }
  return []
}

/** So many of a list, at even distances. */
const spread = <T>(list: readonly T[], most: number): T[] =>
  list.length <= most
    ? [...list]
    : Array.from({ length: most }, (_, i) => list[Math.floor(((i + 0.5) * list.length) / most)]!)

async function rarestWords({ db }: Library, seeds: readonly Seed[]): Promise<Query> {
  // Letters and digits alone: nothing in a passage is an operator.
  const words = seeds.flatMap(({ body }) => body.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
  const query = parseQuery(words.join(' '))
  const size = await librarySize(db)
  const frequencies = new Frequencies(db, ['highlight'], size)
  const weighed: { term: Query['terms'][number]; frequency: number }[] = []
  for (const term of query.terms) {
    const frequency = await frequencies.of(boundPrefix(term, size))
    // What stands here alone finds nothing.
    if (frequency > 1 && !weighTerm(term, frequency, size).optional) weighed.push({ term, frequency })
  }
  const rarest = weighed.toSorted((a, b) => a.frequency - b.frequency).slice(0, RAREST)
  return { ...query, terms: rarest.map(({ term }) => term) }
}

/** A highlight of many words has several passages. */
function firstOfEach(hits: readonly { passage: { owner_id: number }; score: number }[]): Related['hits'] {
  const first = new Map<number, number>()
  for (const { passage, score } of hits) if (!first.has(passage.owner_id)) first.set(passage.owner_id, score)
  return [...first].map(([highlightId, score]) => ({ highlightId, score }))
}
