import type { Change } from '../../core/library.ts'
import { Failure } from '../../core/failure.ts'
import { indexHighlight, indexNote } from '../search/index-source.ts'
import { notesOn } from '../notes/note-list-store.ts'
import { findAnyHighlight, findHighlightRow, type Highlight } from './highlight-store.ts'

/** The highlight behind an id; those in the trash, or of a source there, are gone. Throws `highlight_not_found`. */
export async function highlightAsGiven(change: Pick<Change, 'db'>, id: number): Promise<Highlight> {
  const highlight = await findHighlightRow(change.db, id)
  if (highlight) return highlight
  const trashed = await findAnyHighlight(change.db, id)
  throw new Failure('highlight_not_found', `There is no highlight ${id}.`, {
    hint: trashed
      ? 'It is in the trash: the reader can take it out with `commonplace restore`.'
      : 'Take an id from search_highlights or get_source.',
  })
}

/** Moves a highlight, and out of sight with it the notes on it, to the trash. */
export const trashHighlight = (change: Change, { id }: Pick<Highlight, 'id'>): Promise<void> =>
  setTrashed(change, id, change.at)

/** Takes a highlight out of the trash as it was. */
export const restoreHighlight = (change: Change, { id }: Pick<Highlight, 'id'>): Promise<void> =>
  setTrashed(change, id, null)

async function setTrashed(change: Change, id: number, at: string | null): Promise<void> {
  await change.update('highlight', id, { trashed_at: at, updated_at: change.at })
  await indexHighlight(change, id)
  for (const noteId of await notesOn(change.db, id)) await indexNote(change, noteId)
}
