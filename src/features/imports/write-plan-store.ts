import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Change } from '../../core/library.ts'
import type { NewRow, Touched } from '../../db/changes.ts'
import { engineOf } from '../../db/engine.ts'
import type { Db, SyncedTable } from '../../db/schema.ts'
import { requestCapture } from '../capture/capture-source.ts'
import { reanchorHighlights } from '../highlights/highlights.ts'
import { indexFresh, indexHighlight, indexNote, indexSources } from '../search/index-source.ts'
import { addTextVersion } from '../texts/text-store.ts'
import type { ImportPlan, Remembered } from './import-plan.ts'
import type { ImportedRow } from './import-store.ts'
import { keyOf } from './mark-place.ts'

const ROWS_A_STATEMENT = 400
/** Fields of a source that its searchable head is made of. */
const HEAD = ['title', 'authors', 'site', 'url', 'description'] as const

/**
 * Writes what was planned and makes it searchable. Gives the ids that its rows have got, and everything that was added or
 * changed, for the undo.
 */
export async function writePlan(
  change: Change,
  plan: ImportPlan,
): Promise<{ idOf: (id: number) => number; rows: ImportedRow[] }> {
  const ids = new Map<number, number>()
  const idOf = (id: number): number => (id > 0 ? id : (ids.get(id) ?? id))
  const from = change.touched.length
  const extra: ImportedRow[] = []

  async function insert<T extends SyncedTable>(
    table: T,
    rows: readonly (NewRow<T> & { id: number })[],
  ): Promise<void> {
    for (const { id } of rows) ids.set(id, await change.newId())
    await change.insertMany(
      table,
      rows.map((row) => withIds(row, idOf)),
    )
  }

  await insert('tag', plan.tags)
  await insert('source', plan.sources)
  await insert('source_url', await newAddresses(change.db, plan.addresses))
  await insert('highlight', plan.highlights)
  await insert('note', plan.notes)
  await insert('read', plan.reads)
  await insert('version', plan.versions)
  await insert('tagging', plan.taggings)
  for (const { table, id, patch } of plan.updates) {
    // One table at a time for the compiler.
    if (table === 'source') await change.update(table, id, patch)
    else if (table === 'highlight') await change.update(table, id, patch)
    else if (table === 'note') await change.update(table, id, withIds(patch, idOf))
    else await change.update(table, id, patch)
  }
  await remember(change, plan.remembered, idOf)

  const withText = new Set<number>()
  for (const { sourceId, isFirst, text } of plan.texts) {
    const id = idOf(sourceId)
    withText.add(id)
    if (isFirst) {
      const { verdict, textId } = await addTextVersion(change, { id, text_id: null }, text)
      if (verdict === 'current')
        await reanchorHighlights(change, id, { id: textId, plain: text.plain, places: text.places })
    } else {
      const hash = createHash('sha256').update(text.markdown).digest('hex')
      await change.insert('text', { ...text, source_id: id, hash, captured_at: change.at, state: 'kept' })
    }
  }
  for (const { url } of plan.wanted) {
    const { captureId, begun } = await requestCapture(change, { url })
    if (captureId !== undefined && begun) extra.push(['capture', captureId])
  }

  const isFresh = (id: number): boolean => !withText.has(id)
  await indexFresh(change, {
    sources: plan.sources
      .map(({ id, title, authors, site = null, url = null, description = null }) => ({
        id: idOf(id),
        title,
        authors,
        site,
        url,
        description,
      }))
      .filter(({ id }) => isFresh(id)),
    highlights: plan.highlights
      .map(({ id, source_id, quote }) => ({ id: idOf(id), source_id: idOf(source_id), quote }))
      .filter(({ source_id }) => isFresh(source_id)),
    notes: plan.notes
      .filter(({ kind }) => kind === 'comment')
      .map(({ id, source_id, body }) => ({ id: idOf(id), source_id: idOf(source_id), body }))
      .filter(({ source_id }) => isFresh(source_id)),
  })
  const changedHeads = plan.updates.flatMap(({ table, id, patch }) =>
    table === 'source' && HEAD.some((field) => patch[field] !== undefined) ? [id] : [],
  )
  const whole = [...new Set([...withText, ...changedHeads])]
  if (whole.length > 0) await indexSources(change, whole)
  for (const { table, id } of plan.updates) {
    if (table === 'highlight') await indexHighlight(change, id)
    else if (table === 'note') await indexNote(change, id)
  }
  return { idOf, rows: [...(await changesSince(change, from)), ...extra] }
}

/** Columns that hold the id of another row. */
const REFERENCES = new Set(['id', 'source_id', 'highlight_id', 'row_id', 'tag_id', 'target_id'])

function withIds<R extends object>(row: R, idOf: (id: number) => number): R {
  const entries = Object.entries(row).map(([column, value]: [string, unknown]) => [
    column,
    typeof value === 'number' && REFERENCES.has(column) ? idOf(value) : value,
  ])
  // The same row but for its numbers.
  return Object.fromEntries(entries) as R
}

/** An address that another source has already stays with that. */
async function newAddresses<T extends { url_key: string }>(db: Db, addresses: readonly T[]): Promise<T[]> {
  if (addresses.length === 0) return []
  const { lists } = engineOf(db)
  const keys = lists.rows<string>(lists.bind(addresses.map(({ url_key }) => url_key)), 'text')
  const rows = await db.selectFrom('source_url').select('url_key').where('url_key', 'in', keys).execute()
  const known = new Set(rows.map(({ url_key }) => url_key))
  return addresses.filter(({ url_key }) => !known.has(url_key) && known.add(url_key))
}

async function remember(
  change: Change,
  all: readonly Remembered[],
  idOf: (id: number) => number,
): Promise<void> {
  for (let from = 0; from < all.length; from += ROWS_A_STATEMENT) {
    const values = []
    for (const { source_id, kind, key, place, row_id } of all.slice(from, from + ROWS_A_STATEMENT)) {
      values.push({
        id: await change.newId(),
        source_id: idOf(source_id),
        kind,
        key:
          typeof key === 'string'
            ? key
            : keyOf(...key.map((part) => (typeof part === 'number' ? idOf(part) : part))),
        place:
          place &&
          JSON.stringify(
            'on' in place && typeof place.on === 'number' ? { ...place, on: idOf(place.on) } : place,
          ),
        row_id: idOf(row_id),
      })
    }
    await change.db.insertInto('imported').values(values).execute()
  }
}

/** Everything that a change has done since: new rows by their ids, changed ones with what they were and are. */
async function changesSince(change: Change, from: number): Promise<ImportedRow[]> {
  const touched = change.touched.slice(from)
  const rows: ImportedRow[] = touched.flatMap(({ table, id, op }) =>
    op === 'insert' ? [[table, id] as const] : [],
  )
  const added = new Set(rows.map(([, id]) => id))
  const before = new Map<number, { table: Touched['table']; fields: Record<string, unknown> }>()
  for (const { table, id, op, before: was = {} } of touched) {
    if (op !== 'update' || added.has(id)) continue
    const known = before.get(id)
    if (known) known.fields = { ...was, ...known.fields }
    else before.set(id, { table, fields: was })
  }
  for (const [id, { table, fields }] of before) {
    const { rows: found } = await sql<
      Record<string, unknown>
    >`select * from ${sql.table(table)} where id = ${id}`.execute(change.db)
    const now = found[0] ?? {}
    rows.push([
      table,
      id,
      Object.fromEntries(Object.entries(fields).map(([field, was]) => [field, [was, now[field]]])),
    ])
  }
  return rows
}
