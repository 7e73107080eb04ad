import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import type { CodeIndex } from './hamming-scan.ts'
import { listed, type Passage } from './passage-store.ts'
import { dotQuantised, signCode } from './quantise.ts'
import { inScope, type SearchScope } from './search-scope.ts'

export interface MeaningHit {
  passage: Pick<Passage, 'id' | 'source_id' | 'kind'>
  /** Cosine of the question's vector and the passage's. */
  similarity: number
}

/** Codes are coarse: of so many nearest ones the true nearest are found among them (recall@10 .95 and more). */
const CANDIDATES = 400
/** At most so many are looked at where a filter lets few pass. */
const MOST_CANDIDATES = 25_600
/** Where a filter leaves so many passages at the most, their ids are handed to the scan. */
const FEW_PASSAGES = 20_000
/** Less alike than this is chance: of 30 paraphrases the built-in model put the farthest at .36, and any two texts at .15. */
const LEAST_SIMILAR = 0.3

/** The passages nearest to a vector in meaning, nearest first. Passages that are gone drop out of `index`. */
export async function searchMeaning(
  db: Kysely<Schema>,
  index: CodeIndex,
  vector: Float32Array,
  scope: SearchScope,
): Promise<MeaningHit[]> {
  const code = signCode(vector)
  const accept = await acceptor(db, scope)
  for (let count = CANDIDATES; ; count *= 4) {
    const ids = index.search(code, count, accept).map(({ id }) => id)
    const rows = await readVectors(db, ids)
    const there = new Set(rows.map(({ id }) => id))
    for (const id of ids) if (!there.has(id)) index.remove(id)
    const hits = rows
      .filter(({ source_id, kind }) => scope.columns.includes(kind) && inScope(scope, source_id))
      .filter(({ quantised }) => quantised.length === vector.length + 4)
      .map(({ quantised, ...passage }) => ({ passage, similarity: dotQuantised(vector, quantised) }))
    const exhausted = ids.length < count || count >= MOST_CANDIDATES
    if (exhausted || hits.length >= CANDIDATES / 4) {
      return hits
        .filter(({ similarity }) => similarity >= LEAST_SIMILAR)
        .toSorted((a, b) => b.similarity - a.similarity || a.passage.id - b.passage.id)
    }
  }
}

/** Says of an id whether it is in scope, where that is few enough to know beforehand. */
async function acceptor(
  db: Kysely<Schema>,
  { sources }: SearchScope,
): Promise<((id: number) => boolean) | undefined> {
  if (!sources || sources.size > FEW_PASSAGES) return undefined
  const rows = await db
    .selectFrom('passage')
    .select('id')
    .where('source_id', 'in', listed([...sources]))
    .limit(FEW_PASSAGES + 1)
    .execute()
  if (rows.length > FEW_PASSAGES) return undefined
  const ids = new Set(rows.map(({ id }) => id))
  return (id) => ids.has(id)
}

type VectorOfPassage = MeaningHit['passage'] & { quantised: Uint8Array }

const readVectors = (db: Kysely<Schema>, ids: readonly number[]): Promise<VectorOfPassage[]> =>
  db
    .selectFrom('vector')
    .innerJoin('passage', 'passage.id', 'vector.passage_id')
    .select(['passage.id', 'passage.source_id', 'passage.kind', 'vector.quantised'])
    .where('vector.passage_id', 'in', listed(ids))
    .execute()
