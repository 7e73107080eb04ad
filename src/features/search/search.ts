import type { Scope } from '../../core/define-tool.ts'
import type { Library } from '../../core/library.ts'
import { WORD_COLUMNS, type WordColumn } from '../../db/full-text.ts'
import { Failure } from '../../core/failure.ts'
import { filterSources } from './filter-sources.ts'
import { fuseRanks } from './fuse.ts'
import { fullText, vectors } from './indexes.ts'
import { isBlank, parseQuery, type Query } from './query.ts'
import { isReadable } from './readable.ts'
import { searchMeaning, type MeaningHit } from './search-meaning.ts'
import { sourcesOf } from './passage-store.ts'
import { searchWords, type WordHit } from './search-words.ts'
import type { SearchScope } from './search-scope.ts'
import { asQuery } from './weigh-terms.ts'

export const SEARCH_MODES = ['hybrid', 'words', 'meaning'] as const
export type SearchMode = (typeof SEARCH_MODES)[number]

export interface SearchRequest {
  query: string
  /** `hybrid` unless said. */
  mode?: SearchMode | undefined
  /** What the caller may see: highlights and notes are searched only with the right to read them. */
  scopes: ReadonlySet<Scope>
  /** Only passages of these kinds. */
  columns?: readonly WordColumn[]
  signal?: AbortSignal
  /** How long the vector of the question may take, in milliseconds, before the search goes by words. */
  meaningWithinMs?: number
}

/** One passage, or one source with its best passage. */
export interface Hit {
  sourceId: number
  /** Undefined for a source that only a filter found. */
  passageId: number | undefined
  /** Comparable within one search. */
  score: number
  matched: 'words' | 'meaning' | 'both'
}

export interface SearchAnswer {
  /** Best first, each key once, at most 1,000. */
  hits: Hit[]
  query: Query
  /** How it was searched in the end. */
  mode: SearchMode
  /** Why it was not searched as asked. */
  note?: string
  /** There may be more than were ranked. */
  truncated: boolean
}

/** Longest list that is ranked and paged through. */
export const MOST_HITS = 1_000
/** Loading the built-in model takes up to two seconds where the native runtime is missing. */
const MEANING_WITHIN_MS = 4_000
const EXCLUDED = 20_000
/** A question of no more words than these asks for them. */
const KEYWORDS = 3
const MUCH_ALIKE = 0.5
/** A hit by words shows its own passage where it holds this share of the question, else the one nearest in meaning. */
const SPEAKS_FOR_ITSELF = 0.6

/** Ranks sources, each by its best passage. */
export async function searchItems(library: Library, request: SearchRequest): Promise<SearchAnswer> {
  const query = parseQuery(request.query)
  const asked = request.mode ?? 'hybrid'
  const nothing: SearchAnswer = { hits: [], query, mode: asked, truncated: false }
  if (isBlank(query)) return nothing
  const columns = columnsOf(query, request)
  const rights = {
    highlights: request.scopes.has('highlights:read'),
    notes: request.scopes.has('notes:read'),
  }
  const listed = await filterSources(library, query.filter, rights)
  const scope: SearchScope = {
    columns,
    sources: listed && new Set(listed),
    excluded: await sourcesWithout(library, query, columns),
  }
  if (query.terms.length === 0) {
    const hits = (listed ?? []).filter((id) => !scope.excluded.has(id)).map(listedHit)
    return { ...nothing, mode: 'words', hits: hits.slice(0, MOST_HITS), truncated: hits.length > MOST_HITS }
  }
  // The question is read by the model, in its own thread, while its words are looked up.
  const meaningSoon = asked === 'words' ? undefined : meaningOf(library, query, scope, request)
  const byWords = asked === 'meaning' ? [] : await searchWords(library.db, query, scope)
  const meaning = await meaningSoon
  request.signal?.throwIfAborted()
  const quoted = query.terms.some((term) => term.quoted)
  const instead = asked === 'meaning' && (quoted || !meaning?.hits)
  const words = instead ? await searchWords(library.db, query, scope) : byWords
  const near = worthShowing(meaning?.hits ?? [], words, query)
  const hits = joinHits(asked === 'meaning' && meaning?.hits ? [] : words, near)
  return { ...finish(hits), query, mode: meaning?.hits ? asked : 'words', ...noteOf(meaning) }
}

const listedHit = (sourceId: number): Hit => ({ sourceId, passageId: undefined, score: 0, matched: 'words' })

/**
 * Hits by meaning without those that a reader would wonder at: what is quoted must stand in their source, and beside
 * passages that hold all of a few keywords they have to be much alike.
 */
