import { isEditOf } from './clipping-versions.ts'
import type { ImportedNote } from './imported.ts'
import type { KnownNote, KnownSource } from './known-source.ts'
import { isSamePlace, keyOf, wordsOf, type MarkPlace } from './mark-place.ts'
import { datesOf, isLater, type Planning } from './planning.ts'
import type { WrittenTime } from './written-time.ts'

/** Notes on a highlight, or on the source as a whole. */
interface NotesOn {
  notes: readonly ImportedNote[]
  highlightId: number | null
  /** When the highlight was made: a note that says nothing else is of that time. */
  created?: WrittenTime | null
}

/** Plans notes; gives whether any was new or changed. */
export function planNotes(
  known: KnownSource,
  { notes, highlightId, created = null }: NotesOn,
  planning: Planning,
): boolean {
  const { plan, outcomes } = planning
  const taken = new Set<KnownNote>()
  const given = notes.map((note) => {
    const body = note.by === null ? note.body : `${note.by}: ${note.body}`
    const key = keyOf(wordsOf(body))
    const standing = known.noteOf(key, highlightId)
    if (standing) taken.add(standing)
    const place: MarkPlace = { ...note.locator, ...(highlightId !== null && { on: highlightId }) }
    return { note, body, key, place: Object.keys(place).length > 0 ? place : null, standing }
  })
  let isMore = false
  for (const { note, body, key, place, standing } of given) {
    const time = note.created ?? created
    const about = { source: known.source.id, highlight: highlightId ?? undefined, excerpt: body }
    const before =
      standing ?? known.noteOf(key, highlightId) ?? earlierOf(known, { body, place, highlightId, taken })
    if (before && before.state !== 'there') {
      plan.counts.deleted++
      outcomes.tell(note.row, 'deleted', { ...about, note: before.id })
      continue
    }
    if (!before) {
      const id = plan.id()
      const dates = datesOf(time, planning)
      plan.notes.push({
        id,
        source_id: known.source.id,
        highlight_id: highlightId,
        kind: 'comment',
        body,
        ...dates,
        updated_at: planning.at,
      })
      const row: KnownNote = {
        id,
        state: 'there',
        text: body,
        given: new Set(),
        places: [],
        highlightId,
        kind: 'comment',
        created: dates.created_at,
        written: dates.written,
      }
      known.addNote(row)
      taken.add(row)
      remember(known, row, key, place, planning)
      plan.counts.notes++
      outcomes.tell(note.row, 'new', { ...about, note: id })
      isMore = true
      continue
    }
    const isChanged = before.given.has(key)
      ? false
      : takeEdit(known, before, { body, key, place, time, planning })
    if (isChanged) plan.counts.changed++
    else plan.counts.unchanged++
    isMore ||= isChanged
    outcomes.tell(note.row, isChanged ? 'changed' : 'there', { ...about, note: before.id })
  }
  return isMore
}

/** A note that this one was made from, as a file gave it and as it still stands. */
function earlierOf(
  known: KnownSource,
  {
    body,
    place,
    highlightId,
    taken,
  }: { body: string; place: MarkPlace | null; highlightId: number | null; taken: ReadonlySet<KnownNote> },
): KnownNote | undefined {
  for (const note of known.notes.values()) {
    if (note.highlightId !== highlightId || note.kind !== 'comment' || note.state !== 'there') continue
    if (taken.has(note) || !isAsGiven(note) || !isEditOf(note.text, body)) continue
    // Of notes on the whole only those that a file puts at one place.
    if (highlightId !== null || note.places.some((other) => isSamePlace(other, place))) return note
  }
  return undefined
}

const isAsGiven = ({ given, text }: KnownNote): boolean => given.has(keyOf(wordsOf(text)))

function remember(
  known: KnownSource,
  row: KnownNote,
  key: string,
  place: MarkPlace | null,
  { plan }: Planning,
): void {
  known.give(row, key, place)
  plan.remembered.push({ source_id: known.source.id, kind: 'note', key, place, row_id: row.id })
}

function takeEdit(
  known: KnownSource,
  row: KnownNote,
  {
    body,
    key,
    place,
    time,
    planning,
  }: { body: string; key: string; place: MarkPlace | null; time: WrittenTime | null; planning: Planning },
): boolean {
  const { plan, at } = planning
  if (wordsOf(row.text) === wordsOf(body)) {
    // The reader's own words, or those of another file: from now on known as given.
    remember(known, row, key, place, planning)
    return false
  }
  const wins = isLater(time, row.written) ?? body.length > row.text.length
  plan.versions.push({
    id: plan.id(),
    source_id: known.source.id,
    table_name: 'note',
    row_id: row.id,
    field: 'body',
    value: wins ? row.text : body,
    created_at: at,
  })
  remember(known, row, key, place, planning)
  if (!wins) return false
  const patch = { body, ...(time !== null && datesOf(time, planning)), updated_at: at }
  if (row.id < 0) Object.assign(plan.notes.find(({ id }) => id === row.id) ?? {}, patch)
  else plan.updates.push({ table: 'note', id: row.id, patch })
  row.text = body
  return true
}
