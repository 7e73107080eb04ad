import type { NotNull } from 'kysely'
import type { Change } from '../../core/library.ts'
import type { Db, SyncedTable } from '../../db/schema.ts'

/** Tables whose rows belong to one source; notes and reviews before the highlights that they may be on. */
const OWNED = [
  'version',
  'review',
  'note',
  'highlight',
  'read',
  'text',
  'source_url',
] as const satisfies readonly SyncedTable[]

/** Every synced row that belongs to a source, itself and taggings not included. */
export async function listOwned(
  db: Db,
  sourceId: number,
): Promise<{ table: (typeof OWNED)[number]; id: number }[]> {
  const owned: { table: (typeof OWNED)[number]; id: number }[] = []
  for (const table of OWNED) {
    const rows = await db
      .selectFrom(table)
      .select('id')
      .where('source_id', '=', sourceId)
      .orderBy('id')
      .execute()
    owned.push(...rows.map(({ id }) => ({ table, id })))
  }
  return owned
}

/** Earlier versions of a highlight or note, and the reviews of a highlight. */
export async function listHistory(
  db: Db,
  id: number,
): Promise<{ table: 'version' | 'review'; id: number }[]> {
  const versions = await db.selectFrom('version').select('id').where('row_id', '=', id).execute()
  const reviews = await db.selectFrom('review').select('id').where('highlight_id', '=', id).execute()
  return [
    ...versions.map((row) => ({ table: 'version' as const, id: row.id })),
    ...reviews.map((row) => ({ table: 'review' as const, id: row.id })),
  ]
}

/** Titles of the sources that rows are or belong to, a title once; of rows that are gone nothing is known. */
export async function titlesOf(
  db: Db,
  rows: readonly { table: string; id?: number | undefined }[],
): Promise<string[]> {
  const sourceIds = new Set<number>()
  const idsIn = (table: string) => rows.flatMap((row) => (row.table === table ? (row.id ?? []) : []))
  for (const id of idsIn('source')) sourceIds.add(id)
  for (const table of OWNED) {
    const ids = idsIn(table)
    if (ids.length === 0) continue
    const owners = await db.selectFrom(table).select('source_id').where('id', 'in', ids).execute()
    for (const { source_id } of owners) sourceIds.add(source_id)
  }
  const tagged = idsIn('tagging')
  if (tagged.length > 0) {
    const targets = await db.selectFrom('tagging').select('target_id').where('id', 'in', tagged).execute()
    for (const { target_id } of targets) sourceIds.add(target_id)
  }
  if (sourceIds.size === 0) return []
  const named = db
    .selectFrom('source')
    .select('title')
    .distinct()
    .where('id', 'in', [...sourceIds])
  return (await named.execute()).map(({ title }) => title)
}

/** Takes the tags off things that are about to go for ever. */
export async function eraseTaggings(change: Change, targetIds: readonly number[]): Promise<void> {
  for (let from = 0; from < targetIds.length; from += 500) {
    const taggings = await change.db
      .selectFrom('tagging')
      .select('id')
      .where('target_id', 'in', targetIds.slice(from, from + 500))
      .execute()
    for (const { id } of taggings) await change.erase('tagging', id)
  }
}

/** Moves the tags of one thing to another; one that is there already is not put on twice. */
export async function moveTaggings(change: Change, from: number, to: number): Promise<void> {
  const taggings = await change.db
    .selectFrom('tagging')
    .select(['id', 'tag_id', 'target_id'])
    .where('target_id', 'in', [from, to])
    .execute()
  const there = new Set(taggings.filter(({ target_id }) => target_id === to).map(({ tag_id }) => tag_id))
  for (const { id, tag_id } of taggings.filter(({ target_id }) => target_id === from)) {
    if (there.has(tag_id)) await change.erase('tagging', id)
    else await change.update('tagging', id, { target_id: to })
  }
}

/** Moves what was tried to capture one source to another. */
export async function moveCaptures(change: Change, from: number, to: number): Promise<void> {
  await change.db.updateTable('capture').set({ source_id: to }).where('source_id', '=', from).execute()
}

/** Imports name what they became by the id that it has now. */
export async function moveImports(change: Change, from: number, to: number): Promise<void> {
  await change.db.updateTable('import').set({ source_id: to }).where('source_id', '=', from).execute()
}

/** Hashes of the media that a source, its texts and its captures name. */
export async function listMedia(db: Db, sourceId: number): Promise<Set<string>> {
  const sources = await db.selectFrom('source').select('cover').where('id', '=', sourceId).execute()
  const texts = await db.selectFrom('text').select('raw').where('source_id', '=', sourceId).execute()
  const captures = await db.selectFrom('capture').select('given').where('source_id', '=', sourceId).execute()
  const hashes = [
    ...sources.map(({ cover }) => cover),
    ...texts.map(({ raw }) => raw),
    ...captures.map(({ given }) => given),
  ]
  return new Set(hashes.filter((hash) => hash !== null))
}

/** Whether anything in the library names a media file. */
export async function isMediaNamed(db: Db, hash: string): Promise<boolean> {
  const { named } = await db
    .selectNoFrom((of) =>
      of
        .or([
          of.exists(of.selectFrom('source').select('id').where('cover', '=', hash)),
          of.exists(of.selectFrom('text').select('id').where('raw', '=', hash)),
          of.exists(of.selectFrom('capture').select('id').where('given', '=', hash)),
          of.exists(of.selectFrom('import').select('id').where('report', '=', hash)),
          of.exists(
            of
              .selectFrom('import')
              .select('id')
              .where('file_hash', '=', hash)
              .where('status', 'in', ['pending', 'processing']),
          ),
        ])
        .as('named'),
    )
    .executeTakeFirstOrThrow()
  return Boolean(named)
}

/**
 * A media file that a source shows which is not in the trash: as its cover, as the file that was given for it, or as what a text
 * was made from. `name` is what it was called when it came.
 */
export async function findMedia(db: Db, hash: string): Promise<{ name: string | null } | undefined> {
  const given = await db
    .selectFrom('capture')
    .innerJoin('source', 'source.id', 'capture.source_id')
    .select('capture.given_name as name')
    .where('capture.given', '=', hash)
    .where('source.trashed_at', 'is', null)
    .orderBy('capture.id')
    .executeTakeFirst()
  if (given) return given
  const shown = db
    .selectFrom('source')
    .select('id')
    .where('cover', '=', hash)
    .where('trashed_at', 'is', null)
    .unionAll((of) =>
      of
        .selectFrom('text')
        .innerJoin('source', 'source.id', 'text.source_id')
        .select('text.id')
        .where('text.raw', '=', hash)
        .where('source.trashed_at', 'is', null),
    )
  return (await shown.executeTakeFirst()) && { name: null }
}

/** Every media file that the library names, with the title of the source that it belongs to. */
export const listNamedMedia = (db: Db): Promise<{ hash: string; title: string }[]> =>
  db
    .selectFrom('source')
    .select(['source.cover as hash', 'title'])
    .where('cover', 'is not', null)
    .unionAll((of) =>
      of
        .selectFrom('text')
        .innerJoin('source', 'source.id', 'text.source_id')
        .select(['text.raw as hash', 'title'])
        .where('raw', 'is not', null),
    )
    .unionAll((of) =>
      of
        .selectFrom('capture')
        .innerJoin('source', 'source.id', 'capture.source_id')
        .select(['capture.given as hash', 'title'])
        .where('given', 'is not', null),
    )
    .$narrowType<{ hash: NotNull }>()
    .execute()
