import { sql } from 'kysely'
import type { Db } from '../../db/schema.ts'
import type { ListPlace } from '../sources/source-list-store.ts'
import { aliasTarget } from '../sources/source-store.ts'
import type { Note } from './note-store.ts'

const LISTED = ['id', 'source_id', 'highlight_id', 'kind', 'body', 'created_at', 'updated_at'] as const

export type ListedNote = Pick<Note, (typeof LISTED)[number]>

/** What the caller may see: the reader's private notes of books are of a kind of their own. */
export interface NoteRights {
  bookNotes: boolean
}

/** Notes that are there to be seen: neither they nor what they are on lie in the trash. */
function visible(db: Db, { bookNotes }: NoteRights) {
  const query = db
    .selectFrom('note')
    .where('note.trashed_at', 'is', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('source')
          .select('source.id')
          .whereRef('source.id', '=', 'note.source_id')
          .where('source.trashed_at', 'is', null),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('highlight')
            .select('highlight.id')
            .whereRef('highlight.id', '=', 'note.highlight_id')
            .where('highlight.trashed_at', 'is not', null),
        ),
      ),
    )
  return bookNotes ? query : query.where('note.kind', '=', 'comment')
}

/** Notes of the whole library, last written first. */
export function listNotes(
  db: Db,
  rights: NoteRights,
  { after, limit }: { after?: ListPlace | undefined; limit: number },
): Promise<ListedNote[]> {
  let query = visible(db, rights).select(LISTED)
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.at}, ${after.id})`)
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
}

export async function countNotes(db: Db, rights: NoteRights): Promise<number> {
  const { count } = await visible(db, rights)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The note that an id stands for, as far as it is there to be seen. */
export async function findNote(db: Db, rights: NoteRights, id: number): Promise<ListedNote | undefined> {
  const found = await visible(db, rights).select(LISTED).where('note.id', '=', id).executeTakeFirst()
  if (found) return found
  const target = await aliasTarget(db, id)
  return target === undefined ? undefined : findNote(db, rights, target)
}

/** Ids of the notes on a highlight, the trash not counted. */
export async function notesOn(db: Db, highlightId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('note')
    .select('id')
    .where('highlight_id', '=', highlightId)
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The newest notes whose ids begin with these digits. */
export async function noteIdsBeginning(
  db: Db,
  rights: NoteRights,
  digits: string,
  most: number,
): Promise<number[]> {
  const rows = await visible(db, rights)
    .select('note.id')
    .where(sql<boolean>`cast(note.id as text) like ${`${digits}%`}`)
    .orderBy('created_at', 'desc')
    .orderBy('note.id', 'desc')
    .limit(most)
    .execute()
  return rows.map(({ id }) => id)
}
