import type { Kysely } from 'kysely'
import { WORD_COLUMNS, type WordQuery } from '../../db/full-text.ts'
import type { Schema } from '../../db/schema.ts'
import { fullText } from './indexes.ts'
import { findPassages, passagesIn, rangesOf, sourcesOf, type Passage } from './passage-store.ts'
import type { Query, Term } from './query.ts'
import { scorePassage, type Needle, type PassageScore } from './score-passage.ts'
import { inScope, unitOf, type SearchScope } from './search-scope.ts'
import { asQuery, boundPrefix, Frequencies, librarySize, weighTerm } from './weigh-terms.ts'

export interface WordHit extends PassageScore {
  passage: Passage
}

/** Matches that are looked through for those that fit a filter. */
const FILTERED = 20_000
/** More matches than these are not put in order by the index, which reads each of them (about 0.7 µs). */
const RANKED = 12_000
/** How many candidates are looked at closely. */
const CANDIDATES = 300
/** Candidates that hold some of the words. */
const PARTIAL = 200
/** Words that are looked up when few passages hold all of them. */
const MOST_PARTS = 64
/** Fewer passages that hold every word than these, and those that hold some are looked at too. */
const ENOUGH = 20
/** As many sources of a filter are searched one by one, by the ids of their passages. */
const FEW_SOURCES = 100
/** So many passages of a filter's sources are all looked at closely: the index would have to be asked for each source. */
const FEW_PASSAGES = 2_000
/** Words spread over a source: passages with the rarest word that are looked at, and the sources of theirs. */
const SPREAD_PASSAGES = 500
const SPREAD_SOURCES = 100
/** The places of a word that is no more frequent are fetched at once; of others a source is asked alone, if few are left. */
const FETCHED = 2_000
const ASKED_SOURCES = 16
/** What words spread over the passages of one source are worth against words in one passage. */
const SPREAD = 0.9

/**
 * The passages that answer a question by its words, best first: those with every word, and where these are few those with
 * some. Common words are neither needed nor ranked, so that the work is bounded however large the library is.
 */
export async function searchWords(db: Kysely<Schema>, query: Query, scope: SearchScope): Promise<WordHit[]> {
  if (query.terms.length === 0 || scope.columns.length === 0) return []
  const size = await librarySize(db)
  if (size === 0) return []
  const frequencies = new Frequencies(db, scope.columns, size)
  const terms = query.terms.map((term) => boundPrefix(term, size))
  const without = query.without.map((term) => boundPrefix(term, size))
  const needles: Needle[] = []
  for (const term of terms) needles.push(weighTerm(term, await frequencies.of(term), size))
  return new WordSearch(db, { ...query, terms, without }, scope, needles, frequencies).run()
}

class WordSearch {
  readonly #db: Kysely<Schema>
  readonly #query: Query
  readonly #scope: SearchScope
  readonly #needles: readonly Needle[]
  readonly #required: readonly Term[]
  readonly #frequencies: Frequencies
  readonly #candidates = new Set<number>()

  constructor(
    db: Kysely<Schema>,
    query: Query,
    scope: SearchScope,
    needles: readonly Needle[],
    frequencies: Frequencies,
  ) {
    this.#db = db
    this.#query = query
    this.#scope = scope
    this.#needles = needles
    this.#frequencies = frequencies
    const required = query.terms.filter((_, i) => !needles[i]!.optional)
    this.#required = required.length > 0 ? required : query.terms
  }

