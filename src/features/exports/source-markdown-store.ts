import type { Db } from '../../db/schema.ts'

/** A source as its file says it; undefined where there is none, or it lies in the trash. */
export const sourceForMarkdown = (db: Db, id: number) =>
  db
    .selectFrom('source')
    .select([
      'id',
      'kind',
      'title',
      'authors',
      'url',
      'site',
      'published',
      'publisher',
      'language',
      'isbn13',
      'isbns',
      'description',
      'created_at',
    ])
    .where('id', '=', id)
    .where('trashed_at', 'is', null)
    .executeTakeFirst()

export type MarkedSource = NonNullable<Awaited<ReturnType<typeof sourceForMarkdown>>>

export const allHighlights = (db: Db, sourceId: number) =>
  db
    .selectFrom('highlight')
    .select(['id', 'quote', 'state', 'locator', 'color', 'start_offset', 'written', 'created_at'])
    .where('source_id', '=', sourceId)
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .execute()

/** Comments on the highlights of a source. */
export const commentsOn = (db: Db, sourceId: number) =>
  db
    .selectFrom('note')
    .select(['highlight_id', 'body'])
    .where('source_id', '=', sourceId)
    .where('highlight_id', 'is not', null)
    .where('kind', '=', 'comment')
    .where('trashed_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** Notes on a source as a whole; the private one of a book only where it may be seen. */
export function notesOn(db: Db, sourceId: number, may: { private: boolean }) {
  const notes = db
    .selectFrom('note')
    .select(['id', 'body'])
    .where('source_id', '=', sourceId)
    .where('highlight_id', 'is', null)
    .where('trashed_at', 'is', null)
  return (may.private ? notes : notes.where('kind', '=', 'comment'))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** Ids of sources after this one that lie not in the trash: all, or those that a reader marked or wrote something in. */
export async function sourcesForMarkdown(
  db: Db,
  last: number,
  { all, limit }: { all: boolean; limit: number },
): Promise<number[]> {
  let query = db
    .selectFrom('source')
    .select('source.id')
    .where('source.id', '>', last)
    .where('source.trashed_at', 'is', null)
  if (!all)
    query = query.where((where) =>
      where.or([
        where.exists(
          where
            .selectFrom('highlight')
            .select('highlight.id')
            .whereRef('highlight.source_id', '=', 'source.id')
            .where('highlight.trashed_at', 'is', null),
        ),
        where.exists(
          where
            .selectFrom('note')
            .select('note.id')
            .whereRef('note.source_id', '=', 'source.id')
            .where('note.trashed_at', 'is', null),
        ),
      ]),
    )
  const rows = await query.orderBy('source.id').limit(limit).execute()
  return rows.map(({ id }) => id)
}

/** Notes on a source as a whole, the private one of a book among them. */
export const notesForJson = (db: Db, sourceId: number) =>
  db
    .selectFrom('note')
    .select(['id', 'kind', 'body', 'created_at as createdAt'])
    .where('source_id', '=', sourceId)
    .where('highlight_id', 'is', null)
    .where('trashed_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
