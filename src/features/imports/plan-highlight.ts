import { anchorColumns } from '../highlights/highlight-store.ts'
import type { Source } from '../sources/source-store.ts'
import { placeAt, readPlaces } from '../texts/places.ts'
import { areVersions } from './clipping-versions.ts'
import type { ImportedHighlight, ImportedLocator } from './imported.ts'
import type { KnownHighlight, KnownSource } from './known-source.ts'
import { isSamePlace, keyOf, placeOf, rangeOf, wordsOf, type MarkPlace } from './mark-place.ts'
import { planNotes } from './plan-notes.ts'
import { planTags } from './plan-tags.ts'
import { datesOf, isLater, type Planning } from './planning.ts'
import { highlightTags } from './tag-names.ts'

/** Plans one highlight of a file with its tags and notes: new, a version of one that is there, or there already. */
export function planHighlight(known: KnownSource, given: ImportedHighlight, planning: Planning): void {
  const { plan, outcomes } = planning
  const place = placeOf(given)
  const key = keyOf(wordsOf(given.quote))
  const earlier = given.earlier.map((words) => ({ words, key: keyOf(wordsOf(words)) }))
  const standing = known.highlightOf(key, place)
  const before = standing ?? versionBefore(known, given, { place, earlier, planning })
  const about = { source: known.source.id, excerpt: given.quote }
  if (before && before.state !== 'there') {
    plan.counts.deleted += 1 + given.notes.length
    outcomes.tell(given.row, 'deleted', { ...about, highlight: before.id })
    for (const { row } of given.notes) outcomes.tell(row, 'deleted', { ...about, highlight: before.id })
    return
  }
  let fate: 'new' | 'changed' | 'there' = 'there'
  const row = before ?? addHighlight(known, given, { place, key, planning })
  if (!before) fate = 'new'
  else if (standing) keepPlace(known, standing, { key, place, planning })
  else
    fate = takeVersion(known, before, given, {
      key,
      place,
      byFile: earlier.some((one) => before.given.has(one.key)),
      planning,
    })
  for (const one of earlier) {
    if (row.given.has(one.key) || one.key === keyOf(wordsOf(row.text))) continue
    keepVersion(known, row, one.words, planning)
    remember(known, row, one.key, place, planning)
  }
  if (planTags(known, row.id, highlightTags(given), planning) && fate === 'there') fate = 'changed'
  if (fate === 'new') plan.counts.highlights++
  else if (fate === 'changed') plan.counts.changed++
  else plan.counts.unchanged++
  outcomes.tell(given.row, fate, { ...about, highlight: row.id })
  planNotes(known, { notes: given.notes, highlightId: row.id, created: given.created }, planning)
}

interface Placing {
  place: MarkPlace | null
  key: string
  planning: Planning
}

function addHighlight(
  known: KnownSource,
  given: ImportedHighlight,
  { place, key, planning }: Placing,
): KnownHighlight {
  const { plan } = planning
  const id = plan.id()
  const stands = standsOf(known.source, given, planning)
  const dates = datesOf(given.created, planning)
  plan.highlights.push({
    id,
    source_id: known.source.id,
    ...stands,
    color: given.color,
    origin: 'import',
    ...dates,
    updated_at: planning.at,
  })
  const row: KnownHighlight = {
    id,
    state: 'there',
    text: stands.quote,
    given: new Set(),
    places: place ? [place] : [],
    created: dates.created_at,
    written: dates.written,
    locator: stands.locator,
    origin: 'import',
  }
  known.addHighlight(row)
  remember(known, row, key, place, planning)
  const own = keyOf(wordsOf(stands.quote))
  if (own !== key) remember(known, row, own, place, planning)
  return row
}

/** Columns that say what the words are and where they stand. */
function standsOf(source: Source, given: ImportedHighlight, { anchorOf }: Planning) {
  const found = source.text_id === null ? undefined : anchorOf(source, given)
  const locator = locatorOf(given.locator)
  if (found) {
    const { anchor, textId, places } = found
    return { ...anchorColumns(textId, anchor), locator: locator ?? placeAt(readPlaces(places), anchor.start) }
  }
  return {
    text_id: null,
    quote: given.quote,
    prefix: given.prefix,
    suffix: given.suffix,
    start_offset: null,
    end_offset: null,
    matched: null,
    state: 'unanchored' as const,
    locator,
  }
}

/** As highlights keep it: where only the chapter is known, that is the label. */
function locatorOf(locator: ImportedLocator | null): string | null {
  if (!locator || Object.keys(locator).length === 0) return null
  const { chapter, ...place } = locator
  if (chapter === undefined) return JSON.stringify(place)
  return JSON.stringify(Object.keys(place).length === 0 ? { label: chapter } : { ...place, chapter })
}

