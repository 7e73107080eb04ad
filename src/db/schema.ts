import type { Generated, Kysely, Transaction } from 'kysely'

/**
 * Every table of one library, as the domain's queries see it. Instants are ISO 8601 in UTC with milliseconds; civil dates
 * `YYYY-MM-DD`, `YYYY-MM` or `YYYY`; booleans 0 or 1; JSON is text. Offsets count Unicode code points.
 */
export interface Schema {
  local: LocalTable
  replica: ReplicaTable
  setting: SettingTable
  source: SourceTable
  source_url: SourceUrlTable
  text: TextTable
  capture: CaptureTable
  import: ImportTable
  import_batch: ImportBatchTable
  imported: ImportedTable
  highlight: HighlightTable
  note: NoteTable
  read: ReadTable
  review: ReviewTable
  version: VersionTable
  tag: TagTable
  tagging: TaggingTable
  alias: AliasTable
  tombstone: TombstoneTable
  change_log: ChangeLogTable
  audit: AuditTable
  request: RequestTable
  job: JobTable
  passage: PassageTable
  code: CodeTable
  vector: VectorTable
  ranking: RankingTable
}

export type Db = Kysely<Schema> | Transaction<Schema>

/** Tables whose rows travel between a reader's devices: each has an id, a row clock and the clocks of single fields. */
export type SyncedTable =
  | 'setting'
  | 'source'
  | 'source_url'
  | 'text'
  | 'highlight'
  | 'note'
  | 'read'
  | 'review'
  | 'version'
  | 'tag'
  | 'tagging'
  | 'alias'

/** What a synced row carries beside its own columns. */
export interface Synced {
  id: number
  /** Hybrid logical clock of the row's creation; fields without a clock of their own have this one. */
  clock: string
  /** JSON object: field → clock, for fields changed since. */
  clocks: Generated<string>
}

/** Facts of this one file, never synced. */
interface LocalTable {
  key: string
  value: string
}

/** Numbers this file has given ids under; one is current. */
interface ReplicaTable {
  number: number
  counter: number
  current: number
  /** JSON `{ inode, born }` of the file when the number was drawn, blank after a restore: a copy draws its own. */
  file_mark: string
}

interface SettingTable extends Synced {
  key: string
  value: string
}

export interface SourceTable extends Synced {
  kind: SourceKind
  title: string
  /** Normalised title and first author, for matching. */
  match_key: string
  /** JSON array of names. */
  authors: string
  language: string | null
  site: string | null
  published: string | null
  description: string | null
  publisher: string | null
  /** The address it was first given, as it was given. */
  url: string | null
  isbn13: string | null
  /** JSON array of every other ISBN, as ISBN-13. */
  isbns: Generated<string>
  /** Media hash. */
  cover: string | null
  /** The text that is read and searched. */
  text_id: number | null
  /** Length of the current text in words. */
  words: number | null
  created_at: string
  updated_at: string
  trashed_at: string | null
}

/** Every address a source is known under; the key is what makes two addresses the same page. */
interface SourceUrlTable extends Synced {
  source_id: number
  url: string
  url_key: string
}

export type SourceKind = 'book' | 'article' | 'pdf' | 'video' | 'podcast'

export interface TextTable extends Synced {
  source_id: number
  markdown: string
  plain: string
  /** Sanitised, for the reader's eyes. */
  html: string | null
  renderer: string | null
  /** What made it: readability, defuddle, pdf, epub, given … */
  method: string
  /** SHA-256 of the Markdown. */
  hash: string
  words: number
  /** JSON array of `{ page, label, start }` or `{ title, start }`, offsets into `plain`. */
  places: string | null
  /** Media hash of the page or file it was made from, compressed. */
  raw: string | null
  captured_at: string
  /** `kept` for a version that never became the current text. */
  state: 'good' | 'kept'
}

/** One attempt to capture: what was wanted, and how it ended. */
interface CaptureTable {
  id: number
  source_id: number
  url: string | null
  /** Media hash of a file or page that was handed in. */
  given: string | null
  given_name: string | null
  state: 'pending' | 'processing' | 'completed' | 'failed'
  /** JSON `{ code, message, hint }` of a failure. */
  failure: string | null
  /** `current`, `unchanged`, or `kept` where a worse text was put aside. */
  outcome: string | null
  text_id: number | null
  /** JSON array of sentences: what the reader should know of a text that was taken with losses. */
  warnings: string | null
  requested_at: string
  finished_at: string | null
}

/** One job that brings content in: a link or book that was added, or a file. */
export interface ImportTable {
  id: number
  kind: 'link' | 'book' | 'file'
  status: 'pending' | 'processing' | 'completed' | 'failed'
  /** What a link or a book became; null for a file, which has many. */
  source_id: number | null
  /** The attempt to capture that it waits for. */
  capture_id: number | null
  url: string | null
  /** Of a file: which format it was, what it was called, and the SHA-256 of its bytes. */
  format: string | null
  name: string | null
  file_hash: string | null
  /** Version of the program that read the file: another may read more of it. */
  version: string | null
  /** JSON object: how many of what came in. */
  counts: Generated<string>
  /** JSON `{ code, message, hint }`: why it failed, or why it ended before the end. */
  failure: string | null
  /** JSON array of sentences: what else the reader should know. */
  remarks: string | null
  /** The text that was read, and the code point before which all of it was. */
  text_id: number | null
  read_to: number | null
  /** 1 where the rest waits for credits. */
  waits: Generated<number>
  /** The import whose rest it takes up. */
  resumes: number | null
  created_at: string
  finished_at: string | null
  /** When everything that it brought was taken out again. */
  undone_at: string | null
  /** Media hash of the report on a file, row by row. */
  report: string | null
}

