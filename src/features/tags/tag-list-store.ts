import { sql } from 'kysely'
import type { Db } from '../../db/schema.ts'

export interface ListedTag {
  id: number
  name: string
  name_key: string
  sources: number
  highlights: number
}

/** What the caller may know of: tags that only highlights bear are theirs to see who may see highlights. */
export interface TagRights {
  highlights: boolean
}

/** Tags with how many sources and highlights bear each, the trash not counted; those that nothing bears are left out. */
function borne(db: Db, { highlights }: TagRights) {
  const marks = sql<number>`count(highlight.id)`
  return db
    .selectFrom('tag')
    .innerJoin('tagging', 'tagging.tag_id', 'tag.id')
    .leftJoin('source', (join) =>
      join.onRef('source.id', '=', 'tagging.target_id').on('source.trashed_at', 'is', null),
    )
    .leftJoin('highlight', (join) =>
      join
        .onRef('highlight.id', '=', 'tagging.target_id')
        .on('highlight.trashed_at', 'is', null)
        .on(({ exists, selectFrom }) =>
          exists(
            selectFrom('source as its')
              .select('its.id')
              .whereRef('its.id', '=', 'highlight.source_id')
              .where('its.trashed_at', 'is', null),
          ),
        ),
    )
    .select(({ fn }) => [
      'tag.id',
      'tag.name',
      'tag.name_key',
      fn.count<number>('source.id').as('sources'),
      marks.as('highlights'),
    ])
    .groupBy(['tag.id', 'tag.name', 'tag.name_key'])
    .having(sql<boolean>`count(source.id) ${highlights ? sql`+ count(highlight.id)` : sql``} > 0`)
}

/** By name. */
export async function listTagPage(
  db: Db,
  rights: TagRights,
  { after, limit }: { after?: { key: string; id: number } | undefined; limit: number },
): Promise<ListedTag[]> {
  let query = borne(db, rights)
  if (after) query = query.where(sql<boolean>`(tag.name_key, tag.id) > (${after.key}, ${after.id})`)
  const rows = await query.orderBy('tag.name_key').orderBy('tag.id').limit(limit).execute()
  return rows.map((row) => ({ ...row, sources: Number(row.sources), highlights: Number(row.highlights) }))
}

export async function countTags(db: Db, rights: TagRights): Promise<number> {
  const { count } = await db
    .selectFrom(borne(db, rights).as('borne'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
