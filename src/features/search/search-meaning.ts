import type { Kysely } from 'kysely'
import type { Schema } from '../../db/schema.ts'
import type { Codes } from '../../db/vectors.ts'
import { hasMoreMarked, listed, markedPassages, type Passage } from './passage-store.ts'
import { dotQuantised, signCode } from './quantise.ts'
import { inScope, type SearchScope } from './search-scope.ts'

export interface MeaningHit {
  passage: Pick<Passage, 'id' | 'source_id' | 'owner_id' | 'kind'>
  /** Cosine of the question's vector and the passage's. */
  similarity: number
}

/** Codes are coarse: of so many nearest ones the true nearest are found among them (recall@10 .95 and more). */
const CANDIDATES = 400
/** At most so many are looked at where a filter lets few pass. */
const MOST_CANDIDATES = 25_600
/** Where a filter leaves so many passages at the most, only these are compared. */
const FEW_PASSAGES = 20_000
/** Where a library has so few passages of highlights and notes, a search for highlights looks at no text. */
const FEW_MARKED = 50_000
/** Less alike than this is chance: of 30 paraphrases the built-in model put the farthest at .36, and any two texts at .15. */
const LEAST_SIMILAR = 0.3

/** The passages nearest to a vector in meaning, nearest first; of several vectors to any of them. Their dimensions are the same. */
export async function searchMeaning(
  db: Kysely<Schema>,
  codes: Codes,
  vector: Float32Array | readonly Float32Array[],
  scope: SearchScope,
): Promise<MeaningHit[]> {
  const vectors = vector instanceof Float32Array ? [vector] : vector
  const asked = vectors.map(signCode)
  const among = await passagesInScope(db, scope)
  for (let count = CANDIDATES; ; count *= 4) {
    const found = new Set<number>()
    let exhausted = count >= MOST_CANDIDATES
    for (const code of asked) {
      const nearest = await codes.nearest(code, count, among)
      // There is no more in the index, whichever vector it is asked for.
      exhausted ||= nearest.length < count
      for (const id of nearest) found.add(id)
    }
    const ids = [...found]
    const rows = await readVectors(db, ids)
    const there = new Set(rows.map(({ id }) => id))
    codes.forget(ids.filter((id) => !there.has(id)))
    const hits = rows
      .filter((passage) => scope.columns.includes(passage.kind) && inScope(scope, passage))
      .filter(({ quantised }) => vectors.every(({ length }) => quantised.length === length + 4))
      .map(({ quantised, ...passage }) => ({
        passage,
        similarity: Math.max(...vectors.map((one) => dotQuantised(one, quantised))),
      }))
    if (exhausted || hits.length >= CANDIDATES / 4) {
      return hits
        .filter(({ similarity }) => similarity >= LEAST_SIMILAR)
        .toSorted((a, b) => b.similarity - a.similarity || a.passage.id - b.passage.id)
    }
  }
}

/** The passages in scope, where these are few enough to know beforehand. */
async function passagesInScope(
  db: Kysely<Schema>,
  { sources, unit }: SearchScope,
): Promise<ReadonlySet<number> | undefined> {
  if (!sources && unit === 'highlight' && !(await isMuchMarked(db))) return new Set(await markedPassages(db))
  if (!sources || sources.size > FEW_PASSAGES) return undefined
  const rows = await db
    .selectFrom('passage')
    .select('id')
    .where('source_id', 'in', listed(db, [...sources]))
    .$if(unit === 'highlight', (query) => query.where('kind', 'in', ['highlight', 'note']))
    .limit(FEW_PASSAGES + 1)
    .execute()
  if (rows.length > FEW_PASSAGES) return undefined
  return new Set(rows.map(({ id }) => id))
}

/** Libraries that were seen to have many; one that has lost most of them is searched as before, which is only slower. */
const muchMarked = new WeakSet<Kysely<Schema>>()

async function isMuchMarked(db: Kysely<Schema>): Promise<boolean> {
  if (muchMarked.has(db)) return true
  const many = await hasMoreMarked(db, FEW_MARKED)
  if (many) muchMarked.add(db)
  return many
}

type VectorOfPassage = MeaningHit['passage'] & { quantised: Uint8Array }

const readVectors = (db: Kysely<Schema>, ids: readonly number[]): Promise<VectorOfPassage[]> =>
  db
    .selectFrom('vector')
    .innerJoin('passage', 'passage.id', 'vector.passage_id')
    .select(['passage.id', 'passage.source_id', 'passage.owner_id', 'passage.kind', 'vector.quantised'])
    .where('vector.passage_id', 'in', listed(db, ids))
    .execute()
