import type { Change, Library } from '../../core/library.ts'
import type { Db } from '../../db/schema.ts'
import { addNoteOnce, showNote } from '../notes/note-store.ts'
import type { ShownNote } from '../notes/schema.ts'
import { indexHighlight, indexNote } from '../search/index-source.ts'
import { findItem } from '../sources/source-store.ts'
import { readPlaces } from '../texts/places.ts'
import { currentText, type Text } from '../texts/text-store.ts'
import { anchorQuote, type Anchor } from './anchor.ts'
import { foldText } from './fold.ts'
import { foldStored } from './folded-cache.ts'
import {
  findCurrentPlain,
  findPlain,
  findStanding,
  insertAnchored,
  listElsewhere,
  moveTo,
  orphan,
  showHighlight,
} from './highlight-store.ts'
import { chooseQuote } from './choose-quote.ts'
import type { ShownHighlight } from './schema.ts'

export interface HighlightRequest {
  /** Item id as it was given. */
  id: string
  quote: string
  /** Which of the matches, from 0. */
  occurrence?: number | undefined
  comment?: string | undefined
}

export interface AddedHighlight {
  highlight: ShownHighlight
  comment?: ShownNote
  /** False where the same words were highlighted at the same place before. */
  created: boolean
}

/**
 * Highlights words of an item's current text. The same words at the same place give the highlight that stands, and a comment
 * that it has already is not added again. Throws `item_not_found`, `not_captured`, `quote_not_found`, `quote_ambiguous` and,
 * for an occurrence that is not there, `invalid_input`.
 */
export async function addHighlight(library: Library, request: HighlightRequest): Promise<AddedHighlight> {
  // Found before the transaction begins, so that a long text does not hold the database's write lock.
  const found = await locate(library.db, request)
  return library.answer(async (change) => {
    const { text_id } = await findItem(change.db, request.id)
    const { text, anchor } = text_id === found.text.id ? found : await locate(change.db, request)
    const standing = await findStanding(change.db, text, anchor)
    const highlight = standing ?? (await insertAnchored(change, text, anchor))
    const added =
      request.comment === undefined
        ? undefined
        : await addNoteOnce(change, {
            sourceId: text.source_id,
            highlightId: highlight.id,
            body: request.comment,
          })
    if (!standing) await indexHighlight(change, highlight.id)
    if (added?.created) await indexNote(change, added.note.id)
    return {
      highlight: showHighlight(highlight),
      ...(added && { comment: showNote(added.note) }),
      created: standing === undefined,
    }
  })
}

async function locate(
  db: Db,
  { id, quote, occurrence }: HighlightRequest,
): Promise<{ text: Text; anchor: Anchor }> {
  const source = await findItem(db, id)
  const text = await currentText(db, source)
  return { text, anchor: chooseQuote(foldStored(text), quote, occurrence) }
}

/**
 * Finds a source's highlights again in the text that has become its current one: those of earlier versions, orphans, and
 * those that never had a text. What is found moves there; what is not is orphaned (or stays unanchored) with its words,
 * its offsets and the version they belong to. Those in the trash are treated alike. Search is told by the caller.
 */
export async function reanchorHighlights(
  change: Change,
  sourceId: number,
  newText: { id: number; plain: string; places?: string | null },
): Promise<{ anchored: number; lost: number }> {
  const counts = { anchored: 0, lost: 0 }
  const highlights = await listElsewhere(change.db, sourceId, newText.id)
  if (highlights.length === 0) return counts
  const text = foldText(newText.plain)
  const standing = { id: newText.id, places: readPlaces(newText.places ?? null) }
  const befores = new Map<number, ReturnType<typeof foldText> | undefined>()
  for (const highlight of highlights) {
    const { text_id } = highlight
    if (text_id !== null && !befores.has(text_id)) {
      const before = await findPlain(change.db, text_id)
      befores.set(text_id, before && foldText(before.plain))
    }
    const before = text_id === null ? undefined : befores.get(text_id)
    const anchor = anchorQuote(
      text,
      {
        exact: highlight.quote,
        prefix: highlight.prefix,
        suffix: highlight.suffix,
        start: highlight.start_offset,
      },
      before,
    )
    if (anchor) {
      await moveTo(change, highlight, standing, anchor)
      counts.anchored++
    } else {
      if (highlight.state === 'anchored') await orphan(change, highlight.id)
      counts.lost++
    }
  }
  return counts
}

/** The same for whatever text is current: after sources were joined or a highlight came back from the trash. */
export async function reanchorInCurrent(change: Change, sourceId: number): Promise<void> {
  const current = await findCurrentPlain(change.db, sourceId)
  if (current) await reanchorHighlights(change, sourceId, current)
}
