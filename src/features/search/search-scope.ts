import type { WordColumn } from '../../db/full-text.ts'
import type { Passage } from './passage-store.ts'

/** Where a search may look. */
export interface SearchScope {
  /** Kinds of passages that the caller may see and asked for. */
  columns: readonly WordColumn[]
  /** What is looked for: sources, whose passages count together, or single highlights and notes. */
  unit: 'source' | 'highlight'
  /** Sources that fit the filter; undefined where there is none. */
  sources: ReadonlySet<number> | undefined
  /** Of these highlights and notes alone; undefined where that is no matter. */
  owners?: ReadonlySet<number> | undefined
  /** Units that hold a word that must not be there. */
  excluded: ReadonlySet<number>
}

/** Whose passages they are. */
export type Held = Pick<Passage, 'id' | 'source_id' | 'owner_id'>

/** What the words of a passage count for: the source, or the highlight or note that it is a stretch of. */
export const unitOf = (scope: Pick<SearchScope, 'unit'>, { source_id, owner_id }: Omit<Held, 'id'>): number =>
  scope.unit === 'source' ? source_id : owner_id

export const inScope = (scope: SearchScope, passage: Omit<Held, 'id'>): boolean =>
  (!scope.sources || scope.sources.has(passage.source_id)) &&
  (!scope.owners || scope.owners.has(passage.owner_id)) &&
  !scope.excluded.has(unitOf(scope, passage))
