import type { Schema } from '../../db/schema.ts'

// What an export holds, field by field. The names here are what other programs read: one that stands here never changes its
// meaning, and is never used for another. A new table or column that is not decided on here does not compile.

/** Derived from other rows, or of this one copy of the library alone. */
export type LeftOutTable =
  | 'local'
  | 'replica'
  | 'change_log'
  | 'request'
  | 'job'
  | 'passage'
  | 'code'
  | 'vector'
  | 'ranking'
export type ExportedTable = Exclude<keyof Schema, LeftOutTable>

/** Name of the field; `{ json }` where the column holds JSON, null where it is bookkeeping. */
export type ExportedField = string | { json: string } | null

export interface ExportedRows<T extends ExportedTable = ExportedTable> {
  /** Of the file, without its ending. */
  file: string
  /** Rows that are read at once: texts are long. */
  page: number
  fields: Record<keyof Schema[T], ExportedField>
}

const PAGE = 500
const SYNCED = { id: 'id', clock: null, clocks: null } as const
const TIMES = { created_at: 'createdAt', updated_at: 'updatedAt', trashed_at: 'trashedAt' } as const

export const EXPORTED_TABLES: { readonly [T in ExportedTable]: ExportedRows<T> } = {
  source: {
    file: 'sources',
    page: PAGE,
    fields: {
      ...SYNCED,
      kind: 'kind',
      title: 'title',
      match_key: null,
      authors: { json: 'authors' },
      language: 'language',
      site: 'site',
      published: 'published',
      description: 'description',
      publisher: 'publisher',
      url: 'url',
      isbn13: 'isbn13',
      isbns: { json: 'otherIsbns' },
      cover: 'coverMedia',
      text_id: 'currentTextId',
      words: 'words',
      ...TIMES,
    },
  },
  source_url: {
    file: 'source-urls',
    page: PAGE,
    fields: { ...SYNCED, source_id: 'sourceId', url: 'url', url_key: null },
  },
  text: {
    file: 'texts',
    page: 8,
    fields: {
      ...SYNCED,
      source_id: 'sourceId',
      markdown: 'markdown',
      plain: 'plain',
      html: 'html',
      renderer: 'renderer',
      method: 'method',
      hash: 'sha256OfMarkdown',
      words: 'words',
      places: { json: 'places' },
      raw: 'originalMedia',
      captured_at: 'capturedAt',
      state: 'state',
    },
  },
  capture: {
    file: 'captures',
    page: PAGE,
    fields: {
      id: 'id',
      source_id: 'sourceId',
      url: 'url',
      given: 'givenMedia',
      given_name: 'givenName',
      state: 'state',
      failure: { json: 'failure' },
      outcome: 'outcome',
      text_id: 'textId',
      warnings: { json: 'warnings' },
      requested_at: 'requestedAt',
      finished_at: 'finishedAt',
    },
  },
  import: {
    file: 'imports',
    page: PAGE,
    fields: {
      id: 'id',
      kind: 'kind',
      status: 'status',
      source_id: 'sourceId',
      capture_id: 'captureId',
      url: 'url',
      format: 'format',
      name: 'fileName',
      file_hash: 'fileSha256',
      version: 'readByVersion',
      counts: { json: 'counts' },
      failure: { json: 'failure' },
      remarks: { json: 'remarks' },
      text_id: 'textId',
      read_to: 'readTo',
      waits: 'waits',
      resumes: 'resumes',
      created_at: 'createdAt',
      finished_at: 'finishedAt',
      undone_at: 'undoneAt',
      report: 'reportMedia',
    },
  },
  import_batch: {
    file: 'imported-rows',
    page: PAGE,
    fields: { id: 'id', import_id: 'importId', rows: { json: 'rows' } },
  },
  imported: {
    file: 'imported',
    page: PAGE,
    fields: {
      id: 'id',
      source_id: 'sourceId',
      kind: 'kind',
      key: 'key',
      place: { json: 'place' },
      row_id: 'rowId',
    },
  },
  highlight: {
    file: 'highlights',
    page: PAGE,
    fields: {
      ...SYNCED,
      source_id: 'sourceId',
      text_id: 'textId',
      quote: 'quote',
      prefix: 'prefix',
      suffix: 'suffix',
      start_offset: 'startOffset',
      end_offset: 'endOffset',
      state: 'state',
      matched: 'matched',
      locator: { json: 'locator' },
      color: 'color',
      origin: 'origin',
      written: 'written',
      ...TIMES,
    },
  },
  note: {
    file: 'notes',
    page: PAGE,
    fields: {
      ...SYNCED,
      source_id: 'sourceId',
      highlight_id: 'highlightId',
      kind: 'kind',
      body: 'body',
      written: 'written',
      ...TIMES,
    },
  },
  read: {
    file: 'reads',
    page: PAGE,
    fields: {
      ...SYNCED,
      source_id: 'sourceId',
      status: 'status',
      started_on: 'startedOn',
      finished_on: 'finishedOn',
      format: 'format',
      until: 'pausedUntil',
      rating: 'ratingInQuarterStars',
      review: 'review',
      ...TIMES,
    },
  },
  review: {
    file: 'reviews',
    page: PAGE,
    fields: {
      ...SYNCED,
      source_id: 'sourceId',
      highlight_id: 'highlightId',
      rating: 'rating',
      reviewed_at: 'reviewedAt',
      due_at: 'dueAt',
      stability: 'stability',
      difficulty: 'difficulty',
      state: 'state',
      learning_steps: 'learningSteps',
      scheduled_days: 'scheduledDays',
      reps: 'reps',
      lapses: 'lapses',
    },
  },
  version: {
    file: 'earlier-versions',
    page: PAGE,
    fields: {
      ...SYNCED,
      source_id: 'sourceId',
      table_name: 'table',
      row_id: 'rowId',
      field: 'field',
      value: 'value',
      created_at: 'replacedAt',
    },
  },
  tag: { file: 'tags', page: PAGE, fields: { ...SYNCED, name: 'name', name_key: null } },
  tagging: {
    file: 'taggings',
    page: PAGE,
    fields: { ...SYNCED, tag_id: 'tagId', target_id: 'targetId' },
  },
  alias: { file: 'aliases', page: PAGE, fields: { ...SYNCED, target_id: 'targetId' } },
  tombstone: { file: 'deleted', page: PAGE, fields: { id: 'id', table_name: 'table', clock: null } },
  setting: { file: 'settings', page: PAGE, fields: { ...SYNCED, key: 'key', value: 'value' } },
  audit: {
    file: 'audit',
    page: 100,
    fields: {
      id: 'id',
      at: 'at',
      connection: 'connection',
      tool: 'tool',
      intent: 'intent',
      request_id: 'requestId',
      changes: { json: 'changes' },
      undone_at: 'undoneAt',
    },
  },
}