  async run(): Promise<WordHit[]> {
    const few = await this.#fewPassages()
    if (few) return this.#score(few)
    await this.#gatherAll()
    if (this.#candidates.size < ENOUGH) {
      if (this.#scope.unit === 'source') await this.#gatherSpread()
      await this.#gatherSome()
    }
    return this.#score(await findPassages(this.#db, [...this.#candidates]))
  }

  /** All that is in scope, where highlights are looked for and a filter leaves few. */
  async #fewPassages(): Promise<Passage[] | undefined> {
    const { sources, unit, columns } = this.#scope
    if (unit === 'source' || !sources || sources.size > FEW_SOURCES) return undefined
    return passagesIn(this.#db, { sources: [...sources], columns, most: FEW_PASSAGES })
  }

  /** Passages with every word that is needed. */
  async #gatherAll(): Promise<void> {
    const every: WordQuery = { all: this.#required.map(asQuery) }
    const least = Math.min(...this.#required.map((term) => this.#frequency(term)))
    if (least === 0) return
    if (least <= RANKED) {
      await this.#gather(every, 'rank', CANDIDATES)
      if (this.#candidates.size < CANDIDATES) return
    } else {
      const plain = this.#required.filter(({ prefix }) => !prefix)
      const near: WordQuery = { near: plain.map(({ words }) => words), words: 2 * plain.length }
      if (plain.length > 1 && plain.length === this.#required.length) await this.#gather(near, 'newest', 100)
      await this.#gather(every, 'newest', CANDIDATES)
    }
    // There are more than were taken: titles, and the words as they were written, must be among them.
    await this.#gather({ match: every, in: ['head'] }, 'newest', 100)
    const sequence = this.#query.terms.flatMap(({ words }) => words)
    if (sequence.length > 1) {
      await this.#gather({ phrase: sequence, prefix: this.#query.terms.at(-1)!.prefix }, 'newest', 50)
    }
  }

  /** Passages of sources that hold every needed word, but not in one place: one passage a word. */
  async #gatherSpread(): Promise<void> {
    const [rarest, ...others] = this.#required.toSorted((a, b) => this.#frequency(a) - this.#frequency(b))
    if (!rarest || others.length === 0 || this.#frequency(rarest) === 0) return
    const ids = await this.#find(asQuery(rarest), 'newest', SPREAD_PASSAGES)
    const sourceOf = await sourcesOf(this.#db, ids)
    const sources = [...new Set(sourceOf.map(({ source_id }) => source_id))].slice(0, SPREAD_SOURCES)
    let places = (await rangesOf(this.#db, sources)).map((range) => ({
      ...range,
      ids: sourceOf
        .filter(({ source_id }) => source_id === range.source_id)
        .map(({ id }) => id)
        .slice(0, 1),
    }))
    for (const term of others) {
      if (places.length === 0) return
      const asked = this.#restrict(asQuery(term))
      const seldom = this.#frequency(term) <= FETCHED
      const all = seldom
        ? (await fullText(this.#db).match(this.#db, asked, { order: 'newest', limit: FETCHED })).toReversed()
        : []
      const left: typeof places = []
      for (const place of seldom ? places : places.slice(0, ASKED_SOURCES)) {
        const between = [place.first, place.last] as const
        const [id] = seldom
          ? [firstWithin(all, between)]
          : await fullText(this.#db).match(this.#db, asked, { order: 'newest', limit: 1, between })
        if (id !== undefined) left.push({ ...place, ids: [...place.ids, id] })
      }
      places = left
    }
    for (const id of places.flatMap((place) => place.ids)) this.#candidates.add(id)
  }

  /** Passages with some of the words: the rarest ones, as many as can be ranked in no time. */
  async #gatherSome(): Promise<void> {
    const demanded = this.#required.filter(({ quoted }) => quoted)
    if (demanded.length > 0) {
      await this.#gather({ all: demanded.map(asQuery) }, 'newest', CANDIDATES)
      return
    }
    const parts = this.#required.flatMap((term) =>
      term.words.length === 1
        ? [term]
        : term.words.map((word) => ({ words: [word], prefix: false, quoted: false })),
    )
    const loose: { term: Term; frequency: number }[] = []
    for (const term of parts.slice(0, MOST_PARTS)) {
      const frequency = await this.#frequencies.of(term)
      if (frequency > 0) loose.push({ term, frequency })
    }
    let work = 0
    const rare = loose
      .toSorted((a, b) => a.frequency - b.frequency)
      .filter(({ frequency }) => (work += frequency) <= RANKED)
      .map(({ term }) => asQuery(term))
    if (rare.length > 0) await this.#gather({ any: rare }, 'rank', PARTIAL)
  }

  /** Of a term of the question, which has been counted. */
  #frequency(term: Term): number {
    return this.#frequencies.known(term)
  }

  async #gather(query: WordQuery, order: 'rank' | 'newest', limit: number): Promise<void> {
    for (const id of await this.#find(query, order, limit)) this.#candidates.add(id)
  }

  async #find(query: WordQuery, order: 'rank' | 'newest', limit: number): Promise<number[]> {
    const match = this.#restrict(query)
    const { sources, owners, excluded, unit } = this.#scope
    if (!sources && !owners && excluded.size === 0)
      return fullText(this.#db).match(this.#db, match, { order, limit })
    const found: number[] = []
    // Texts are put in as a whole; highlights of many sources lie among each other.
    if (sources && sources.size <= FEW_SOURCES && unit === 'source') {
      for (const { first, last } of await rangesOf(this.#db, [...sources])) {
        found.push(
          ...(await fullText(this.#db).match(this.#db, match, {
            order: 'newest',
            limit,
            between: [first, last],
          })),
        )
      }
      return found.slice(0, 4 * limit)
    }
    const ids = await fullText(this.#db).match(this.#db, match, { order, limit: FILTERED })
    for (let from = 0; from < ids.length && found.length < limit; from += 500) {
      const some = ids.slice(from, from + 500)
      const held = new Map((await sourcesOf(this.#db, some)).map((passage) => [passage.id, passage]))
      found.push(
        ...some.filter((id) => {
          const passage = held.get(id)
          return passage !== undefined && inScope(this.#scope, passage)
        }),
      )
    }
    return found.slice(0, limit)
  }

  #restrict(query: WordQuery): WordQuery {
    const { columns } = this.#scope
    const { without } = this.#query
    const inside = columns.length < WORD_COLUMNS.length ? { match: query, in: columns } : query
    return without.length > 0 ? { match: inside, without: { any: without.map(asQuery) } } : inside
  }

  #score(passages: readonly Passage[]): WordHit[] {
    const allowed = passages.filter(
      (passage) => this.#scope.columns.includes(passage.kind) && inScope(this.#scope, passage),
    )
    const scored = allowed.map((passage) => ({ passage, ...scorePassage(this.#needles, passage) }))
    const quoted = this.#needles.flatMap((needle, i) => (needle.quoted ? [i] : []))
    return this.#countSpread(scored)
      .filter(({ found, coverage }) => coverage > 0 && quoted.every((i) => found.includes(i)))
      .toSorted((a, b) => b.score - a.score || b.passage.id - a.passage.id)
  }

  /** Lets a passage count for what the other passages of its source or highlight add. */
  #countSpread(hits: WordHit[]): WordHit[] {
    const byUnit = new Map<number, Set<number>>()
    for (const { passage, found } of hits) {
      const unit = unitOf(this.#scope, passage)
      const union = byUnit.get(unit) ?? new Set()
      for (const i of found) union.add(i)
      byUnit.set(unit, union)
    }
    const counted = this.#needles.every(({ optional }) => optional)
      ? this.#needles
      : this.#needles.filter(({ optional }) => !optional)
    const wanted = counted.reduce((sum, { weight }) => sum + weight, 0)
    return hits.map((hit) => {
      const union = byUnit.get(unitOf(this.#scope, hit.passage))!
      if (union.size === hit.found.length || wanted === 0) return hit
      const held = counted.reduce(
        (sum, needle) => sum + (union.has(this.#needles.indexOf(needle)) ? needle.weight : 0),
        0,
      )
      const coverage = Math.max(hit.coverage, (SPREAD * held) / wanted)
      const score = hit.score + 0.5 * (coverage ** 2 - hit.coverage ** 2)
      return { ...hit, coverage, score, found: [...union] }
    })
  }
}

/** The first of the sorted ids that lies between two. */
function firstWithin(ids: readonly number[], [first, last]: readonly [number, number]): number | undefined {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ids[middle]! < first) low = middle + 1
    else high = middle
  }
  const id = ids[low]
  return id !== undefined && id <= last ? id : undefined
}
