import { sql } from 'kysely'
import { prepared, type Given } from '../../db/prepared.ts'
import type { Db } from '../../db/schema.ts'

/**
 * Where a file of all highlights goes on: behind this one. Sources come in the order of their ids, the highlights of each as they
 * stand in its text, and then by their ids those that have no place in it.
 */
export interface CsvPlace {
  source: number
  /** Null among those that have no place in the text. */
  start: number | null
  id: number
}

export interface CsvHighlight {
  id: number
  source_id: number
  start_offset: number | null
  quote: string
  locator: string | null
  color: string | null
  written: string | null
  created_at: string
}

interface Values {
  source: number
  start?: number
  id: number
  limit: number
}

const highlights = (db: Db) =>
  db
    .selectFrom('highlight')
    .innerJoin('source', 'source.id', 'highlight.source_id')
    .select([
      'highlight.id',
      'highlight.source_id',
      'highlight.start_offset',
      'highlight.quote',
      'highlight.locator',
      'highlight.color',
      'highlight.written',
      'highlight.created_at',
    ])
    .where('highlight.trashed_at', 'is', null)
    .where('source.trashed_at', 'is', null)

/** The rest of those of a source that have a place. */
const readPlaced = prepared((db: Db, given: Given<Required<Values>>) =>
  highlights(db)
    .where('highlight.source_id', '=', given.value('source'))
    .where('highlight.start_offset', '>=', given.value('start'))
    .where((where) =>
      where.or([
        where('highlight.start_offset', '>', given.value('start')),
        where('highlight.id', '>', given.value('id')),
      ]),
    )
    .orderBy('highlight.start_offset')
    .orderBy('highlight.id')
    .limit(given.value('limit')),
)

/** The rest of those of a source that have none. */
const readUnplaced = prepared((db: Db, given: Given<Values>) =>
  highlights(db)
    .where('highlight.source_id', '=', given.value('source'))
    .where('highlight.start_offset', 'is', null)
    .where('highlight.id', '>', given.value('id'))
    .orderBy('highlight.id')
    .limit(given.value('limit')),
)

/** Those of the sources after it. Each is put in order by itself, so that no more are read than are asked for. */
const readFurther = prepared((db: Db, given: Given<Omit<Values, 'id'>>) =>
  highlights(db)
    .where('highlight.source_id', '>', given.value('source'))
    .orderBy('highlight.source_id')
    .orderBy(sql`case when highlight.start_offset is null then 1 else 0 end`)
    .orderBy('highlight.start_offset')
    .orderBy('highlight.id')
    .limit(given.value('limit')),
)

export const FIRST_IN_CSV: CsvPlace = { source: -1, start: null, id: -1 }

/** The highlights after a place; none that lie in the trash or belong to a source there. */
export async function highlightsAfter(db: Db, after: CsvPlace, limit: number): Promise<CsvHighlight[]> {
  const found: CsvHighlight[] = []
  const { source, start, id } = after
  if (source >= 0) {
    if (start !== null) found.push(...(await readPlaced(db, { source, start, id, limit })))
    const from = start === null ? id : -1
    if (found.length < limit)
      found.push(...(await readUnplaced(db, { source, id: from, limit: limit - found.length })))
  }
  if (found.length < limit) found.push(...(await readFurther(db, { source, limit: limit - found.length })))
  return found
}

interface Listed {
  ids: readonly number[]
}

export const csvSources = prepared((db: Db, given: Given<Listed>) =>
  db
    .selectFrom('source')
    .select([
      'id',
      'kind',
      'title',
      'authors',
      'url',
      'site',
      'publisher',
      'language',
      'published',
      'isbn13',
      'isbns',
      'created_at',
    ])
    .where('id', 'in', given.list('ids', 'bigint')),
)

export type CsvSource = Awaited<ReturnType<typeof csvSources>>[number]

/** Comments on highlights; none from the trash. */
export const csvNotes = prepared((db: Db, given: Given<Listed>) =>
  db
    .selectFrom('note')
    .select(['highlight_id', 'body'])
    .where('highlight_id', 'in', given.list('ids', 'bigint'))
    .where('kind', '=', 'comment')
    .where('trashed_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id'),
)
