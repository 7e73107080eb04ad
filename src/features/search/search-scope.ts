import type { WordColumn } from '../../db/full-text.ts'

/** Where a search may look. */
export interface SearchScope {
  /** Kinds of passages that the caller may see and asked for. */
  columns: readonly WordColumn[]
  /** Sources that fit the filter; undefined where there is none. */
  sources: ReadonlySet<number> | undefined
  /** Sources that hold a word that must not be there. */
  excluded: ReadonlySet<number>
}

export const inScope = ({ sources, excluded }: SearchScope, sourceId: number): boolean =>
  (!sources || sources.has(sourceId)) && !excluded.has(sourceId)
