import type { Library } from '../../core/library.ts'
import type { Db } from '../../db/schema.ts'
import type { ExportEntry } from './export-entry.ts'
import { exportMarkdown, type MarkdownCounts } from './export-markdown.ts'
import { exportMedia, type MediaCounts } from './export-media.ts'
import { countRows, exportedRows } from './export-store.ts'
import { EXPORTED_TABLES, type ExportedTable } from './tables.ts'

/** What an export says of itself, so that whatever is missing is seen. */
export interface LibraryManifest {
  /** By file. `inLibrary` was counted when the rows had been written: what differs was added or removed meanwhile. */
  tables: Record<string, { rows: number; inLibrary: number }>
  markdown: MarkdownCounts
  media: MediaCounts
}

/**
 * Everything in a library, table by table, then as Markdown, then its files. A page of rows, a text or a file is in memory at a
 * time, and the same is written whichever database keeps it. A row that is there throughout is written once. `manifest` is whole
 * when all was written.
 */
export async function* exportLibrary(
  library: Pick<Library, 'db' | 'outside'>,
  manifest: LibraryManifest,
): AsyncGenerator<ExportEntry> {
  const { db } = library
  for (const table of TABLES) {
    const { file } = EXPORTED_TABLES[table]
    const counted = { rows: 0, inLibrary: 0 }
    manifest.tables[file] = counted
    yield { name: `library/${file}.jsonl`, content: rowsOf(db, table, counted) }
    counted.inLibrary = await countRows(db, table)
  }
  yield* exportMarkdown(db, manifest.markdown)
  yield* exportMedia(library, manifest.media)
}

export const emptyManifest = (): LibraryManifest => ({
  tables: {},
  markdown: { texts: 0, notes: 0, highlights: 0 },
  media: { files: 0, bytes: 0, missing: [] },
})

const TABLES = Object.keys(EXPORTED_TABLES) as ExportedTable[]

async function* rowsOf(db: Db, table: ExportedTable, counted: { rows: number }): AsyncGenerator<string> {
  for (let last = 0; ;) {
    const rows = await exportedRows(db, table, last)
    if (rows.length === 0) return
    last = Number(rows.at(-1)!['id'])
    counted.rows += rows.length
    for (const row of rows) yield `${JSON.stringify(row)}\n`
  }
}
