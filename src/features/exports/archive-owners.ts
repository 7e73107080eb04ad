import { nameKey } from '../../core/text.ts'
import type { ArchivedRow } from './archive-fields.ts'
import { addressKey } from './import-archive-store.ts'
import type { ExportedTable } from './tables.ts'

/** What rows of an archive belong to, so that none goes in without it. */
export class ArchiveOwners {
  readonly #ids = new Map<ExportedTable, Set<number>>(
    (['source', 'highlight', 'tag', 'import'] as const).map((table) => [table, new Set()]),
  )
  /** Keys under which there may be but one row. */
  readonly #keys = new Set<string>()

  /** Whether everything is there that the row belongs to; it is then known itself. */
  take(table: ExportedTable, row: ArchivedRow): boolean {
    if (!this.#fits(table, row)) return false
    this.#ids.get(table)?.add(row.id)
    return true
  }

  #fits(table: ExportedTable, row: ArchivedRow): boolean {
    // What is remembered of imports outlives what they brought.
    const outlives = table === 'import' || table === 'imported'
    if (!outlives && !this.#has('source', row['source_id'])) return false
    if (!this.#has('highlight', row['highlight_id']) || !this.#has('tag', row['tag_id'])) return false
    if (!this.#has('import', row['import_id'])) return false
    const key = keyOf(table, row)
    if (key === undefined) return true
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    return true
  }

  #has(table: ExportedTable, id: string | number | null | undefined): boolean {
    return id === undefined || id === null || this.#ids.get(table)?.has(Number(id)) === true
  }
}

function keyOf(table: ExportedTable, row: ArchivedRow): string | undefined {
  if (table === 'source_url') return `u ${addressKey(String(row['url']))}`
  if (table === 'tag') return `t ${nameKey(String(row['name']))}`
  if (table === 'tagging') return `g ${row['target_id']} ${row['tag_id']}`
  if (table === 'setting') return `s ${row['key']}`
  return undefined
}
