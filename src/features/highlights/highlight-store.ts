import type { Selectable } from 'kysely'
import type { Change } from '../../core/library.ts'
import type { Db, HighlightTable } from '../../db/schema.ts'
import { aliasTarget } from '../sources/source-store.ts'
import { placeAt, readPlaces, type Place } from '../texts/places.ts'
import type { Anchor } from './anchor.ts'
import { sameWords } from './fold.ts'
import type { ShownHighlight } from './schema.ts'

export type Highlight = Selectable<HighlightTable>

/** Adds a highlight that stands in a text version; its locator is the page, chapter or moment where it stands, unless given. */
export async function insertAnchored(
  change: Change,
  text: { id: number; source_id: number; places: string | null },
  anchor: Anchor,
  origin: Highlight['origin'] = 'reader',
  locator = placeAt(readPlaces(text.places), anchor.start),
): Promise<Highlight> {
  const id = await change.insert('highlight', {
    source_id: text.source_id,
    ...anchorColumns(text.id, anchor),
    locator,
    origin,
    created_at: change.at,
    updated_at: change.at,
  })
  return change.db.selectFrom('highlight').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** A highlight that is there to be changed: neither it nor its source lies in the trash. An id given up for another is followed. */
export async function findHighlightRow(db: Db, id: number): Promise<Highlight | undefined> {
  const found = await db
    .selectFrom('highlight')
    .innerJoin('source', 'source.id', 'highlight.source_id')
    .selectAll('highlight')
    .where('highlight.id', '=', id)
    .where('highlight.trashed_at', 'is', null)
    .where('source.trashed_at', 'is', null)
    .executeTakeFirst()
  if (found) return found
  const target = await aliasTarget(db, id)
  return target === undefined ? undefined : findHighlightRow(db, target)
}

/** The same wherever it lies. */
export const findAnyHighlight = (db: Db, id: number): Promise<Highlight | undefined> =>
  db.selectFrom('highlight').selectAll().where('id', '=', id).executeTakeFirst()

/** Highlights in the trash whose source is not, last thrown away first. */
export const listTrashedHighlights = (db: Db): Promise<(Highlight & { title: string })[]> =>
  db
    .selectFrom('highlight')
    .innerJoin('source', 'source.id', 'highlight.source_id')
    .selectAll('highlight')
    .select('source.title')
    .where('highlight.trashed_at', 'is not', null)
    .where('source.trashed_at', 'is', null)
    .orderBy('highlight.trashed_at', 'desc')
    .orderBy('highlight.id', 'desc')
    .execute()

/** Adds words that stand in no text of ours. */
export async function insertUnanchored(
  change: Change,
  { sourceId, quote, locator }: { sourceId: number; quote: string; locator: string | null },
): Promise<Highlight> {
  const id = await change.insert('highlight', {
    source_id: sourceId,
    quote,
    locator,
    state: 'unanchored',
    origin: 'reader',
    created_at: change.at,
    updated_at: change.at,
  })
  return change.db.selectFrom('highlight').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

/** Every highlight of a source, but for the trash, that does not stand in its text: those that words may be the same as. */
export const listLoose = (db: Db, sourceId: number): Promise<Highlight[]> =>
  db
    .selectFrom('highlight')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where('state', '!=', 'anchored')
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .execute()

/** The highlight of the same words at the same place, unless it is in the trash. */
export async function findStanding(
  db: Db,
  text: { id: number; source_id: number },
  anchor: Anchor,
): Promise<Highlight | undefined> {
  const there = await db
    .selectFrom('highlight')
    .selectAll()
    .where('source_id', '=', text.source_id)
    .where('text_id', '=', text.id)
    .where('state', '=', 'anchored')
    .where('start_offset', '<', anchor.end)
    .where('end_offset', '>', anchor.start)
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .execute()
  return there.find(({ quote }) => sameWords(quote, anchor.quote))
}

/** Where a highlight stands, and its words. */
export type Mark = Pick<Highlight, 'text_id' | 'state' | 'quote' | 'start_offset' | 'end_offset'>

/** Every highlight of a source, those in the trash included, in the order of the text. */
export const listMarks = (
  db: Db,
  sourceId: number,
  { origin }: { origin?: Highlight['origin'] } = {},
): Promise<Mark[]> =>
  db
    .selectFrom('highlight')
    .select(['text_id', 'state', 'quote', 'start_offset', 'end_offset'])
    .where('source_id', '=', sourceId)
    .$if(origin !== undefined, (query) => query.where('origin', '=', origin!))
    .orderBy('start_offset')
    .orderBy('id')
    .execute()

/** Highlights of a source that do not stand in the text version, those in the trash included: they may be restored. */
export const listElsewhere = (db: Db, sourceId: number, textId: number): Promise<Highlight[]> =>
  db
    .selectFrom('highlight')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where((where) => where.or([where('text_id', 'is', null), where('text_id', '!=', textId)]))
    .orderBy('id')
    .execute()

/** Notes where a highlight stands now, and the page, chapter or moment if none was known of it. */
export function moveTo(
  change: Change,
  highlight: Pick<Highlight, 'id' | 'locator'>,
  text: { id: number; places: readonly Place[] },
  anchor: Anchor,
) {
  return change.update('highlight', highlight.id, {
    ...anchorColumns(text.id, anchor),
    locator: highlight.locator ?? placeAt(text.places, anchor.start),
    updated_at: change.at,
  })
}

/** Notes that the words are gone from the current text. Quote, offsets and the version they belong to are kept. */
export const orphan = (change: Change, id: number) =>
  change.update('highlight', id, { state: 'orphaned', updated_at: change.at })

export async function findPlain(db: Db, textId: number): Promise<{ id: number; plain: string } | undefined> {
  return db.selectFrom('text').select(['id', 'plain']).where('id', '=', textId).executeTakeFirst()
}

export async function findCurrentPlain(
  db: Db,
  sourceId: number,
): Promise<{ id: number; plain: string; places: string | null } | undefined> {
  return db
    .selectFrom('text')
    .innerJoin('source', 'source.text_id', 'text.id')
    .select(['text.id', 'text.plain', 'text.places'])
    .where('source.id', '=', sourceId)
    .executeTakeFirst()
}

export const showHighlight = (highlight: Highlight): ShownHighlight => ({
  id: String(highlight.id),
  itemId: String(highlight.source_id),
  quote: highlight.quote,
  start: highlight.start_offset,
  end: highlight.end_offset,
  textVersion: highlight.text_id === null ? null : String(highlight.text_id),
  matched: matchedOf(highlight),
  state: highlight.state,
  createdAt: highlight.created_at,
  updatedAt: highlight.updated_at,
})

function matchedOf({ matched }: Highlight): ShownHighlight['matched'] {
  return matched === 'exact' || matched === 'folded' || matched === 'approximate' ? matched : null
}

/** Columns of a highlight that stands in a text. */
export const anchorColumns = (textId: number, anchor: Anchor) => ({
  text_id: textId,
  quote: anchor.quote,
  prefix: anchor.prefix,
  suffix: anchor.suffix,
  start_offset: anchor.start,
  end_offset: anchor.end,
  matched: anchor.matched,
  state: 'anchored' as const,
})
