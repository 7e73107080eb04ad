import type { Selectable } from 'kysely'
import type { Change } from '../../core/library.ts'
import { cutText } from '../../core/room.ts'
import type { NoteTable } from '../../db/schema.ts'
import type { ShownNote } from './schema.ts'

export type Note = Selectable<NoteTable>

export interface NewNote {
  sourceId: number
  /** Left out for a note on the source as a whole. */
  highlightId?: number | undefined
  body: string
}

/** Adds a comment, even where an equal one stands. Search is told by the caller. */
export async function addNote(change: Change, { sourceId, highlightId, body }: NewNote): Promise<Note> {
  const id = await change.insert('note', {
    source_id: sourceId,
    highlight_id: highlightId ?? null,
    kind: 'comment',
    body,
    created_at: change.at,
    updated_at: change.at,
  })
  return change.db.selectFrom('note').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** Adds a comment unless the same words stand there already; one in the trash does not stand. */
export async function addNoteOnce(change: Change, note: NewNote): Promise<{ note: Note; created: boolean }> {
  const standing = await change.db
    .selectFrom('note')
    .selectAll()
    .where('source_id', '=', note.sourceId)
    .where('highlight_id', note.highlightId === undefined ? 'is' : '=', note.highlightId ?? null)
    .where('kind', '=', 'comment')
    .where('body', '=', note.body)
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .executeTakeFirst()
  return standing ? { note: standing, created: false } : { note: await addNote(change, note), created: true }
}

/** Most bytes of JSON that a note takes in an answer: the longest of most scripts is whole. */
const BODY = 20_000

export function showNote(note: Note): ShownNote {
  const body = cutText(note.body, BODY)
  return {
    id: String(note.id),
    itemId: String(note.source_id),
    highlightId: note.highlight_id === null ? null : String(note.highlight_id),
    body,
    ...(body.length < note.body.length && { bodyTruncated: true }),
    createdAt: note.created_at,
    updatedAt: note.updated_at,
  }
}
