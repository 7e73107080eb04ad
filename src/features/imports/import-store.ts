import type { Selectable } from 'kysely'
import { Failure } from '../../core/failure.ts'
import type { Change } from '../../core/library.ts'
import type { Db, ImportTable, Schema } from '../../db/schema.ts'

/** One job that brought or brings content in. */
export type Import = Selectable<ImportTable>

/** What an import counts; a name that does not apply is left out. */
export const COUNTED = [
  // of a file
  'rows',
  'rows_done',
  'skipped',
  // new in the library
  'sources',
  'highlights',
  'notes',
  'reads',
  'tags',
  // what there was already: changed to what the file has, left as it is, deleted by the reader
  'changed',
  'unchanged',
  'deleted',
  // of a text that the reading aid goes through
  'stretches',
  'stretches_done',
  'credits',
] as const
export type ImportCounts = Partial<Record<(typeof COUNTED)[number], number>>

export type NewImport = Pick<Import, 'kind'> &
  Partial<
    Pick<
      Import,
      | 'status'
      | 'source_id'
      | 'capture_id'
      | 'url'
      | 'format'
      | 'name'
      | 'file_hash'
      | 'version'
      | 'text_id'
      | 'read_to'
      | 'resumes'
    >
  > & { counts?: ImportCounts }

/** Begins an import, pending unless it says otherwise; gives its id. */
export async function beginImport(change: Change, { counts = {}, ...facts }: NewImport): Promise<number> {
  const id = await change.newId()
  await change.db
    .insertInto('import')
    .values({
      status: 'pending',
      source_id: null,
      capture_id: null,
      url: null,
      format: null,
      name: null,
      file_hash: null,
      version: null,
      text_id: null,
      read_to: null,
      resumes: null,
      ...facts,
      id,
      counts: JSON.stringify(counts),
      failure: null,
      remarks: null,
      created_at: change.at,
      finished_at: null,
      undone_at: null,
    })
    .execute()
  return id
}