/** What one transaction of an import brought in. */
interface ImportBatchTable {
  id: number
  import_id: number
  /** JSON array of `[table, id]` of rows that were new, and `[table, id, { field: [before, after] }]` of changed ones. */
  rows: string
}

/**
 * What files had, and the row that it became. It stays when the row is gone: what a reader has deleted does not come back with
 * the next file.
 */
interface ImportedTable {
  id: number
  source_id: number
  kind: 'source' | 'highlight' | 'note' | 'tagging' | 'read' | 'text'
  /** Digest of the words, of the name of a tag, or of what tells a source. */
  key: string
  /** JSON: where the file says that it stands. */
  place: string | null
  row_id: number
}

export interface HighlightTable extends Synced {
  source_id: number
  /** The text version that the offsets belong to. */
  text_id: number | null
  quote: string
  prefix: string | null
  suffix: string | null
  start_offset: number | null
  end_offset: number | null
  state: 'anchored' | 'unanchored' | 'orphaned'
  /** How the words were found: exact, folded, approximate. */
  matched: string | null
  /** JSON: page, location, cfi, seconds, percent or label. */
  locator: string | null
  color: string | null
  origin: 'reader' | 'import' | 'reading-aid'
  /** Of an import: when it was made, as the file has it (see `WrittenTime`); blank where the file has no date. */
  written: string | null
  created_at: string
  updated_at: string
  trashed_at: string | null
}

export interface NoteTable extends Synced {
  source_id: number
  highlight_id: number | null
  kind: 'comment' | 'book'
  body: string
  /** Of an import: when it was written, as the file has it; blank where the file has no date. */
  written: string | null
  created_at: string
  updated_at: string
  trashed_at: string | null
}

export interface ReadTable extends Synced {
  source_id: number
  status: 'want_to_read' | 'reading' | 'paused' | 'finished' | 'did_not_finish'
  started_on: string | null
  finished_on: string | null
  format: string | null
  until: string | null
  /** 1 to 20 quarters of a star. */
  rating: number | null
  review: string | null
  created_at: string
  updated_at: string
  trashed_at: string | null
}

/** One answer of the reader to a highlight that was shown for review, with the state of memory after it (FSRS). */
export interface ReviewTable extends Synced {
  source_id: number
  highlight_id: number
  /** again, hard, good, easy. */
  rating: 1 | 2 | 3 | 4
  reviewed_at: string
  due_at: string
  /** Days until the chance of recall falls to 90 %. */
  stability: number
  /** 1 to 10. */
  difficulty: number
  state: 'learning' | 'review' | 'relearning'
  learning_steps: number
  scheduled_days: number
  reps: number
  lapses: number
}

/** What a field held before it was changed, kept where a change must not lose words. */
export interface VersionTable extends Synced {
  source_id: number
  table_name: 'highlight' | 'note'
  row_id: number
  field: string
  value: string
  /** When it was replaced. */
  created_at: string
}

interface TagTable extends Synced {
  name: string
  /** NFKC, trimmed, inner space collapsed, case folded: what makes two names the same. */
  name_key: string
}

interface TaggingTable extends Synced {
  tag_id: number
  /** Id of a source or a highlight. */
  target_id: number
}

/** An id that was given up for another resolves for ever. */
interface AliasTable extends Synced {
  target_id: number
}

interface TombstoneTable {
  id: number
  table_name: string
  clock: string
}

interface ChangeLogTable {
  seq: Generated<number>
  table_name: string
  row_id: number
  /** JSON array of field names; null for a new row or a deletion. */
  fields: string | null
  clock: string
  deleted: number
}

interface AuditTable {
  id: number
  at: string
  /** `cli`, or the name of the assistant that called. */
  connection: string
  tool: string
  intent: string | null
  request_id: string | null
  /** JSON array of `{ table, id, op, before }`, what it takes to undo. */
  changes: string
  undone_at: string | null
}

interface RequestTable {
  tool: string
  request_id: string
  /** SHA-256 of the arguments: the same id with others is a mistake. */
  arguments_hash: string
  state: 'claimed' | 'done'
  lease_until: string | null
  output: string | null
  created_at: string
}

export interface JobTable {
  id: number
  kind: string
  input: string
  /** At most one waiting job has a key. */
  unique_key: string | null
  state: 'pending' | 'running' | 'completed' | 'failed'
  attempts: Generated<number>
  run_at: string
  lease_until: string | null
  lease_owner: string | null
  /** JSON `{ done, total, message }`. */
  progress: string | null
  failure: string | null
  created_at: string
  finished_at: string | null
}

/** A stretch of searchable words; derived, never synced. */
export interface PassageTable {
  id: Generated<number>
  source_id: number
  /** `head` (title, authors, site, address), `text`, `highlight` or `note`. */
  kind: 'head' | 'text' | 'highlight' | 'note'
  /** Row that the words stand in: source, text, highlight or note. */
  owner_id: number
  /** Place in the text's plain form, for `text`. */
  start_offset: number
  body: string
  /** 1 once it has a vector, of whatever model; null while it waits. */
  embedded: number | null
}

/** Apart from the vectors, so that all of them are read at once in little time. */
interface CodeTable {
  /** Grows with every vector written, so that a process can load what came since it last looked. */
  seq: Generated<number>
  passage_id: number
  model: string
  /** Sign bits of the vector. */
  code: Uint8Array
}

interface VectorTable {
  passage_id: number
  /** Quantised to one byte a dimension, with its scale. */
  quantised: Uint8Array
}

/** A ranked list that was frozen so that its pages fit together; expires by itself. */
interface RankingTable {
  id: string
  filter: string
  ids: string
  expires_at: string
}
