import { sql, type Selectable } from 'kysely'
import { Failure } from '../../core/failure.ts'
import { parseId } from '../../core/ids.ts'
import type { Change } from '../../core/library.ts'
import { engineOf } from '../../db/engine.ts'
import { prepared, type Given } from '../../db/prepared.ts'
import type { Db, SourceTable } from '../../db/schema.ts'
import { urlKey } from './url-key.ts'

export type Source = Selectable<SourceTable>

const readSource = prepared((db: Db, given: Given<{ id: number }>) =>
  db.selectFrom('source').selectAll().where('id', '=', given.value('id')),
)

/** The source that an id stands for, an id that was given up by a merge included. */
export async function findSource(db: Db, id: number): Promise<Source | undefined> {
  const [source] = await readSource(db, { id })
  if (source) return source
  const target = await aliasTarget(db, id)
  return target === undefined ? undefined : findSource(db, target)
}

/** What an id that was given up for another stands for now, be it of a source, a highlight or a note. */
export async function aliasTarget(db: Db, id: number): Promise<number | undefined> {
  const alias = await db.selectFrom('alias').select('target_id').where('id', '=', id).executeTakeFirst()
  return alias?.target_id
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

/**
 * The source behind an id as an integer; trashed ones are gone. Throws `source_not_found` with the hint where there never was
 * one.
 */
export async function sourceAsGiven(db: Db, id: number, hint: string): Promise<Source> {
  const source = await findSource(db, id)
  if (source && source.trashed_at === null) return source
  throw new Failure('source_not_found', `There is no source ${id} in the library.`, {
    hint: source ? 'It is in the trash: the reader can take it out with `commonplace restore`.' : hint,
  })
}

/** The sources that bear one of these ISBN-13, as the one they go by or as another of their editions, the oldest first. */
export async function listByIsbns(db: Db, isbns: readonly string[]): Promise<Source[]> {
  const few = isbns.length <= FEW
  const rows = await db
    .selectFrom('source')
    .selectAll()
    .where((where) =>
      where.or([
        where('isbn13', 'in', texts(db, isbns)),
        // A JSON array of digits: the quotes make sure that a whole one is met. Of many each is looked at here.
        ...(few ? isbns.map((isbn) => where('isbns', 'like', `%"${isbn}"%`)) : [where('isbns', '<>', '[]')]),
      ]),
    )
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  if (few) return rows
  const wanted = new Set(isbns)
  return rows.filter((source) => isbnsOf(source).some((isbn) => wanted.has(isbn)))
}

/** The sources that are known under one of these address keys, each with the key, the oldest first. */
export const listByUrlKeys = (db: Db, keys: readonly string[]): Promise<(Source & { url_key: string })[]> =>
  db
    .selectFrom('source_url')
    .innerJoin('source', 'source.id', 'source_url.source_id')
    .selectAll('source')
    .select('source_url.url_key')
    .where('source_url.url_key', 'in', texts(db, keys))
    .orderBy('source.created_at')
    .orderBy('source.id')
    .execute()

/** The sources of some titles and first authors, the oldest first. */
export const listByMatchKeys = (db: Db, keys: readonly string[]): Promise<Source[]> =>
  db
    .selectFrom('source')
    .selectAll()
    .where('match_key', 'in', texts(db, keys))
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** ISBNs up to which a question names each of them. */
const FEW = 8

function texts(db: Db, list: readonly string[]) {
  const { lists } = engineOf(db)
  return lists.rows<string>(lists.bind(list), 'text')
}

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

/** What a read's status makes of its source. Without a read, and where it is only wanted, it is unread. */
const STATES: Readonly<Record<string, ReadingState>> = {
  reading: 'reading',
  paused: 'reading',
  finished: 'read',
  did_not_finish: 'read',
}

export const stateOf = (status: string): ReadingState => STATES[status] ?? 'unread'

/** Ids of two replicas tell no order: the latest read is the one that was made last. */
const currentStatus = sql`(
  select status from read where read.source_id = source.id and read.trashed_at is null
  order by created_at desc, id desc limit 1)`

/** Of the sources that a query is about; for every list that narrows by it. */
export const readingState = sql<ReadingState>`case ${currentStatus} ${sql.join(
  Object.entries(STATES).map(([status, state]) => sql`when ${sql.lit(status)} then ${sql.lit(state)}`),
  sql` `,
)} else 'unread' end`

const readTags = prepared((db: Db, given: Given<{ targets: readonly number[] }>) =>
  db
    .selectFrom('tagging')
    .innerJoin('tag', 'tag.id', 'tagging.tag_id')
    .select(['tagging.target_id', 'tag.name'])
    .where('tagging.target_id', 'in', given.list('targets', 'bigint'))
    .orderBy('tag.name_key'),
)

/** Names of the tags on each of the targets. */
export async function tagsOf(db: Db, targets: readonly number[]): Promise<Map<number, string[]>> {
  const byTarget = new Map<number, string[]>()
  if (targets.length === 0) return byTarget
  for (const { target_id, name } of await readTags(db, { targets })) {
    const names = byTarget.get(target_id)
    if (names) names.push(name)
    else byTarget.set(target_id, [name])
  }
  return byTarget
}
