import { sql } from 'kysely'
import { prepared, type Given } from '../../db/prepared.ts'
import type { Db } from '../../db/schema.ts'
import { readingState, stateOf, type ReadingState, type Source } from './source-store.ts'

const COLUMNS = ['id', 'title', 'kind', 'authors', 'site', 'url', 'published', 'words', 'created_at'] as const

/** What a list shows of a source. */
export type BareSource = Pick<Source, (typeof COLUMNS)[number]>

export interface ListedItem {
  source: BareSource
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

/** Sources that have a text, newest first, with the number of all that fit the filter. */
export async function listItems(
  db: Db,
  { reading, kinds, after, limit, offset }: ItemFilter,
): Promise<{ items: ListedItem[]; total: number }> {
  const rows = await readPage(db, {
    reading,
    kinds,
    createdAt: after?.createdAt,
    id: after?.id,
    limit,
    offset,
  })
  const [first] = rows.length > 0 ? rows : await countItems(db, { reading, kinds })
  const items = rows.map((source): ListedItem => ({
    source,
    reading: 'unread',
    highlights: 0,
    notes: 0,
    tags: [],
  }))
  if (items.length > 0) await addMarks(db, items)
  return { items, total: first?.total ?? 0 }
}

type Wanted = Pick<ItemFilter, 'reading' | 'kinds'>
type Page = Wanted & { createdAt: string | undefined; id: number | undefined; limit: number; offset: number }

function matching(db: Db, given: Given<Wanted>) {
  let query = db.selectFrom('source').where('trashed_at', 'is', null).where('text_id', 'is not', null)
  if (given.has('kinds')) query = query.where('kind', 'in', given.list('kinds', 'text'))
  if (given.has('reading')) query = query.where(readingState, '=', given.value('reading'))
  return query
}

const counted = (db: Db, given: Given<Wanted>) =>
  matching(db, given).select(({ fn }) => fn.countAll<number>().as('total'))

const countItems = prepared(counted)

/** The total comes with each row: one question less. */
const readPage = prepared((db: Db, given: Given<Page>) => {
  const all = matching(db, given)
  const page = given.has('createdAt')
    ? all.where((where) =>
        where.or([
          where('created_at', '<', given.value('createdAt')),
          where.and([
            where('created_at', '=', given.value('createdAt')),
            where('id', '<', given.value('id')),
          ]),
        ]),
      )
    : all
  return page
    .select(COLUMNS)
    .select(counted(db, given).as('total'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(given.value('limit'))
    .offset(given.value('offset'))
})

/** Adds what belongs to the items: asked once for all of them, and not once for each. */
async function addMarks(db: Db, items: readonly ListedItem[]): Promise<void> {
  const byId = new Map(items.map((item) => [item.source.id, item]))
  for (const { what, id, word, count } of await readMarks(db, { ids: [...byId.keys()] })) {
    const item = byId.get(id)
    if (!item) continue
    if (what === 'tag') item.tags.push(word)
    else if (what === 'read') item.reading = stateOf(word)
    else item[what] = count
  }
}

interface Mark {
  what: 'highlights' | 'notes' | 'tag' | 'read'
  /** The item's. */
  id: number
  word: string
  count: number
}

/** Tags in their order; of the reads the latest comes last (as `readingState` has it). */
const readMarks = prepared(
  (_db: Db, given: Given<{ ids: readonly number[] }>) => sql<Mark>`
    with item (id) as materialized ${given.list('ids', 'bigint')}
    select 'highlights' as what, item.id, '' as word, count(*) as count, '' as place
      from item join highlight on highlight.source_id = item.id
      where highlight.trashed_at is null group by item.id
    union all
    select 'notes', item.id, '', count(*), ''
      from item join note on note.source_id = item.id left join highlight on highlight.id = note.highlight_id
      where note.kind = 'comment' and note.trashed_at is null and highlight.trashed_at is null group by item.id
    union all
    select 'tag', item.id, tag.name, tag.id, tag.name_key
      from item join tagging on tagging.target_id = item.id join tag on tag.id = tagging.tag_id
    union all
    select 'read', item.id, read.status, read.id, read.created_at
      from item join read on read.source_id = item.id where read.trashed_at is null
    order by place, count`,
)
