import type { Scope } from '../../core/define-tool.ts'
import type { Library } from '../../core/library.ts'
import { WORD_COLUMNS, type WordColumn } from '../../db/full-text.ts'
import type { Db } from '../../db/schema.ts'
import { Failure } from '../../core/failure.ts'
import { bearersOf, newestHighlights } from './filter-highlights-store.ts'
import { sourcesInReach } from './filter-sources.ts'
import { fuseRanks } from './fuse.ts'
import { fullText, vectors } from './indexes.ts'
import { isBlank, parseQuery, type Query } from './query.ts'
import { isReadable } from './readable.ts'
import { searchMeaning, type MeaningHit } from './search-meaning.ts'
import { highlightsOfNotes, sourcesOf } from './passage-store.ts'
import { searchWords, type WordHit } from './search-words.ts'
import { unitOf, type SearchScope } from './search-scope.ts'
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
  /** Only what is of this source. */
  sourceId?: number | undefined
  signal?: AbortSignal
  /** How long the vector of the question may take, in milliseconds, before the search goes by words. */
  meaningWithinMs?: number
}

/** One source or one highlight, with its best passage. */
export interface Hit {
  sourceId: number
  /** Where highlights were looked for. */
  highlightId?: number | undefined
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
export const searchItems = (library: Library, request: SearchRequest): Promise<SearchAnswer> =>
  search(library, request, 'source')

/** Ranks highlights, each by its words or those of a note on it, whichever are nearer. */
export const searchHighlights = (library: Library, request: SearchRequest): Promise<SearchAnswer> =>
  search(library, { ...request, columns: ['highlight', 'note'] }, 'highlight')

async function search(
  library: Library,
  request: SearchRequest,
  unit: SearchScope['unit'],
): Promise<SearchAnswer> {
  const query = parseQuery(request.query)
  const asked = request.mode ?? 'hybrid'
  const nothing: SearchAnswer = { hits: [], query, mode: asked, truncated: false }
  if (isBlank(query)) return nothing
  const columns = columnsOf(query, request)
  const rights = {
    highlights: request.scopes.has('highlights:read'),
    notes: request.scopes.has('notes:read'),
  }
  const listed = await sourcesInReach(library, query.filter, rights, request.sourceId, unit)
  const scope: SearchScope = {
    columns,
    unit,
    sources: listed && new Set(listed),
    ...(unit === 'highlight' && { owners: await bearersOf(library.db, query.filter, columns) }),
    excluded: await unitsWithout(library, query, columns, unit),
  }
  if (query.terms.length === 0) {
    const hits =
      unit === 'source'
        ? (listed ?? []).filter((id) => !scope.excluded.has(id)).map(listedHit)
        : await newestHighlights(library.db, scope, MOST_HITS + 1)
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
  const near = worthShowing(meaning?.hits ?? [], words, query, unit)
  const joined = [asked === 'meaning' && meaning?.hits ? [] : words, near] as const
  const hits = joinHits(...joined, await keysFor(library.db, scope, joined))
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
  unit: SearchScope['unit'],
): readonly MeaningHit[] {
  const found = new Set(words.map(({ passage }) => unitOf({ unit }, passage)))
  const isFound = ({ passage }: MeaningHit) => found.has(unitOf({ unit }, passage))
  if (terms.some(({ quoted }) => quoted)) return near.filter(isFound)
  const answered = terms.length <= KEYWORDS && words.some(({ coverage }) => coverage > 0.999)
  if (!answered) return near
  return near.filter((hit) => hit.similarity >= MUCH_ALIKE || isFound(hit))
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

/** Sources, or highlights and notes, in which an unwanted word stands anywhere that is searched. */
async function unitsWithout(
  { db }: Library,
  { without }: Query,
  columns: readonly WordColumn[],
  unit: SearchScope['unit'],
): Promise<Set<number>> {
  if (without.length === 0) return new Set()
  const ids = await fullText(db).match(
    db,
    { match: { any: without.map(asQuery) }, in: columns },
    { order: 'newest', limit: EXCLUDED },
  )
  return new Set((await sourcesOf(db, ids)).map((passage) => unitOf({ unit }, passage)))
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

/** What a passage is a hit of; undefined for what is no hit. */
type KeyOf = (passage: MeaningHit['passage']) => number | undefined

/** A note is a hit of its highlight. */
async function keysFor(
  db: Db,
  scope: SearchScope,
  hits: readonly (readonly { passage: MeaningHit['passage'] }[])[],
): Promise<KeyOf> {
  if (scope.unit === 'source') return ({ source_id }) => source_id
  const notes = hits.flat().flatMap(({ passage }) => (passage.kind === 'note' ? [passage.owner_id] : []))
  const noted = await highlightsOfNotes(db, [...new Set(notes)])
  return ({ kind, owner_id }) => {
    const key = kind === 'note' ? noted.get(owner_id) : owner_id
    return key === undefined || scope.excluded.has(key) ? undefined : key
  }
}

function joinHits(words: readonly WordHit[], meaning: readonly MeaningHit[], keyOf: KeyOf): Hit[] {
  const byWords = firstOfEach(words, keyOf)
  const byMeaning = firstOfEach(meaning, keyOf)
  const fused = fuseRanks(
    [...byWords].map(([key, { coverage, exact, title }]) => ({ key, coverage, leads: exact || title })),
    [...byMeaning.keys()],
  )
  return fused.map(({ key, score, matched }) => {
    const word = byWords.get(key)
    const near = byMeaning.get(key)
    const best = word && (!near || word.coverage >= SPEAKS_FOR_ITSELF) ? word : near
    const passage = best?.passage
    const sourceId = passage?.source_id ?? key
    return {
      sourceId,
      ...(sourceId !== key && { highlightId: key }),
      passageId: passage?.id,
      score,
      matched,
    }
  })
}

/** The best hit of each key, in the order of the hits. */
function firstOfEach<H extends { passage: MeaningHit['passage'] }>(
  hits: readonly H[],
  keyOf: KeyOf,
): Map<number, H> {
  const first = new Map<number, H>()
  for (const hit of hits) {
    const key = keyOf(hit.passage)
    if (key !== undefined && !first.has(key)) first.set(key, hit)
  }
  return first
}
