import type { Change, Library } from '../../core/library.ts'
import type { WordRow } from '../../db/full-text.ts'
import type { Db, SourceTable } from '../../db/schema.ts'
import type { Selectable } from 'kysely'
import { fullText } from './indexes.ts'
import { embedPassages } from './jobs/embed-passages.ts'
import {
  addPassages,
  passagesOf,
  removePassages,
  wordsOf,
  type NewPassage,
  type Passage,
} from './passage-store.ts'
import { cutPassages } from './passages.ts'

/**
 * Brings the searchable passages of a source up to what the source, its text, highlights and notes now say; of a source
 * that is gone or in the trash there are none. A passage whose words stayed keeps its id and its vector.
 */
export async function indexSource(change: Change, sourceId: number): Promise<void> {
  await fullText(change.db).add(change.db, await indexPassages(change, sourceId))
}

/** Words that are gathered in a bulk load before they are put into the index. */
const MOST_GATHERED = 20_000

/** `indexSource` for many sources in one change: a good deal less work a passage for the word index. */
export async function indexSources(change: Change, sourceIds: readonly number[]): Promise<void> {
  const { db } = change
  await fullText(db).bulk(db, async () => {
    let gathered: WordRow[] = []
    for (const id of sourceIds) {
      gathered = gathered.concat(await indexPassages(change, id))
      if (gathered.length < MOST_GATHERED) continue
      await fullText(db).add(db, gathered)
      gathered = []
    }
    await fullText(db).add(db, gathered)
  })
}

/** Rows that were added in this change and of which nothing can be found yet. */
export interface FreshRows {
  /** Without a text. */
  sources: readonly (Omit<IndexedSource, 'text_id'> & { text_id?: null })[]
  highlights: readonly { id: number; source_id: number; quote: string }[]
  notes: readonly { id: number; source_id: number; body: string }[]
}

/** Makes new rows searchable without looking at what else their sources have: for a great many at once. */
export async function indexFresh(change: Change, { sources, highlights, notes }: FreshRows): Promise<void> {
  const { db } = change
  const passages: NewPassage[] = []
  for (const source of sources) {
    const { id, description } = source
    passages.push({ source_id: id, kind: 'head', owner_id: id, start_offset: 0, body: headOf(source) })
    if (description) passages.push(...cutBody(id, 'text', id, description))
  }
  for (const { id, source_id, quote } of highlights)
    passages.push(...cutBody(source_id, 'highlight', id, quote))
  for (const { id, source_id, body } of notes) passages.push(...cutBody(source_id, 'note', id, body))
  if (passages.length === 0) return
  await change.later(embedPassages, {}, { key: 'embed' })
  await fullText(db).bulk(db, async () => fullText(db).add(db, await addPassages(db, passages)))
}

/** Everything but the words of new passages, which it gives. */
async function indexPassages(change: Change, sourceId: number): Promise<WordRow[]> {
  const { db } = change
  const source = await liveSource(db, sourceId)
  const wanted = source ? await derivePassages(db, source) : []
  return writePassages(change, await passagesOf(db, sourceId), wanted)
}

/** Brings the passages of one highlight up to date, notes on it not included. */
export async function indexHighlight(change: Change, highlightId: number): Promise<void> {
  const { db } = change
  const highlight = await db
    .selectFrom('highlight')
    .select(['id', 'source_id', 'quote', 'trashed_at'])
    .where('id', '=', highlightId)
    .executeTakeFirst()
  if (!highlight) return removeOwned(change, 'highlight', highlightId)
  const live = highlight.trashed_at === null && (await liveSource(db, highlight.source_id)) !== undefined
  const wanted = live ? cutBody(highlight.source_id, 'highlight', highlightId, highlight.quote) : []
  const present = await passagesOf(db, highlight.source_id, { kind: 'highlight', ownerId: highlightId })
  await fullText(db).add(db, await writePassages(change, present, wanted))
}

/** Brings the passages of one note up to date. */
export async function indexNote(change: Change, noteId: number): Promise<void> {
  const { db } = change
  const note = await db
    .selectFrom('note')
    .leftJoin('highlight', 'highlight.id', 'note.highlight_id')
    .select(['note.id', 'note.source_id', 'kind', 'body', 'note.trashed_at', 'highlight.trashed_at as gone'])
    .where('note.id', '=', noteId)
    .executeTakeFirst()
  if (!note) return removeOwned(change, 'note', noteId)
  const live = note.trashed_at === null && note.gone === null && note.kind === 'comment'
  const shown = live && (await liveSource(db, note.source_id)) !== undefined
  const wanted = shown ? cutBody(note.source_id, 'note', noteId, note.body) : []
  const present = await passagesOf(db, note.source_id, { kind: 'note', ownerId: noteId })
  await fullText(db).add(db, await writePassages(change, present, wanted))
}

export interface RebuildOptions {
  signal?: AbortSignal
  progress?: (done: number, total: number) => void
}

/**
 * Derives everything that is searched anew: passages source by source, then the whole word index in one change, during
 * which nobody else can write (about half a minute for a million passages). Vectors of unchanged passages stay.
 */
