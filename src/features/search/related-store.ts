import type { Db } from '../../db/schema.ts'
import { listed, type Passage } from './passage-store.ts'

/** A passage that something is compared by, with its vector where there is one of the model. */
export interface Seed {
  body: string
  quantised: Uint8Array | null
}

/** Passages of a highlight. */
export const passagesOfHighlight = async (db: Db, id: number): Promise<number[]> => {
  const rows = await db
    .selectFrom('passage')
    .innerJoin('highlight', 'highlight.source_id', 'passage.source_id')
    .select('passage.id')
    .where('highlight.id', '=', id)
    .where('passage.kind', '=', 'highlight')
    .where('passage.owner_id', '=', id)
    .orderBy('passage.id')
    .execute()
  return rows.map((row) => row.id)
}

/** Passages of one kind in a source, in their order. */
export async function passagesInSource(db: Db, sourceId: number, kind: Passage['kind']): Promise<number[]> {
  const rows = await db
    .selectFrom('passage')
    .select('id')
    .where('source_id', '=', sourceId)
    .where('kind', '=', kind)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The words of passages and their vectors of a model. */
export const readSeeds = (db: Db, ids: readonly number[], model: string): Promise<Seed[]> =>
  db
    .selectFrom('passage')
    .leftJoin('code', (on) => on.onRef('code.passage_id', '=', 'passage.id').on('code.model', '=', model))
    .leftJoin('vector', 'vector.passage_id', 'code.passage_id')
    .select(['passage.body', 'vector.quantised'])
    .where('passage.id', 'in', listed(db, ids))
    .orderBy('passage.id')
    .execute()

/** Every highlight of a source. */
export async function highlightsInSource(db: Db, sourceId: number): Promise<number[]> {
  const rows = await db.selectFrom('highlight').select('id').where('source_id', '=', sourceId).execute()
  return rows.map(({ id }) => id)
}
