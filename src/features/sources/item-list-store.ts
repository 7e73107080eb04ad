import { prepared, type Given } from '../../db/prepared.ts'
import type { Db } from '../../db/schema.ts'
import { readingState, stateOf, tagsOf, type ReadingState, type Source } from './source-store.ts'

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
  { after, limit, offset, ...wanted }: ItemFilter,
): Promise<{ items: ListedItem[]; total: number }> {
  const [counted] = await countItems(db, wanted)
  const page = { ...wanted, createdAt: after?.createdAt, id: after?.id, limit, offset }
  const sources = await readPage(db, page)
  const total = counted?.total ?? 0
  if (sources.length === 0) return { items: [], total }
  const ids = sources.map(({ id }) => id)
  // Apart, since one subquery for each row and question costs several times as much.
  const reads = new Map((await readReads(db, { ids })).map((read) => [read.source_id, read.status]))
  const highlights = byId(await countHighlights(db, { ids }))
  const notes = byId(await countNotes(db, { ids }))
  const tags = await tagsOf(db, ids)
  const items = sources.map((source) => ({
    source,
    reading: stateOf(reads.get(source.id)),
    highlights: highlights.get(source.id) ?? 0,
    notes: notes.get(source.id) ?? 0,
    tags: tags.get(source.id) ?? [],
  }))
  return { items, total }
}

type Wanted = Pick<ItemFilter, 'reading' | 'kinds'>
type Page = Wanted & { createdAt: string | undefined; id: number | undefined; limit: number; offset: number }
type Ids = Given<{ ids: readonly number[] }>

function matching(db: Db, given: Given<Wanted>) {
  let query = db.selectFrom('source').where('trashed_at', 'is', null).where('text_id', 'is not', null)
  if (given.has('kinds')) query = query.where('kind', 'in', given.list('kinds'))
  if (given.has('reading')) query = query.where(readingState, '=', given.value('reading'))
  return query
}

const countItems = prepared((db: Db, given: Given<Wanted>) =>
  matching(db, given).select((count) => count.fn.countAll<number>().as('total')),
)

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
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(given.value('limit'))
    .offset(given.value('offset'))
})

/** The latest read of a source comes last (`readingState` has the same order). */
const readReads = prepared((db: Db, given: Ids) =>
  db
    .selectFrom('read')
    .select(['source_id', 'status'])
    .where('source_id', 'in', given.list('ids'))
    .where('trashed_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id'),
)

const countHighlights = prepared((db: Db, given: Ids) =>
  db
    .selectFrom('highlight')
    .select(({ fn }) => ['source_id as id', fn.countAll<number>().as('count')])
    .where('source_id', 'in', given.list('ids'))
    .where('trashed_at', 'is', null)
    .groupBy('source_id'),
)

const countNotes = prepared((db: Db, given: Ids) =>
  db
    .selectFrom('note')
    .select(({ fn }) => ['source_id as id', fn.countAll<number>().as('count')])
    .where('source_id', 'in', given.list('ids'))
    .where('kind', '=', 'comment')
    .where('trashed_at', 'is', null)
    .groupBy('source_id'),
)

const byId = (counts: { id: number; count: number }[]): Map<number, number> =>
  new Map(counts.map(({ id, count }) => [id, count]))
