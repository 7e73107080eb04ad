import { z } from 'zod'
import { auditedChange } from '../../core/audit.ts'
import { canBeSetting } from '../../core/settings.ts'
import type { Schema } from '../../db/schema.ts'
import { EXPORTED_TABLES, type ExportedField, type ExportedTable } from './tables.ts'

// What the fields of an archive must be, so that a file that somebody made or changed cannot put anything into a library that
// the rest of the program does not expect there.

/** A check of one value; `?` where it may be null. */
type Check =
  | 'id'
  | 'id?'
  | 'count'
  | 'count?'
  | 'real'
  | 'text'
  | 'text?'
  /** An instant, in the one form that sorts as text. */
  | 'at'
  | 'at?'
  /** JSON of any form (whoever reads it takes what he knows), of a list of texts, or of an object. */
  | 'json?'
  | 'names'
  | 'names?'
  | 'object?'
  /** Code, message and hint of a failure. */
  | 'failure?'
  /** Numbers by name. */
  | 'counts'
  /** Rows that an import brought or changed: table, id, what the fields were before and after. */
  | 'brought'
  /** What an entry of the audit log names. */
  | 'changes'
  | readonly (string | number)[]

type Kept<T extends ExportedTable> = Partial<Record<keyof Schema[T], Check>>

const TIMES = { created_at: 'at', updated_at: 'at', trashed_at: 'at?' } as const

const CHECKS: { readonly [T in ExportedTable]: Kept<T> } = {
  source: {
    kind: ['book', 'article', 'pdf', 'video', 'podcast'],
    title: 'text',
    authors: 'names',
    language: 'text?',
    site: 'text?',
    published: 'text?',
    description: 'text?',
    publisher: 'text?',
    url: 'text?',
    isbn13: 'text?',
    isbns: 'names',
    cover: 'text?',
    text_id: 'id?',
    words: 'count?',
    ...TIMES,
  },
  source_url: { source_id: 'id', url: 'text' },
  text: {
    source_id: 'id',
    markdown: 'text',
    plain: 'text',
    html: 'text?',
    renderer: 'text?',
    method: 'text',
    hash: 'text',
    words: 'count',
    places: 'json?',
    raw: 'text?',
    captured_at: 'at',
    state: ['good', 'kept'],
  },
  capture: {
    source_id: 'id',
    url: 'text?',
    given: 'text?',
    given_name: 'text?',
    state: ['pending', 'processing', 'completed', 'failed'],
    failure: 'failure?',
    outcome: 'text?',
    text_id: 'id?',
    warnings: 'names?',
    requested_at: 'at',
    finished_at: 'at?',
  },
  import: {
    kind: ['link', 'book', 'file'],
    status: ['pending', 'processing', 'completed', 'failed'],
    source_id: 'id?',
    capture_id: 'id?',
    url: 'text?',
    format: 'text?',
    name: 'text?',
    file_hash: 'text?',
    version: 'text?',
    counts: 'counts',
    failure: 'failure?',
    remarks: 'names?',
    text_id: 'id?',
    read_to: 'count?',
    waits: [0, 1],
    resumes: 'id?',
    created_at: 'at',
    finished_at: 'at?',
    undone_at: 'at?',
    report: 'text?',
  },
  import_batch: { import_id: 'id', rows: 'brought' },
  imported: {
    source_id: 'id',
    kind: ['source', 'highlight', 'note', 'tagging', 'read', 'text'],
    key: 'text',
    place: 'json?',
    row_id: 'id',
  },
  highlight: {
    source_id: 'id',
    text_id: 'id?',
    quote: 'text',
    prefix: 'text?',
    suffix: 'text?',
    start_offset: 'count?',
    end_offset: 'count?',
    state: ['anchored', 'unanchored', 'orphaned'],
    matched: 'text?',
    locator: 'object?',
    color: 'text?',
    origin: ['reader', 'import', 'reading-aid'],
    written: 'text?',
    ...TIMES,
  },
  note: {
    source_id: 'id',
    highlight_id: 'id?',
    kind: ['comment', 'book'],
    body: 'text',
    written: 'text?',
    ...TIMES,
  },
  read: {
    source_id: 'id',
    status: ['want_to_read', 'reading', 'paused', 'finished', 'did_not_finish'],
    started_on: 'text?',
    finished_on: 'text?',
    format: 'text?',
    until: 'text?',
    rating: 'count?',
    review: 'text?',
    ...TIMES,
  },
  review: {
    source_id: 'id',
    highlight_id: 'id',
    rating: [1, 2, 3, 4],
    reviewed_at: 'at',
    due_at: 'at',
    stability: 'real',
    difficulty: 'real',
    state: ['learning', 'review', 'relearning'],
    learning_steps: 'count',
    scheduled_days: 'count',
    reps: 'count',
    lapses: 'count',
  },
  version: {
    source_id: 'id',
    table_name: ['highlight', 'note'],
    row_id: 'id',
    field: 'text',
    value: 'text',
    created_at: 'at',
  },
  tag: { name: 'text' },
  tagging: { tag_id: 'id', target_id: 'id' },
  alias: { target_id: 'id' },
  tombstone: { table_name: 'text' },
  setting: { key: 'text', value: 'text' },
  audit: {
    at: 'at',
    connection: 'text',
    tool: 'text',
    intent: 'text?',
    request_id: 'text?',
    changes: 'changes',
    undone_at: 'at?',
  },
}