function remember(
  known: KnownSource,
  row: KnownHighlight,
  key: string,
  place: MarkPlace | null,
  { plan }: Planning,
): void {
  known.give(row, key, place)
  plan.remembered.push({ source_id: known.source.id, kind: 'highlight', key, place, row_id: row.id })
}

/** What stands already is remembered by what the file has, so that it is known again whatever becomes of it here. */
function keepPlace(known: KnownSource, row: KnownHighlight, { key, place, planning }: Placing): void {
  const isKnownPlace = place === null || row.places.some((other) => isSamePlace(other, place))
  if (!row.given.has(key) || !isKnownPlace) remember(known, row, key, place, planning)
}

interface Versioning {
  place: MarkPlace | null
  earlier: readonly { words: string; key: string }[]
  planning: Planning
}

/** The highlight of the library that this is a version of. */
function versionBefore(
  known: KnownSource,
  given: ImportedHighlight,
  { place, earlier, planning }: Versioning,
): KnownHighlight | undefined {
  const same = new Set<KnownHighlight>()
  for (const { key } of earlier) {
    const row = known.highlightOf(key, place)
    if (row) same.add(row)
  }
  if (same.size === 0 && planning.joinsVersions && place && rangeOf(place.location ?? place.page ?? '')) {
    const isNarrow = place.location !== undefined
    for (const row of known.highlightsAt(place)) {
      if (row.origin !== 'import' || row.state === 'gone' || !isAsGiven(row)) continue
      if (areVersions(row.text, given.quote, isNarrow)) same.add(row)
    }
  }
  const [first, ...others] = [...same].toSorted((a, b) => rank(a) - rank(b) || a.id - b.id)
  if (first) for (const other of others) joinInto(known, other, first, planning)
  return first
}

const rank = ({ state }: KnownHighlight): number => (state === 'there' ? 0 : 1)

/** Whether the words are still those that a file gave. */
const isAsGiven = ({ given, text }: KnownHighlight): boolean => given.has(keyOf(wordsOf(text)))

/** Two highlights that have grown into one: the other's words are kept with the first, and it goes to the trash. */
function joinInto(
  known: KnownSource,
  other: KnownHighlight,
  first: KnownHighlight,
  planning: Planning,
): void {
  if (other.state !== 'there' || first.state !== 'there' || !isAsGiven(other) || other.id < 0) return
  const { plan, at } = planning
  keepVersion(known, first, other.text, planning)
  for (const key of other.given) remember(known, first, key, null, planning)
  known.addPlaces(first, other.places)
  for (const note of known.notes.values()) {
    if (note.highlightId !== other.id || note.state !== 'there' || note.id < 0) continue
    note.highlightId = first.id
    plan.updates.push({ table: 'note', id: note.id, patch: { highlight_id: first.id, updated_at: at } })
  }
  other.state = 'trashed'
  plan.updates.push({ table: 'highlight', id: other.id, patch: { trashed_at: at, updated_at: at } })
}

function keepVersion(known: KnownSource, row: KnownHighlight, words: string, { plan, at }: Planning): void {
  plan.versions.push({
    id: plan.id(),
    source_id: known.source.id,
    table_name: 'highlight',
    row_id: row.id,
    field: 'quote',
    value: words,
    created_at: at,
  })
}

/** The later of two versions gets the place; what the reader has changed here stays as it is. */
function takeVersion(
  known: KnownSource,
  row: KnownHighlight,
  given: ImportedHighlight,
  { key, place, byFile, planning }: Placing & { byFile: boolean },
): 'changed' | 'there' {
  const { plan, at } = planning
  const later = isLater(given.created, row.written)
  const wins = later ?? (byFile || given.quote.length > row.text.length)
  if (!isAsGiven(row)) {
    remember(known, row, key, place, planning)
    return 'there'
  }
  if (!wins) {
    keepVersion(known, row, given.quote, planning)
    remember(known, row, key, place, planning)
    return 'there'
  }
  keepVersion(known, row, row.text, planning)
  const stands = standsOf(known.source, given, planning)
  const dates = datesOf(given.created, planning)
  const patch = {
    ...stands,
    ...(given.created !== null && dates),
    ...(given.color !== null && { color: given.color }),
    updated_at: at,
  }
  if (row.id < 0) Object.assign(plan.highlights.find(({ id }) => id === row.id) ?? {}, patch)
  else plan.updates.push({ table: 'highlight', id: row.id, patch })
  row.text = stands.quote
  row.written = given.created ?? row.written
  remember(known, row, key, place, planning)
  const own = keyOf(wordsOf(stands.quote))
  if (own !== key) remember(known, row, own, place, planning)
  return 'changed'
}
