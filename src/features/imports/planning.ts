import type { DayRules } from '../../core/days.ts'
import type { Anchor } from '../highlights/anchor.ts'
import type { Source } from '../sources/source-store.ts'
import type { NewText } from '../texts/text-store.ts'
import type { ImportPlan } from './import-plan.ts'
import type { ImportedHighlight, ImportedItem } from './imported.ts'
import type { KnownLibrary } from './known-library.ts'
import type { RowOutcomes } from './row-outcomes.ts'
import { instantOf, type WrittenTime } from './written-time.ts'

/** What is planned with, and what it is planned into. */
export interface Planning {
  library: KnownLibrary
  plan: ImportPlan
  outcomes: RowOutcomes
  /** The instant of the import, ISO 8601. */
  at: string
  rules: DayRules
  /** Whether a later version of a highlight may come without the earlier ones. */
  joinsVersions: boolean
  /** Whether pages that came without a text are to be captured. */
  fetches: boolean
  /** Where the words stand in the current text of the source. */
  anchorOf(source: Source, highlight: ImportedHighlight): Found | undefined
  textOf(item: ImportedItem): { text: NewText; hash: string } | undefined
}

export interface Found {
  anchor: Anchor
  textId: number
  places: string | null
}

/** When a row counts as made: what the file says, else the import; and what the file says as it says it. */
export function datesOf(
  time: WrittenTime | null,
  { at, rules }: Pick<Planning, 'at' | 'rules'>,
): { created_at: string; written: string } {
  return { created_at: (time === null ? null : instantOf(time, rules)) ?? at, written: time ?? '' }
}

/** Undefined where the two cannot be compared. */
export function isLater(one: WrittenTime | null, other: string | null): boolean | undefined {
  if (one === null || other === null || other === '' || one.length !== other.length || one === other)
    return undefined
  return one > other
}
