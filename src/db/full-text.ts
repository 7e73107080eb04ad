import type { Db } from './schema.ts'

/** Where words stand: what a passage is of. */
export const WORD_COLUMNS = ['text', 'head', 'highlight', 'note'] as const
export type WordColumn = (typeof WORD_COLUMNS)[number]

/**
 * The words of one passage, folded and cut by the caller, with spaces between. Of ASCII the index itself takes letters in
 * either case and parts words at whatever is neither letter nor digit.
 */
export interface WordRow {
  /** The passage's id. */
  id: number
  column: WordColumn
  words: string
}

/** What passages have to hold. Words are spelled as in `WordRow`; they may be any strings, none is ever read as syntax. */
export type WordQuery =
  /** These words in this order, one after the other; with `prefix`, the last one is the beginning of a word. */
  | { phrase: readonly string[]; prefix?: boolean }
  /** Each of these. */
  | { all: readonly WordQuery[] }
  /** At least one of these. */
  | { any: readonly WordQuery[] }
  /** These phrases with at most `words` other words between. */
  | { near: readonly (readonly string[])[]; words: number }
  | { match: WordQuery; without: WordQuery }
  | { match: WordQuery; in: readonly WordColumn[] }

export interface WordMatchOptions {
  /** `rank`: best first (BM25), which reads every match. `newest`: latest passage first, which stops at the limit. */
  order: 'rank' | 'newest'
  limit: number
  /** Only passages whose ids lie between these two, both included. */
  between?: readonly [number, number]
}

/** A word index over the passages of a library. An entry goes with its passage. */
export interface FullText {
  /** Adds passages that are not in the index; all of a change at once, after its other writes, takes the least time. */
  add(db: Db, rows: readonly WordRow[]): Promise<void>
  /** Ids of the passages that match, at most `limit`. A query without any word matches nothing. */
  match(db: Db, query: WordQuery, options: WordMatchOptions): Promise<number[]>
  /** How many passages match, counted up to `most`, and the greatest id among those counted. */
  count(db: Db, query: WordQuery, most: number): Promise<{ count: number; last: number }>
  /** Empties the index. */
  clear(db: Db): Promise<void>
  /** Runs `work`, which adds a great many rows, with settings that suit that. */
  bulk<T>(db: Db, work: () => Promise<T>): Promise<T>
  /** Whether the index is sound in itself. */
  check(db: Db): Promise<boolean>
}