/** A row as its table takes it, without what is derived. */
export type ArchivedRow = Record<string, string | number | null> & { id: number }

/** What an older archive may lack, since it was not kept then. */
const LATER = new Set(['text.renderer'])

/** One line of an archive as a row of its table. Throws `RangeError` for what cannot be one; unknown fields are passed over. */
export function readRow(table: ExportedTable, line: string): ArchivedRow {
  const given: unknown = JSON.parse(line)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw unfit(table, 'row')
  const values = new Map<string, unknown>(Object.entries(given))
  const checks = new Map<string, Check>(Object.entries(CHECKS[table]))
  const row: ArchivedRow = { id: idOf(values.get('id'), table) }
  for (const { column, name, isJson } of FIELDS[table]) {
    const check = checks.get(column)
    const value = values.get(name)
    if (check === undefined || (value === undefined && !LATER.has(`${table}.${column}`)))
      throw unfit(table, name)
    row[column] = read(value ?? null, check, isJson, () => unfit(table, name))
  }
  if (table === 'setting' && !canBeSetting(String(row['key']), String(row['value'])))
    throw unfit(table, 'value')
  return row
}

interface Field {
  column: string
  name: string
  isJson: boolean
}

const fieldsOf = (table: ExportedTable): Field[] =>
  (Object.entries(EXPORTED_TABLES[table].fields) as [string, ExportedField][]).flatMap(([column, field]) =>
    field === null || column === 'id'
      ? []
      : [{ column, name: typeof field === 'string' ? field : field.json, isJson: typeof field !== 'string' }],
  )

const FIELDS = Object.fromEntries(
  (Object.keys(EXPORTED_TABLES) as ExportedTable[]).map((table) => [table, fieldsOf(table)]),
) as Record<ExportedTable, Field[]>

const unfit = (table: string, field: string): RangeError => new RangeError(`${table}: ${field}`)

function read(value: unknown, check: Check, isJson: boolean, fail: () => RangeError): string | number | null {
  if (typeof check !== 'string') {
    if ((typeof value === 'string' || typeof value === 'number') && check.includes(value)) return value
    throw fail()
  }
  const may = check.endsWith('?')
  if (value === null) {
    if (may) return null
    throw fail()
  }
  const kind = may ? check.slice(0, -1) : check
  if (!CAN_BE[kind]?.(value)) throw fail()
  if (isJson) return JSON.stringify(value)
  return typeof value === 'string' || typeof value === 'number' ? value : null
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
const isId = (value: unknown): value is number => isCount(value) && value !== 0

const failure = z.object({ code: z.string(), message: z.string(), hint: z.string() })
const counts = z.record(z.string(), z.int().min(0))
const scalar = z.union([z.string(), z.number(), z.null()])
const brought = z.array(
  z.union([
    z.tuple([z.string(), z.int().min(1)]),
    z.tuple([z.string(), z.int().min(1), z.record(z.string(), z.tuple([scalar, scalar]))]),
  ]),
)
const changes = z.array(auditedChange)

/** Undoing an import sets the fields that are named here, each to what it may be. */
const canBeBrought = (value: unknown): boolean => {
  const rows = brought.safeParse(value)
  if (!rows.success) return false
  return rows.data.every(([table, , fields]) => {
    const checks = new Map(Object.entries(CHECKS)).get(table)
    const known = new Map<string, Check>(Object.entries(checks ?? {}))
    return Object.keys(fields ?? {}).every((field) => known.has(field))
  })
}

const CAN_BE: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: isId,
  count: isCount,
  real: (value) => typeof value === 'number' && Number.isFinite(value),
  text: isText,
  at: (value) =>
    isText(value) &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
    Number.isFinite(Date.parse(value)),
  json: (value) => value !== null,
  failure: (value) => failure.safeParse(value).success,
  counts: (value) => counts.safeParse(value).success,
  brought: canBeBrought,
  changes: (value) => changes.safeParse(value).success,
  names: (value) => Array.isArray(value) && value.every(isText),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

/** Below 2^53, and of a replica that there can be. */
function idOf(value: unknown, table: string): number {
  if (isId(value)) return value
  throw unfit(table, 'id')
}
