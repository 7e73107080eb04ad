import { sql, type Selectable } from 'kysely'
import { Failure } from '../../core/failure.ts'
import { parseId } from '../../core/ids.ts'
import type { Change } from '../../core/library.ts'
import type { Db, SourceTable } from '../../db/schema.ts'
import { urlKey } from './url-key.ts'

export type Source = Selectable<SourceTable>

/** The source that an id stands for, an id that was given up by a merge included. */
export async function findSource(db: Db, id: number): Promise<Source | undefined> {
  const source = await db.selectFrom('source').selectAll().where('id', '=', id).executeTakeFirst()
  if (source) return source
  const alias = await db.selectFrom('alias').select('target_id').where('id', '=', id).executeTakeFirst()
  return alias && findSource(db, alias.target_id)
}

/** The item behind an id as a tool was given it; trashed ones are gone. Throws `item_not_found`. */
export async function findItem(db: Db, given: string): Promise<Source> {
  const id = parseId(given)
  const source = id === undefined ? undefined : await findSource(db, id)
  if (source && source.trashed_at === null) return source
  throw new Failure(
    'item_not_found',
    `There is no item ${JSON.stringify(given.slice(0, 64))} in the library.`,
    {
      hint: source
        ? 'It is in the trash: the reader can take it out with `commonplace restore`.'
        : 'Take an id from list_items or search_library.',
    },
  )
}

/** The source that bears one of these ISBN-13, as the one it goes by or as another of its editions. */
export const findByIsbn = (db: Db, isbns: readonly string[]): Promise<Source | undefined> =>
  db
    .selectFrom('source')
    .selectAll()
    .where((where) =>
      where.or([
        where('isbn13', 'in', isbns),
        // A JSON array of digits: the quotes make sure that a whole one is met.
        ...isbns.map((isbn) => where('isbns', 'like', `%"${isbn}"%`)),
      ]),
    )
    .orderBy('created_at')
    .executeTakeFirst()

/** The source that is known under one of these address keys. */
export const findByUrlKey = (db: Db, keys: readonly string[]): Promise<Source | undefined> =>
  db
    .selectFrom('source_url')
    .innerJoin('source', 'source.id', 'source_url.source_id')
    .selectAll('source')
    .where('source_url.url_key', 'in', keys)
    .orderBy('source.created_at')
    .executeTakeFirst()

/** The sources of one title and first author. */
export const listByMatchKey = (db: Db, key: string): Promise<Source[]> =>
  db.selectFrom('source').selectAll().where('match_key', '=', key).orderBy('created_at').execute()

/** Notes one more address of a source; does nothing where it is known or is no address. */
export async function addSourceUrl(change: Change, sourceId: number, url: string): Promise<void> {
  const key = urlKey(url)
  if (key === undefined) return
  const known = await change.db
    .selectFrom('source_url')
    .select('id')
    .where('url_key', '=', key)
    .executeTakeFirst()
  if (!known) await change.insert('source_url', { source_id: sourceId, url, url_key: key })
}

export const authorsOf = (source: Pick<Source, 'authors'>): string[] => JSON.parse(source.authors) as string[]

/** Every ISBN-13 of a source, the one it goes by first. */
export const isbnsOf = ({ isbn13, isbns }: Pick<Source, 'isbn13' | 'isbns'>): string[] => [
  ...(isbn13 === null ? [] : [isbn13]),
  ...(JSON.parse(isbns) as string[]),
]

/** A reader's state of a source in Sponge's words: it derives from the latest read. */
export type ReadingState = 'unread' | 'reading' | 'read'

export interface ListedItem {
  source: Source
  reading: ReadingState
  highlights: number
  notes: number
  tags: string[]
}

export interface ItemFilter {
  reading?: ReadingState | undefined
  kinds?: readonly Source['kind'][] | undefined
  /** Only items that come after this one in the order of the list. */
  after?: { createdAt: string; id: number } | undefined
  limit: number
  offset: number
}

/** Ids of two replicas tell no order: the latest read is the one that was made last. */
const currentStatus = sql<string | null>`(
  select status from read where read.source_id = source.id and read.trashed_at is null
  order by created_at desc, id desc limit 1)`

/** Of the sources that a query is about; for every list that shows or narrows by it. */
export const readingState = sql<ReadingState>`case
  when ${currentStatus} in ('reading', 'paused') then 'reading'
  when ${currentStatus} in ('finished', 'did_not_finish') then 'read'
  else 'unread' end`

/** Sources that have a text, newest first, with the number of all that fit the filter. */
export async function listItems(db: Db, filter: ItemFilter): Promise<{ items: ListedItem[]; total: number }> {
  let matching = db.selectFrom('source').where('trashed_at', 'is', null).where('text_id', 'is not', null)
  if (filter.kinds) matching = matching.where('kind', 'in', filter.kinds)
  if (filter.reading) matching = matching.where(readingState, '=', filter.reading)
  const { total } = await matching
    .select((count) => count.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  let page = matching
  if (filter.after) {
    const { createdAt, id } = filter.after
    page = page.where((where) =>
      where.or([
        where('created_at', '<', createdAt),
        where.and([where('created_at', '=', createdAt), where('id', '<', id)]),
      ]),
    )
  }
  const rows = await page
    .selectAll('source')
    .select([
      readingState.as('reading'),
      sql<number>`(select count(*) from highlight where source_id = source.id and trashed_at is null)`.as(
        'highlights',
      ),
      sql<number>`(select count(*) from note where source_id = source.id and kind = 'comment' and trashed_at is null)`.as(
        'notes',
      ),
    ])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit)
    .offset(filter.offset)
    .execute()
  const tags = await tagsOf(
    db,
    rows.map(({ id }) => id),
  )
  const items = rows.map(({ reading, highlights, notes, ...source }) => ({
    source,
    reading,
    highlights,
    notes,
    tags: tags.get(source.id) ?? [],
  }))
  return { items, total }
}

/** Names of the tags on each of the targets. */
export async function tagsOf(db: Db, targetIds: readonly number[]): Promise<Map<number, string[]>> {
  const byTarget = new Map<number, string[]>()
  if (targetIds.length === 0) return byTarget
  const rows = await db
    .selectFrom('tagging')
    .innerJoin('tag', 'tag.id', 'tagging.tag_id')
    .select(['tagging.target_id', 'tag.name'])
    .where('tagging.target_id', 'in', targetIds)
    .orderBy('tag.name_key')
    .execute()
  for (const { target_id, name } of rows) byTarget.set(target_id, [...(byTarget.get(target_id) ?? []), name])
  return byTarget
}
