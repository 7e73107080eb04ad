import { sql } from 'kysely'
import type { Change } from '../../core/library.ts'
import type { NewRow } from '../../db/changes.ts'
import type { Db, SyncedTable } from '../../db/schema.ts'
import { nameKey } from '../../core/text.ts'
import { matchKey } from '../sources/match.ts'
import { urlKey } from '../sources/url-key.ts'
import type { ArchivedRow } from './archive-fields.ts'
import { EXPORTED_TABLES, type ExportedTable } from './tables.ts'

/** The first table that has rows, settings not counted; undefined for an empty library. */
export async function firstFilled(db: Db): Promise<ExportedTable | undefined> {
  for (const table of Object.keys(EXPORTED_TABLES) as ExportedTable[]) {
    if (table === 'setting') continue
    const { rows } = await sql`select id from ${sql.table(table)} limit 1`.execute(db)
    if (rows.length > 0) return table
  }
  return undefined
}

/** Settings that were made here give way to those of the archive. */
export async function dropSettings(change: Change): Promise<void> {
  for (const { id } of await change.db.selectFrom('setting').select('id').execute())
    await change.erase('setting', id)
}

const PLAIN = ['capture', 'import', 'import_batch', 'imported', 'audit'] as const
type PlainTable = (typeof PLAIN)[number]

const isPlain = (table: ExportedTable): table is PlainTable => PLAIN.some((plain) => plain === table)

/** Puts rows in as they were, under the same ids, with what is derived of them made anew. */
export async function insertArchived(
  change: Change,
  table: ExportedTable,
  rows: readonly ArchivedRow[],
): Promise<void> {
  if (rows.length === 0) return
  if (table === 'tombstone')
    await change.bury(rows.map(({ id, table_name }) => ({ id, table: String(table_name) })))
  else if (isPlain(table)) await insertPlain(change.db, table, rows)
  else {
    // The fields were checked one by one against what the table's rows are.
    const whole = rows.map((row) => ({ ...row, ...derived(table, row) })) as readonly unknown[]
    await change.insertMany(table, whole as readonly NewRow<SyncedTable>[])
    // Nobody takes this back step by step, and a whole library's list of them would fill up memory.
    change.touched.length = 0
  }
}

function derived(table: SyncedTable, row: ArchivedRow): Record<string, string> {
  if (table === 'source')
    return { match_key: matchKey(String(row['title']), JSON.parse(String(row['authors'])) as string[]) }
  if (table === 'source_url') return { url_key: addressKey(String(row['url'])) }
  if (table === 'tag') return { name_key: nameKey(String(row['name'])) }
  return {}
}

/** What makes two addresses the same page. */
export const addressKey = (url: string): string => urlKey(url) ?? url

const ROWS_A_STATEMENT = 400

async function insertPlain(db: Db, table: PlainTable, rows: readonly ArchivedRow[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const names = sql.join(columns.map((column) => sql.ref(column)))
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
    const values = rows
      .slice(from, from + ROWS_A_STATEMENT)
      .map((row) => sql`(${sql.join(columns.map((column) => row[column] ?? null))})`)
    await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(values)}`.execute(db)
  }
}

/** Ids of sources after this one. */
export const sourceIdsAfter = async (db: Db, last: number, limit: number): Promise<number[]> =>
  (
    await db.selectFrom('source').select('id').where('id', '>', last).orderBy('id').limit(limit).execute()
  ).map(({ id }) => id)

/** A source whose text was deleted while the archive was written has none, instead of one that is not there. */
export async function dropMissingTexts(change: Change): Promise<void> {
  const dangling = await change.db
    .selectFrom('source')
    .select('id')
    .where('text_id', 'is not', null)
    .where((of) =>
      of.not(of.exists(of.selectFrom('text').select('text.id').whereRef('text.id', '=', 'source.text_id'))),
    )
    .execute()
  for (const { id } of dangling) await change.update('source', id, { text_id: null, words: null })
}