export async function rebuildIndex(library: Library, options: RebuildOptions = {}): Promise<void> {
  const ids = await library.db.selectFrom('source').select('id').orderBy('id').execute()
  for (let from = 0; from < ids.length; from += 20) {
    options.signal?.throwIfAborted()
    options.progress?.(from, ids.length)
    await library.change((change) =>
      indexSources(
        change,
        ids.slice(from, from + 20).map(({ id }) => id),
      ),
    )
  }
  await library.change((change) => rebuildWords(change.db))
  options.progress?.(ids.length, ids.length)
}

/** Makes the word index anew from the passages as they stand. */
async function rebuildWords(db: Db): Promise<void> {
  await fullText(db).clear(db)
  await fullText(db).bulk(db, async () => {
    for (let last = 0; ;) {
      const rows = await db
        .selectFrom('passage')
        .select(['id', 'kind', 'body'])
        .where('id', '>', last)
        .orderBy('id')
        .limit(2_000)
        .execute()
      if (rows.length === 0) return
      await fullText(db).add(db, rows.map(wordsOf))
      last = rows.at(-1)!.id
    }
  })
}

type IndexedSource = Pick<
  Selectable<SourceTable>,
  'id' | 'title' | 'authors' | 'site' | 'url' | 'description' | 'text_id'
>

function liveSource(db: Db, id: number): Promise<IndexedSource | undefined> {
  return db
    .selectFrom('source')
    .select(['id', 'title', 'authors', 'site', 'url', 'description', 'text_id'])
    .where('id', '=', id)
    .where('trashed_at', 'is', null)
    .executeTakeFirst()
}

async function derivePassages(db: Db, source: IndexedSource): Promise<NewPassage[]> {
  const { id } = source
  const passages: NewPassage[] = [
    { source_id: id, kind: 'head', owner_id: id, start_offset: 0, body: headOf(source) },
  ]
  const text =
    source.text_id === null
      ? undefined
      : await db
          .selectFrom('text')
          .select(['id', 'plain'])
          .where('id', '=', source.text_id)
          .executeTakeFirst()
  if (text) passages.push(...cutBody(id, 'text', text.id, text.plain))
  else if (source.description) passages.push(...cutBody(id, 'text', id, source.description))
  const highlights = await db
    .selectFrom('highlight')
    .select(['id', 'quote'])
    .where('source_id', '=', id)
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .execute()
  for (const highlight of highlights)
    passages.push(...cutBody(id, 'highlight', highlight.id, highlight.quote))
  const notes = await db
    .selectFrom('note')
    .leftJoin('highlight', 'highlight.id', 'note.highlight_id')
    .select(['note.id', 'body'])
    .where('note.source_id', '=', id)
    .where('kind', '=', 'comment')
    .where('note.trashed_at', 'is', null)
    .where('highlight.trashed_at', 'is', null)
    .orderBy('note.id')
    .execute()
  for (const note of notes) passages.push(...cutBody(id, 'note', note.id, note.body))
  return passages
}

/** Title, authors, site and address, a line each. */
function headOf({ title, authors, site, url }: Omit<IndexedSource, 'text_id'>): string {
  const names = (JSON.parse(authors) as string[]).join(', ')
  return [title, names, site ?? '', url ?? ''].join('\n').trimEnd()
}

const cutBody = (sourceId: number, kind: Passage['kind'], ownerId: number, body: string): NewPassage[] =>
  cutPassages(body).map(({ start, text }) => ({
    source_id: sourceId,
    kind,
    owner_id: ownerId,
    start_offset: start,
    body: text,
  }))

/** Makes the passages those that are wanted; gives the words of the new ones. */
async function writePassages(
  change: Change,
  present: readonly Passage[],
  wanted: readonly NewPassage[],
): Promise<WordRow[]> {
  const { db } = change
  const spare = new Map<string, Passage[]>()
  for (const passage of present) {
    const key = keyOf(passage)
    const same = spare.get(key)
    if (same) same.push(passage)
    else spare.set(key, [passage])
  }
  const added: NewPassage[] = []
  const moved: { id: number; owner_id: number; start_offset: number }[] = []
  for (const passage of wanted) {
    const same = spare.get(keyOf(passage))?.shift()
    if (!same) added.push(passage)
    else if (same.owner_id !== passage.owner_id || same.start_offset !== passage.start_offset) {
      moved.push({ id: same.id, owner_id: passage.owner_id, start_offset: passage.start_offset })
    }
  }
  await removePassages(
    db,
    [...spare.values()].flat().map(({ id }) => id),
  )
  for (const { id, ...place } of moved) {
    await db.updateTable('passage').set(place).where('id', '=', id).execute()
  }
  if (added.length === 0) return []
  await change.later(embedPassages, {}, { key: 'embed' })
  return addPassages(db, added)
}

/** What makes two passages the same: a new version of a text keeps those whose words it keeps, wherever they stand now. */
const keyOf = ({ kind, owner_id, body }: NewPassage): string =>
  `${kind} ${kind === 'text' ? '' : owner_id} ${body}`

async function removeOwned(change: Change, kind: Passage['kind'], ownerId: number): Promise<void> {
  const rows = await change.db
    .selectFrom('passage')
    .select('id')
    .where('kind', '=', kind)
    .where('owner_id', '=', ownerId)
    .execute()
  await removePassages(
    change.db,
    rows.map(({ id }) => id),
  )
}
