import type { RawBuilder } from 'kysely'
import { engineOf } from '../../db/engine.ts'
import type { Db } from '../../db/schema.ts'
import type { Source } from '../sources/source-store.ts'
import { KnownSource, type KnownHighlight, type KnownNote, type RowState } from './known-source.ts'
import { readPlace, type MarkPlace } from './mark-place.ts'
import { readKey } from './read-key.ts'

/** Of these digests those that an earlier import kept for a source, each with the source's id. */
export async function findRemembered(
  db: Db,
  keys: readonly string[],
): Promise<{ key: string; id: number }[]> {
  if (keys.length === 0) return []
  const rows = await db
    .selectFrom('imported')
    .select(['key', 'row_id'])
    .where('kind', '=', 'source')
    .where('key', 'in', texts(db, keys))
    .orderBy('id')
    .execute()
  const given = await aliasesOf(
    db,
    rows.map(({ row_id }) => row_id),
  )
  return rows.map(({ key, row_id }) => ({ key, id: given.get(row_id) ?? row_id }))
}

/** The tags that bear one of these names. */
export const loadTags = async (
  db: Db,
  keys: readonly string[],
): Promise<{ id: number; name_key: string }[]> =>
  keys.length === 0
    ? []
    : await db.selectFrom('tag').select(['id', 'name_key']).where('name_key', 'in', texts(db, keys)).execute()

/** Sources with all that an import compares; of one that was deleted for good only that it was. */
export async function loadSources(db: Db, ids: readonly number[]): Promise<KnownSource[]> {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('source').selectAll().where('id', 'in', numbers(db, ids)).execute()
  const known = new Map(
    rows.map((source) => [
      source.id,
      new KnownSource(source, source.trashed_at === null ? 'there' : 'trashed'),
    ]),
  )
  const here = [...known.keys()]
  const live = [...known.values()].filter(({ state }) => state === 'there').map(({ source }) => source.id)
  for (const id of ids) if (!known.has(id)) known.set(id, new KnownSource(goneSource(id), 'gone'))
  if (live.length > 0) await loadMarks(db, known, live, await formerIds(db, here))
  return [...known.values()]
}

const goneSource = (id: number): Source => ({
  id,
  clock: '',
  clocks: '{}',
  kind: 'article',
  title: '',
  match_key: '',
  authors: '[]',
  language: null,
  site: null,
  published: null,
  description: null,
  publisher: null,
  url: null,
  isbn13: null,
  isbns: '[]',
  cover: null,
  text_id: null,
  words: null,
  created_at: '',
  updated_at: '',
  trashed_at: null,
})

/** Ids that sources had before they were joined into others: what was kept of an import then bears them still. */
async function formerIds(db: Db, ids: readonly number[]): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('alias')
    .select(['id', 'target_id'])
    .where('target_id', 'in', numbers(db, ids))
    .execute()
  return new Map([
    ...ids.map((id) => [id, id] as const),
    ...rows.map(({ id, target_id }) => [id, target_id] as const),
  ])
}

async function loadMarks(
  db: Db,
  known: ReadonlyMap<number, KnownSource>,
  ids: readonly number[],
  formerly: ReadonlyMap<number, number>,
): Promise<void> {
  const given = await loadGiven(db, [...formerly.keys()])
  const stateOf = ({ trashed_at }: { trashed_at: string | null }): RowState =>
    trashed_at === null ? 'there' : 'trashed'
  for (const row of await db
    .selectFrom('highlight')
    .select([
      'id',
      'source_id',
      'quote',
      'prefix',
      'suffix',
      'locator',
      'origin',
      'written',
      'created_at',
      'trashed_at',
    ])
    .where('source_id', 'in', numbers(db, ids))
    .orderBy('id')
    .execute()) {
    const { id, source_id, quote, locator, origin, written, created_at } = row
    const place = readPlace(locator)
    const kept = given.highlight.get(id)
    given.highlight.delete(id)
    known.get(source_id)?.addHighlight({
      id,
      state: stateOf(row),
      text: quote,
      given: kept?.keys ?? new Set(),
      places: [...(kept?.places ?? []), ...(place ? [place] : [])],
      created: created_at,
      written,
      locator,
      origin,
    })
  }
  for (const row of await db
    .selectFrom('note')
    .select(['id', 'source_id', 'highlight_id', 'kind', 'body', 'written', 'created_at', 'trashed_at'])
    .where('source_id', 'in', numbers(db, ids))
    .orderBy('id')
    .execute()) {
    const { id, source_id, highlight_id, kind, body, written, created_at } = row
    const kept = given.note.get(id)
    given.note.delete(id)
    known.get(source_id)?.addNote({
      id,
      state: stateOf(row),
      text: body,
      given: kept?.keys ?? new Set(),
      places: kept?.places ?? [],
      highlightId: highlight_id,
      kind,
      created: created_at,
      written,
    })
  }
  await addGone(db, known, formerly, given)
  await loadReads(db, known, ids, given)
  for (const { source_id, hash } of await db
    .selectFrom('text')
    .select(['source_id', 'hash'])
    .where('source_id', 'in', numbers(db, ids))
    .execute())
    known.get(source_id)?.texts.add(hash)
  for (const [sourceId, keys] of given.text)
    for (const key of keys) known.get(formerly.get(sourceId) ?? sourceId)?.texts.add(key)
  for (const [sourceId, keys] of given.tagging)
    for (const key of keys) known.get(formerly.get(sourceId) ?? sourceId)?.tagsGiven.add(key)
  for (const { owner, target_id, tag_id } of await loadTaggings(db, ids))
    known.get(owner)?.tags.add(`${target_id} ${tag_id}`)
}

