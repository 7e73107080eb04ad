import type { Library } from '../../core/library.ts'
import type { Source } from '../sources/source-store.ts'
import { placeNameAt, readPlaces, type Place } from '../texts/places.ts'
import { findPassages, listed, type Passage } from './passage-store.ts'
import type { Query } from './query.ts'
import type { Hit } from './search.ts'
import { cutSnippet, type Snippet } from './snippet.ts'

export interface DescribedHit extends Hit {
  source: Pick<Source, 'id' | 'title' | 'kind' | 'authors' | 'url' | 'created_at' | 'published'>
  snippet: Snippet
  highlightId: number | undefined
  /** The page, chapter or moment of a text where the snippet's words stand. */
  place?: { name: string; seconds?: number }
}

/** Hits as a list shows them, in their order; those whose source has gone meanwhile drop out. */
export async function describeHits(
  { db }: Library,
  hits: readonly Hit[],
  query: Query,
): Promise<DescribedHit[]> {
  if (hits.length === 0) return []
  const sources = await db
    .selectFrom('source')
    .select(['id', 'title', 'kind', 'authors', 'url', 'created_at', 'published'])
    .where(
      'id',
      'in',
      listed(
        db,
        hits.map(({ sourceId }) => sourceId),
      ),
    )
    .where('trashed_at', 'is', null)
    .execute()
  const sourceOf = new Map(sources.map((source) => [source.id, source]))
  const ids = hits.flatMap(({ passageId }) => passageId ?? [])
  const passageOf = new Map((await findPassages(db, ids)).map((passage) => [passage.id, passage]))
  const placesOf = await placesOfTexts(db, [...passageOf.values()])
  const described: DescribedHit[] = []
  for (const hit of hits) {
    const source = sourceOf.get(hit.sourceId)
    if (!source) continue
    const passage = hit.passageId === undefined ? undefined : passageOf.get(hit.passageId)
    // A title stands above its snippet already: its text says more.
    const shown = passage && passage.kind !== 'head' ? passage : await firstText(db, source.id)
    const snippet = shown ? cutSnippet(shown.body, query.terms) : { text: '', marks: [], start: 0 }
    const places = passage?.kind === 'text' ? placesOf.get(passage.owner_id) : undefined
    const place = places && passage && placeNameAt(places, passage.start_offset + snippet.start)
    described.push({
      ...hit,
      source,
      snippet,
      ...(place && { place }),
      highlightId: passage?.kind === 'highlight' ? passage.owner_id : undefined,
    })
  }
  return described
}

async function placesOfTexts(db: Library['db'], passages: readonly Passage[]): Promise<Map<number, Place[]>> {
  const ids = passages.flatMap(({ kind, owner_id }) => (kind === 'text' ? [owner_id] : []))
  if (ids.length === 0) return new Map()
  const texts = await db
    .selectFrom('text')
    .select(['id', 'places'])
    .where('id', 'in', listed(db, ids))
    .where('places', 'is not', null)
    .execute()
  return new Map(texts.map(({ id, places }) => [id, readPlaces(places)]))
}

function firstText(db: Library['db'], sourceId: number): Promise<Pick<Passage, 'body'> | undefined> {
  return db
    .selectFrom('passage')
    .select('body')
    .where('source_id', '=', sourceId)
    .where('kind', '=', 'text')
    .orderBy('start_offset')
    .limit(1)
    .executeTakeFirst()
}
