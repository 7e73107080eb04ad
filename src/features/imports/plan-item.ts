import type { Patch } from '../../db/changes.ts'
import { matchKey } from '../sources/match.ts'
import { authorsOf, isbnsOf } from '../sources/source-store.ts'
import { urlKey } from '../sources/url-key.ts'
import type { ImportedItem } from './imported.ts'
import { sourceKeys } from './known-library.ts'
import { KnownSource } from './known-source.ts'
import { keyOf, wordsOf } from './mark-place.ts'
import { planHighlight } from './plan-highlight.ts'
import { planNotes } from './plan-notes.ts'
import { planRead } from './plan-read.ts'
import { planTags } from './plan-tags.ts'
import { datesOf, type Planning } from './planning.ts'
import { sourceTags } from './tag-names.ts'

/** Plans one source of a file with everything that the file has of it. Says of each row what becomes of it. */
export function planItem(item: ImportedItem, planning: Planning): void {
  const { library, plan, outcomes, fetches } = planning
  const found = library.find(item.source)
  if (found && found.state !== 'there') {
    plan.counts.deleted += 1 + item.highlights.length + item.notes.length
    for (const row of rowsIn(item)) outcomes.tell(row, 'deleted', { source: found.source.id })
    return
  }
  const known = found ?? planSource(item, planning)
  const { id } = known.source
  for (const key of sourceKeys(item.source)) {
    if (library.remembers(key)) continue
    library.remember(key, id)
    plan.remembered.push({ source_id: id, kind: 'source', key, place: null, row_id: id })
  }
  const filled = found ? fillIn(found, item, planning) : false
  const texts = planText(known, item, planning)
  const tagged = planTags(known, id, sourceTags(item), planning)
  const read = planRead(known, item.reading, planning)
  const noted = planNotes(known, { notes: item.notes, highlightId: null }, planning)
  const said = item.privateNote === null ? false : planPrivateNote(known, item.privateNote, planning)
  const isNew = found === undefined
  const isMore = filled || texts || tagged || read || noted || said
  if (isNew) plan.counts.sources++
  else plan.counts.unchanged++
  if (fetches && known.source.url !== null && known.source.text_id === null && !texts && isNew)
    plan.wanted.push({ sourceId: id, url: known.source.url })
  const title = item.source.title ?? item.source.url ?? ''
  for (const row of item.rows)
    outcomes.tell(row, isNew ? 'new' : isMore ? 'changed' : 'there', { source: id, excerpt: title })
  for (const highlight of item.highlights) planHighlight(known, highlight, planning)
}

function* rowsIn({ rows, highlights, notes }: ImportedItem): Generator<number> {
  yield* rows
  for (const { row } of notes) yield row
  for (const highlight of highlights) {
    yield highlight.row
    for (const { row } of highlight.notes) yield row
  }
}

function planSource(item: ImportedItem, planning: Planning): KnownSource {
  const { library, plan, at } = planning
  const given = item.source
  const { kind, title, authors, url, isbns, language, published, publisher, site, description } = given
  const [isbn13 = null, ...others] = new Set(isbns)
  const shown = title ?? url ?? ''
  const row = {
    id: plan.id(),
    kind,
    title: shown,
    match_key: matchKey(shown, authors),
    authors: JSON.stringify(authors),
    language,
    site,
    published,
    description,
    publisher,
    url,
    isbn13,
    isbns: JSON.stringify(others),
    created_at: datesOf(item.reading.saved, planning).created_at,
    updated_at: at,
  }
  plan.sources.push(row)
  const rest = { clock: '', clocks: '{}', cover: null, text_id: null, words: null, trashed_at: null }
  const known = new KnownSource({ ...row, ...rest }, 'there')
  library.add(known, given)
  if (url !== null) planAddress(known, url, planning)
  return known
}

function planAddress({ source }: KnownSource, url: string, { plan }: Planning): void {
  const key = urlKey(url)
  if (key !== undefined) plan.addresses.push({ id: plan.id(), source_id: source.id, url, url_key: key })
}

/** What the library does not know of a source yet; what it knows stays. */
function fillIn(known: KnownSource, { source: given }: ImportedItem, planning: Planning): boolean {
  const { source } = known
  const patch: Patch<'source'> = {}
  const fill = <K extends 'language' | 'published' | 'publisher' | 'site' | 'description' | 'url'>(
    field: K,
  ): void => {
    const value = given[field]
    if (source[field] === null && value !== null && value !== '') patch[field] = value
  }
  for (const field of ['language', 'published', 'publisher', 'site', 'description', 'url'] as const)
    fill(field)
  if (
    given.title !== null &&
    given.title !== source.title &&
    (source.title === source.url || source.title === '')
  )
    patch.title = given.title
  if (authorsOf(source).length === 0 && given.authors.length > 0)
    patch.authors = JSON.stringify(given.authors)
  if (patch.title !== undefined || patch.authors !== undefined)
    patch.match_key = matchKey(
      patch.title ?? source.title,
      patch.authors === undefined ? authorsOf(source) : given.authors,
    )
  const isbns = new Set([...isbnsOf(source), ...given.isbns])
  if (isbns.size > isbnsOf(source).length) {
    const [first = null, ...others] = isbns
    patch.isbn13 = first
    patch.isbns = JSON.stringify(others)
  }
  // A page that was found by its title is known by its address from now on.
  if (patch.url !== undefined && patch.url !== null) planAddress(known, patch.url, planning)
  if (Object.keys(patch).length === 0) return false
  Object.assign(source, patch)
  if (source.id < 0) Object.assign(planning.plan.sources.find(({ id }) => id === source.id) ?? {}, patch)
  else
    planning.plan.updates.push({
      table: 'source',
      id: source.id,
      patch: { ...patch, updated_at: planning.at },
    })
  return true
}

function planText(known: KnownSource, item: ImportedItem, { plan, textOf }: Planning): boolean {
  const given = textOf(item)
  if (!given || known.texts.has(given.hash)) return false
  const isFirst = known.source.text_id === null && known.texts.size === 0
  known.texts.add(given.hash)
  plan.texts.push({ sourceId: known.source.id, isFirst, text: given.text })
  plan.remembered.push({
    source_id: known.source.id,
    kind: 'text',
    key: given.hash,
    place: null,
    row_id: known.source.id,
  })
  return true
}

/** The reader's own note of a book is one; where there is one already, in the trash too, it stays. */
function planPrivateNote(known: KnownSource, body: string, planning: Planning): boolean {
  if ([...known.notes.values()].some(({ kind }) => kind === 'book')) return false
  const { plan, at } = planning
  const key = keyOf(wordsOf(body))
  if (known.noteOf(key, null)) return false
  const id = plan.id()
  const row = { id, source_id: known.source.id, highlight_id: null, kind: 'book' as const, body, written: '' }
  plan.notes.push({ ...row, created_at: at, updated_at: at })
  known.addNote({
    id,
    state: 'there',
    text: body,
    given: new Set([key]),
    places: [],
    highlightId: null,
    kind: 'book',
    created: at,
    written: '',
  })
  plan.remembered.push({ source_id: known.source.id, kind: 'note', key, place: null, row_id: id })
  plan.counts.notes++
  return true
}