interface Kept {
  sourceId: number
  keys: Set<string>
  places: MarkPlace[]
}

interface Given {
  highlight: Map<number, Kept>
  note: Map<number, Kept>
  read: Map<number, Kept>
  tagging: Map<number, Set<string>>
  text: Map<number, Set<string>>
}

async function loadGiven(db: Db, sourceIds: readonly number[]): Promise<Given> {
  const given: Given = {
    highlight: new Map(),
    note: new Map(),
    read: new Map(),
    tagging: new Map(),
    text: new Map(),
  }
  for (const { source_id, kind, key, place, row_id } of await db
    .selectFrom('imported')
    .select(['source_id', 'kind', 'key', 'place', 'row_id'])
    .where('source_id', 'in', numbers(db, sourceIds))
    .where('kind', '<>', 'source')
    .orderBy('id')
    .execute()) {
    if (kind === 'source') continue
    if (kind === 'tagging' || kind === 'text') {
      const keys = given[kind].get(source_id)
      if (keys) keys.add(key)
      else given[kind].set(source_id, new Set([key]))
      continue
    }
    let kept = given[kind].get(row_id)
    if (!kept) given[kind].set(row_id, (kept = { sourceId: source_id, keys: new Set(), places: [] }))
    kept.keys.add(key)
    const known = readPlace(place)
    if (known) kept.places.push(known)
  }
  return given
}

/** What is remembered of highlights and notes that are no more; one that was joined into another stands for that. */
async function addGone(
  db: Db,
  known: ReadonlyMap<number, KnownSource>,
  formerly: ReadonlyMap<number, number>,
  given: Given,
): Promise<void> {
  const aliases = await aliasesOf(db, [...given.highlight.keys(), ...given.note.keys()])
  const gone = { state: 'gone' as const, text: '', created: '', written: null }
  for (const [id, { sourceId, keys, places }] of given.highlight) {
    const source = known.get(formerly.get(sourceId) ?? sourceId)
    const joined = source?.highlights.get(aliases.get(id) ?? 0)
    if (joined) {
      for (const key of keys) source?.give(joined, key, null)
      source?.addPlaces(joined, places)
    } else
      source?.addHighlight({
        ...gone,
        id,
        given: keys,
        places,
        locator: null,
        origin: 'import',
      } satisfies KnownHighlight)
  }
  for (const [id, { sourceId, keys, places }] of given.note) {
    const source = known.get(formerly.get(sourceId) ?? sourceId)
    const highlightId = places.find(({ on }) => on !== undefined)?.on ?? null
    source?.addNote({ ...gone, id, given: keys, places, highlightId, kind: 'comment' } satisfies KnownNote)
  }
}

async function loadReads(
  db: Db,
  known: ReadonlyMap<number, KnownSource>,
  ids: readonly number[],
  given: Given,
): Promise<void> {
  for (const row of await db
    .selectFrom('read')
    .selectAll()
    .where('source_id', 'in', numbers(db, ids))
    .orderBy('created_at')
    .orderBy('id')
    .execute()) {
    const source = known.get(row.source_id)
    const kept = given.read.get(row.id)
    given.read.delete(row.id)
    for (const key of kept?.keys ?? []) source?.readsGiven.add(key)
    source?.reads.push({
      id: row.id,
      state: row.trashed_at === null ? 'there' : 'trashed',
      isUntouched: kept?.keys.has(readKey(row)) ?? false,
      status: row.status,
      created: row.created_at,
    })
  }
  for (const [, { sourceId, keys }] of given.read)
    for (const key of keys) known.get(sourceId)?.readsGiven.add(key)
}

/** Tags on sources and on their highlights, each with the source. */
async function loadTaggings(
  db: Db,
  sourceIds: readonly number[],
): Promise<{ owner: number; target_id: number; tag_id: number }[]> {
  const ofSources = await db
    .selectFrom('tagging')
    .select(['target_id as owner', 'target_id', 'tag_id'])
    .where('target_id', 'in', numbers(db, sourceIds))
    .execute()
  const ofHighlights = await db
    .selectFrom('highlight')
    .innerJoin('tagging', 'tagging.target_id', 'highlight.id')
    .select(['highlight.source_id as owner', 'tagging.target_id', 'tagging.tag_id'])
    .where('highlight.source_id', 'in', numbers(db, sourceIds))
    .execute()
  return [...ofSources, ...ofHighlights]
}

async function aliasesOf(db: Db, ids: readonly number[]): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('alias')
    .select(['id', 'target_id'])
    .where('id', 'in', numbers(db, ids))
    .execute()
  return new Map(rows.map(({ id, target_id }) => [id, target_id]))
}

/** A list as one parameter, however long it is. */
function numbers(db: Db, ids: readonly number[]): RawBuilder<number> {
  const { lists } = engineOf(db)
  return lists.rows(lists.bind(ids), 'bigint')
}

function texts(db: Db, list: readonly string[]): RawBuilder<string> {
  const { lists } = engineOf(db)
  return lists.rows(lists.bind(list), 'text')
}
