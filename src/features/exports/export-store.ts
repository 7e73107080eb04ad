import { sql } from 'kysely'
import type { Db } from '../../db/schema.ts'
import { EXPORTED_TABLES, type ExportedField, type ExportedTable } from './tables.ts'

export type ExportedRow = Record<string, unknown>

const KEPT = Object.fromEntries(
  Object.entries(EXPORTED_TABLES).map(([table, { fields }]) => [
    table,
    (Object.entries(fields) as [string, ExportedField][]).flatMap(([column, field]) =>
      field === null
        ? []
        : [{ column, name: typeof field === 'string' ? field : field.json, json: typeof field !== 'string' }],
    ),
  ]),
)

/** The rows of a table after `last`, in the order of their ids, under the names that an export has for their fields. */
export async function exportedRows(db: Db, table: ExportedTable, last: number): Promise<ExportedRow[]> {
  const kept = KEPT[table] ?? []
  const { rows } = await sql<ExportedRow>`select ${sql.join(kept.map(({ column }) => sql.ref(column)))}
    from ${sql.table(table)} where id > ${last} order by id limit ${EXPORTED_TABLES[table].page}`.execute(db)
  return rows.map((row) =>
    Object.fromEntries(
      kept.map(({ column, name, json }) => {
        const value = row[column]
        return [name, json && typeof value === 'string' ? parsed(value) : value]
      }),
    ),
  )
}

/** What cannot be read as JSON goes out as it stands rather than not at all. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export async function countRows(db: Db, table: ExportedTable): Promise<number> {
  const { rows } = await sql<{
    rows: number | string
  }>`select count(*) as rows from ${sql.table(table)}`.execute(db)
  return Number(rows[0]?.rows ?? 0)
}

const SOURCES = 100

export const exportedSources = (db: Db, last: number) =>
  db
    .selectFrom('source')
    .leftJoin('text', 'text.id', 'source.text_id')
    .select([
      'source.id',
      'source.kind',
      'source.title',
      'source.authors',
      'source.site',
      'source.url',
      'source.published',
      'source.isbn13',
      'source.created_at',
      'source.trashed_at',
      'text.id as text_id',
      'text.captured_at',
    ])
    .where('source.id', '>', last)
    .orderBy('source.id')
    .limit(SOURCES)
    .execute()

export type ExportedSource = Awaited<ReturnType<typeof exportedSources>>[number]

export const markdownOf = async (db: Db, textId: number): Promise<string> =>
  (await db.selectFrom('text').select('markdown').where('id', '=', textId).executeTakeFirst())?.markdown ?? ''

export const tagNamesOf = async (db: Db, targetId: number): Promise<string[]> =>
  (
    await db
      .selectFrom('tagging')
      .innerJoin('tag', 'tag.id', 'tagging.tag_id')
      .select('tag.name')
      .where('tagging.target_id', '=', targetId)
      .orderBy('tag.name')
      .execute()
  ).map(({ name }) => name)

const HIGHLIGHTS = 300

/** Where to go on among the highlights of a source: behind this one. */
export interface HighlightPlace {
  /** Null among those that have no place in the text. */
  start: number | null
  id: number
}

export const FIRST_PLACE: HighlightPlace = { start: -1, id: -1 }

/** A source's highlights as they stand in its text, those without a place last; none from the trash. */
export async function exportedHighlights(db: Db, sourceId: number, { start, id }: HighlightPlace) {
  const of = db
    .selectFrom('highlight')
    .select(['id', 'quote', 'state', 'locator', 'color', 'created_at', 'start_offset'])
    .where('source_id', '=', sourceId)
    .where('trashed_at', 'is', null)
    .limit(HIGHLIGHTS)
  if (start !== null) {
    const placed = await of
      .where(sql<boolean>`(start_offset, id) > (${start}, ${id})`)
      .orderBy('start_offset')
      .orderBy('id')
      .execute()
    if (placed.length > 0) return placed
  }
  return of
    .where('start_offset', 'is', null)
    .where('id', '>', start === null ? id : -1)
    .orderBy('id')
    .execute()
}

export type ExportedHighlight = Awaited<ReturnType<typeof exportedHighlights>>[number]

/** Notes on highlights; none from the trash. */
export const notesOnHighlights = (db: Db, ids: readonly number[]) =>
  db
    .selectFrom('note')
    .select(['id', 'highlight_id', 'body'])
    .where('highlight_id', 'in', ids)
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .execute()

/** Notes on a source as a whole, the private one of a book among them. */
export const notesOnSource = (db: Db, sourceId: number) =>
  db
    .selectFrom('note')
    .select(['id', 'kind', 'body'])
    .where('source_id', '=', sourceId)
    .where('highlight_id', 'is', null)
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .execute()

export const readsOf = (db: Db, sourceId: number) =>
  db
    .selectFrom('read')
    .select(['id', 'status', 'started_on', 'finished_on', 'rating', 'review'])
    .where('source_id', '=', sourceId)
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .execute()

const MEDIA = 500

/** What of media a library names, in the order of the rows that name it. */
export interface NamedMedia {
  id: number
  hash: string
  /** `original` is the page or file that a text was made from, compressed; `given` what was handed in; `cover` a picture; `report` what became of a file, row by row. */
  kind: 'original' | 'given' | 'cover' | 'report'
  /** Null for the report on a file, which has many sources. */
  sourceId: number | null
  name: string | null
}

export async function namedMedia(db: Db, kind: NamedMedia['kind'], last: number): Promise<NamedMedia[]> {
  const rows: { id: number; hash: string | null; source_id: number | null; name: string | null }[] =
    kind === 'report'
      ? await db
          .selectFrom('import')
          .select(['id', 'report as hash', 'source_id', 'name'])
          .where('report', 'is not', null)
          .where('id', '>', last)
          .orderBy('id')
          .limit(MEDIA)
          .execute()
      : kind === 'given'
        ? await db
            .selectFrom('capture')
            .select(['id', 'given as hash', 'source_id', 'given_name as name'])
            .where('given', 'is not', null)
            .where('id', '>', last)
            .orderBy('id')
            .limit(MEDIA)
            .execute()
        : kind === 'original'
          ? await db
              .selectFrom('text')
              .select((of) => ['id', 'raw as hash', 'source_id', of.val<string | null>(null).as('name')])
              .where('raw', 'is not', null)
              .where('id', '>', last)
              .orderBy('id')
              .limit(MEDIA)
              .execute()
          : await db
              .selectFrom('source')
              .select((of) => [
                'id',
                'cover as hash',
                'id as source_id',
                of.val<string | null>(null).as('name'),
              ])
              .where('cover', 'is not', null)
              .where('id', '>', last)
              .orderBy('id')
              .limit(MEDIA)
              .execute()
  return rows.flatMap(({ id, hash, source_id, name }) =>
    hash === null ? [] : [{ id, hash, kind, sourceId: source_id, name }],
  )
}