function worthShowing(
  near: readonly MeaningHit[],
  words: readonly WordHit[],
  { terms }: Query,
): readonly MeaningHit[] {
  const sources = new Set(words.map(({ passage }) => passage.source_id))
  if (terms.some(({ quoted }) => quoted)) return near.filter(({ passage }) => sources.has(passage.source_id))
  const answered = terms.length <= KEYWORDS && words.some(({ coverage }) => coverage > 0.999)
  if (!answered) return near
  return near.filter(({ passage, similarity }) => similarity >= MUCH_ALIKE || sources.has(passage.source_id))
}

const finish = (hits: Hit[]): Pick<SearchAnswer, 'hits' | 'truncated'> => ({
  hits: hits.slice(0, MOST_HITS),
  truncated: hits.length > MOST_HITS,
})

const noteOf = (meaning: MeaningAnswer | undefined): { note?: string } =>
  meaning?.note === undefined ? {} : { note: meaning.note }

/** Passages that the caller may see and that the question names. */
function columnsOf({ filter }: Query, { scopes, columns = WORD_COLUMNS }: SearchRequest): WordColumn[] {
  return columns.filter(
    (column) =>
      (filter.columns.length === 0 || filter.columns.includes(column)) &&
      !filter.notColumns.includes(column) &&
      (column !== 'highlight' || scopes.has('highlights:read')) &&
      (column !== 'note' || scopes.has('notes:read')),
  )
}

/** Sources in which an unwanted word stands anywhere that is searched. */
async function sourcesWithout(
  { db }: Library,
  { without }: Query,
  columns: readonly WordColumn[],
): Promise<Set<number>> {
  if (without.length === 0) return new Set()
  const ids = await fullText(db).match(
    db,
    { match: { any: without.map(asQuery) }, in: columns },
    { order: 'newest', limit: EXCLUDED },
  )
  return new Set((await sourcesOf(db, ids)).map(({ source_id }) => source_id))
}

interface MeaningAnswer {
  hits?: MeaningHit[]
  note?: string
}

/** Hits by meaning, or why there are none; never throws. */
async function meaningOf(
  library: Library,
  query: Query,
  scope: SearchScope,
  { signal, meaningWithinMs = MEANING_WITHIN_MS }: SearchRequest,
): Promise<MeaningAnswer> {
  const { embedder } = library.outside
  if (!embedder) return { note: 'Searched by words: no embedding model is set up.' }
  if (!isReadable(embedder.id, query.text)) {
    return { note: 'Searched by words: the built-in embedding model reads English only.' }
  }
  const limit = AbortSignal.timeout(meaningWithinMs)
  const either = signal ? AbortSignal.any([signal, limit]) : limit
  try {
    const embedding = embedder.embed([query.text], { priority: 'query', signal: either })
    // Codes are loaded meanwhile, but for a remote model, which knows its dimensions only after its first answer.
    const codes = async () => {
      if (embedder.dimensions === 0) await embedding
      return vectors(library.db).codesOf(library.db, embedder)
    }
    const [[vector], index] = await within(either, Promise.all([embedding, codes()]))
    if (index.empty) return { note: 'Searched by words: nothing has been embedded yet.' }
    const hits = await searchMeaning(library.db, index, vector!, scope)
    return (await hasWaiting(library))
      ? { hits, note: 'Some passages wait to be embedded and are found by words only.' }
      : { hits }
  } catch (error) {
    if (limit.aborted) return { note: 'Searched by words: search by meaning was not ready in time.' }
    if (error instanceof Failure && error.code === 'unavailable') {
      return { note: `Searched by words: ${error.message}` }
    }
    return { note: 'Searched by words: the question could not be embedded.' }
  }
}

/** The work's result, or the signal's reason as soon as it aborts. */
function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error('aborted', { cause: signal.reason }))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

async function hasWaiting({ db }: Library): Promise<boolean> {
  const row = await db
    .selectFrom('passage')
    .select('id')
    .where('embedded', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

function joinHits(words: readonly WordHit[], meaning: readonly MeaningHit[]): Hit[] {
  const byWords = firstOfEach(words)
  const byMeaning = firstOfEach(meaning)
  const fused = fuseRanks(
    [...byWords].map(([key, { coverage, exact, title }]) => ({ key, coverage, leads: exact || title })),
    [...byMeaning.keys()],
  )
  return fused.map(({ key, score, matched }) => {
    const word = byWords.get(key)
    const near = byMeaning.get(key)
    const best = word && (!near || word.coverage >= SPEAKS_FOR_ITSELF) ? word : near
    const passage = best?.passage
    return { sourceId: passage?.source_id ?? key, passageId: passage?.id, score, matched }
  })
}

/** The best hit of each source, in the order of the hits. */
function firstOfEach<H extends { passage: MeaningHit['passage'] }>(hits: readonly H[]): Map<number, H> {
  const first = new Map<number, H>()
  for (const hit of hits) {
    const key = hit.passage.source_id
    if (!first.has(key)) first.set(key, hit)
  }
  return first
}
