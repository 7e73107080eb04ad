import type { NewRow, Patch } from '../../db/changes.ts'
import type { Schema, SyncedTable } from '../../db/schema.ts'
import type { NewText } from '../texts/text-store.ts'
import type { ImportCounts } from './import-store.ts'

type Planned<T extends SyncedTable> = NewRow<T> & { id: number }

/** A row that is to be kept in mind beside what it became. */
export interface Remembered {
  source_id: number
  kind: Schema['imported']['kind']
  /** A digest, or what is to be digested once the ids are known. */
  key: string | readonly (string | number)[]
  place: object | null
  row_id: number
}

type UpdateOf<T extends SyncedTable> = { table: T; id: number; patch: Patch<T> }
export type Update = UpdateOf<'source'> | UpdateOf<'highlight'> | UpdateOf<'note'> | UpdateOf<'read'>

/** What some items of a file come to, before anything is written. New rows have numbers below zero that stand for their ids. */
export class ImportPlan {
  readonly sources: Planned<'source'>[] = []
  readonly addresses: Planned<'source_url'>[] = []
  readonly highlights: Planned<'highlight'>[] = []
  readonly notes: Planned<'note'>[] = []
  readonly reads: Planned<'read'>[] = []
  readonly versions: Planned<'version'>[] = []
  readonly tags: Planned<'tag'>[] = []
  readonly taggings: Planned<'tagging'>[] = []
  readonly texts: { sourceId: number; isFirst: boolean; text: NewText }[] = []
  readonly updates: Update[] = []
  readonly remembered: Remembered[] = []
  /** Sources whose page is wanted. */
  readonly wanted: { sourceId: number; url: string }[] = []
  readonly counts: Required<
    Pick<
      ImportCounts,
      'sources' | 'highlights' | 'notes' | 'reads' | 'tags' | 'changed' | 'unchanged' | 'deleted'
    >
  > = {
    sources: 0,
    highlights: 0,
    notes: 0,
    reads: 0,
    tags: 0,
    changed: 0,
    unchanged: 0,
    deleted: 0,
  }
  readonly #nextId: () => number

  constructor(nextId: () => number) {
    this.#nextId = nextId
  }

  id(): number {
    return this.#nextId()
  }

  get isEmpty(): boolean {
    return (
      this.remembered.length === 0 &&
      this.updates.length === 0 &&
      this.texts.length === 0 &&
      this.wanted.length === 0 &&
      this.sources.length + this.addresses.length + this.highlights.length + this.notes.length === 0 &&
      this.reads.length + this.versions.length + this.tags.length + this.taggings.length === 0
    )
  }
}

/** Numbers that stand for ids of rows that are not there yet. */
export function placeholders(): () => number {
  let last = 0
  return () => --last
}