/** What an import says of itself while it runs. False where it has ended, by another process for example. */
export async function noteImport(
  change: Change,
  id: number,
  {
    counts,
    ...facts
  }: { counts?: ImportCounts } & Partial<
    Pick<Import, 'source_id' | 'capture_id' | 'text_id' | 'read_to' | 'format'>
  >,
): Promise<boolean> {
  const { numUpdatedRows } = await change.db
    .updateTable('import')
    .set({ ...facts, ...(counts && { counts: JSON.stringify(counts) }), status: 'processing' })
    .where('id', '=', id)
    .where('status', 'in', ['pending', 'processing'])
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export interface ImportEnd {
  counts?: ImportCounts
  /** Why it ended before the end, though what it brought stays. */
  shortOf?: Failure
  /** Whether the rest waits for credits. */
  waits?: boolean
  /** Sentences for the reader. */
  remarks?: readonly string[]
  source_id?: number
  /** Media hash of the report on a file. */
  report?: string
}

/** Completes an import. False where it had ended: the first end stays. */
export async function completeImport(change: Change, id: number, end: ImportEnd = {}): Promise<boolean> {
  const { counts, shortOf, waits = false, remarks = [], ...facts } = end
  const { numUpdatedRows } = await change.db
    .updateTable('import')
    .set({
      ...facts,
      ...(counts && { counts: JSON.stringify(counts) }),
      status: 'completed',
      failure: shortOf ? writeFailure(shortOf) : null,
      remarks: remarks.length > 0 ? JSON.stringify(remarks) : null,
      waits: waits ? 1 : 0,
      finished_at: change.at,
    })
    .where('id', '=', id)
    .where('status', 'in', ['pending', 'processing'])
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Ends an import that failed; what it brought in before stays, and stays counted. False where it had ended. */
export async function failImport(change: Change, id: number, failure: Failure): Promise<boolean> {
  const { numUpdatedRows } = await change.db
    .updateTable('import')
    .set({ status: 'failed', failure: writeFailure(failure), finished_at: change.at })
    .where('id', '=', id)
    .where('status', 'in', ['pending', 'processing'])
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The import with that id, which is never given up for another. Throws `import_not_found`. */
export async function findImport(db: Db, id: number): Promise<Import> {
  const found = await db.selectFrom('import').selectAll().where('id', '=', id).executeTakeFirst()
  if (found) return found
  throw new Failure('import_not_found', `There is no import ${id} in the library.`, {
    hint: 'Give the import_id that add_source answered with, or see `commonplace import --list`.',
  })
}

/** The latest first. */
export const listImports = (
  db: Db,
  { kind, most }: { kind?: Import['kind']; most: number },
): Promise<Import[]> =>
  db
    .selectFrom('import')
    .selectAll()
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind!))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()

/** Imports of a file by the SHA-256 of its bytes, the latest first. */
export const listByFile = (db: Db, fileHash: string): Promise<Import[]> =>
  db
    .selectFrom('import')
    .selectAll()
    .where('file_hash', '=', fileHash)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()

/** An import of these files that has begun and not ended. */
export const findUnfinished = (db: Db, fileHash: string): Promise<Import | undefined> =>
  db
    .selectFrom('import')
    .selectAll()
    .where('kind', '=', 'file')
    .where('file_hash', '=', fileHash)
    .where('status', '=', 'processing')
    .where('undone_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .executeTakeFirst()

/**
 * The import that brought in this very file, read by this version of the program, if nothing was taken out again since: then
 * everything in it is known.
 */
export const findSameFile = (db: Db, fileHash: string, version: string): Promise<Import | undefined> =>
  db
    .selectFrom('import')
    .selectAll()
    .where('kind', '=', 'file')
    .where('file_hash', '=', fileHash)
    .where('version', '=', version)
    .where('status', '=', 'completed')
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom('import as other')
            .select('other.id')
            .whereRef('other.undone_at', '>=', 'import.finished_at'),
        ),
      ),
    )
    .where('undone_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst()

/** An import of a file that waits or goes on. */
export const findUnderWayFile = (db: Db, fileHash: string): Promise<Import | undefined> =>
  db
    .selectFrom('import')
    .selectAll()
    .where('kind', '=', 'file')
    .where('file_hash', '=', fileHash)
    .where('status', 'in', ['pending', 'processing'])
    .orderBy('created_at')
    .orderBy('id')
    .executeTakeFirst()

/** A number that grows with whatever is changed in the library. */
export async function lastChange(db: Db): Promise<number> {
  const row = await db
    .selectFrom('change_log')
    .select('seq')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}

/** A table and the id of a row in it; of one that was only changed, its fields as they were and as they became. */
export type ImportedRow = readonly [
  table: keyof Schema,
  id: number,
  changed?: Readonly<Record<string, readonly [before: unknown, after: unknown]>>,
]

/** Notes what one transaction of an import brought in or changed; nothing where that is nothing. */
export async function addBatch(
  change: Change,
  importId: number,
  rows: readonly ImportedRow[],
): Promise<void> {
  if (rows.length === 0) return
  await change.db
    .insertInto('import_batch')
    .values({ id: await change.newId(), import_id: importId, rows: JSON.stringify(rows) })
    .execute()
}

/** What an import brought in, a batch a transaction, the last first: the order in which it can be taken out again. */
export async function* batchesOf(db: Db, importId: number): AsyncGenerator<ImportedRow[]> {
  const ids = await db
    .selectFrom('import_batch')
    .select('id')
    .where('import_id', '=', importId)
    .orderBy('id', 'desc')
    .execute()
  for (const { id } of ids) {
    const batch = await db.selectFrom('import_batch').select('rows').where('id', '=', id).executeTakeFirst()
    if (batch) yield JSON.parse(batch.rows) as ImportedRow[]
  }
}

/** Notes that everything an import brought was taken out again. */
export async function noteUndone(change: Change, id: number): Promise<void> {
  await change.db.updateTable('import').set({ undone_at: change.at, waits: 0 }).where('id', '=', id).execute()
}

/** All imports that have not ended. */
export const listAllUnderWay = (db: Db): Promise<Pick<Import, 'id' | 'kind'>[]> =>
  db
    .selectFrom('import')
    .select(['id', 'kind'])
    .where('status', 'in', ['pending', 'processing'])
    .orderBy('id')
    .execute()

/** The imports of a source's link that have not ended, the first one first. */
export const listUnderWay = (db: Db, sourceId: number): Promise<Import[]> =>
  db
    .selectFrom('import')
    .selectAll()
    .where('kind', '=', 'link')
    .where('source_id', '=', sourceId)
    .where('status', 'in', ['pending', 'processing'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** The import by which the reading aid has read a text to its end, unless what it brought was taken out again. */
export const findReading = (db: Db, sourceId: number, textId: number): Promise<Import | undefined> =>
  db
    .selectFrom('import')
    .selectAll()
    .where('kind', '=', 'link')
    .where('source_id', '=', sourceId)
    .where('text_id', '=', textId)
    .where('status', '=', 'completed')
    .where('failure', 'is', null)
    .where('undone_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .executeTakeFirst()

/** The import of a source whose rest waits for credits. */
export const findWaiting = (db: Db, sourceId: number): Promise<Import | undefined> =>
  db
    .selectFrom('import')
    .selectAll()
    .where('source_id', '=', sourceId)
    .where('waits', '=', 1)
    .orderBy('id')
    .executeTakeFirst()

/** The import that took up the rest of another. */
export const findResumer = (db: Db, { id, source_id }: Import): Promise<Import | undefined> =>
  db
    .selectFrom('import')
    .selectAll()
    .where('source_id', '=', source_id)
    .where('resumes', '=', id)
    .executeTakeFirst()

/** Lets an import's rest wait no more; its result stays. False where it did not wait. */
export async function endWaiting(change: Change, id: number): Promise<boolean> {
  const { numUpdatedRows } = await change.db
    .updateTable('import')
    .set({ waits: 0 })
    .where('id', '=', id)
    .where('waits', '=', 1)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Whether the rest of any import waits for credits. */
export async function hasWaiting(db: Db): Promise<boolean> {
  const row = await db.selectFrom('import').select('id').where('waits', '=', 1).limit(1).executeTakeFirst()
  return row !== undefined
}

/** Imports whose rest waits for credits, the oldest first. */
export const listWaiting = (db: Db): Promise<Import[]> =>
  db.selectFrom('import').selectAll().where('waits', '=', 1).orderBy('id').execute()

export const isOver = ({ status }: Pick<Import, 'status'>): boolean =>
  status === 'completed' || status === 'failed'

export const countsOf = ({ counts }: Pick<Import, 'counts'>): ImportCounts =>
  JSON.parse(counts) as ImportCounts

export const remarksOf = ({ remarks }: Pick<Import, 'remarks'>): string[] =>
  remarks === null ? [] : (JSON.parse(remarks) as string[])

/** Why an import failed or ended before the end. */
export const reasonOf = ({
  failure,
}: Pick<Import, 'failure'>): { code: string; message: string; hint: string } | undefined =>
  failure === null ? undefined : (JSON.parse(failure) as { code: string; message: string; hint: string })

const writeFailure = ({ code, message, hint }: Failure): string => JSON.stringify({ code, message, hint })
