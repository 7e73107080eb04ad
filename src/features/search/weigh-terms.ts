import type { Kysely } from 'kysely'
import { WORD_COLUMNS, type WordColumn, type WordQuery } from '../../db/full-text.ts'
import type { Db, Schema } from '../../db/schema.ts'
import { isCommonWord } from './common-words.ts'
import { isSpaceless } from './fold-words.ts'
import { fullText } from './indexes.ts'
import type { Term } from './query.ts'
import type { Needle } from './score-passage.ts'

/** Up to here a frequency is counted, beyond it is estimated from where the counted ones lie. */
const COUNTED = 20_000
/** A word in more than a tenth of the passages is common, in a library that is large enough to say so. */
const COMMON_SHARE = 0.1
const LARGE = 500
/** In how large a library how many letters of a word must be given: the index reads all words that begin with them. */
const PREFIXES: readonly (readonly [size: number, letters: number])[] = [
  [200_000, 3],
  [20_000, 2],
]

export const asQuery = ({ words, prefix }: Term): WordQuery => ({ phrase: words, prefix })

/** A term with its inverse document frequency (Robertson, Sparck Jones 1976, as BM25 has it). */
export function weighTerm(term: Term, frequency: number, size: number): Needle {
  const grammar = term.words.length === 1 && isCommonWord(term.words[0]!)
  const everywhere = size > LARGE && frequency > COMMON_SHARE * size
  const weight = Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))
  return { ...term, weight, optional: !term.quoted && (grammar || everywhere) }
}

/** A beginning that is too short for the library counts as a whole word. */
export function boundPrefix(term: Term, size: number): Term {
  const last = term.words.at(-1)!
  if (!term.prefix || isSpaceless(last)) return term
  const least = PREFIXES.find(([from]) => size >= from)?.[1] ?? 1
  return [...last].length >= least ? term : { ...term, prefix: false }
}

/** About how many passages there are: ids are given out one by one. */
export async function librarySize(db: Db): Promise<number> {
  const row = await db
    .selectFrom('passage')
    .select((of) => of.fn.max('id').as('last'))
    .executeTakeFirst()
  return row?.last ?? 0
}

/** Frequencies that were dear to count, by database. */
const remembered = new WeakMap<Kysely<Schema>, Map<string, { frequency: number; size: number }>>()
const DEAR = 2_000
const MOST_REMEMBERED = 10_000

/** In how many passages terms stand, among those that a search may look at: what it may not see weighs nothing. */
export class Frequencies {
  readonly #db: Kysely<Schema>
  readonly #columns: readonly WordColumn[]
  readonly #size: number
  readonly #counted = new Map<string, number>()

  constructor(db: Kysely<Schema>, columns: readonly WordColumn[], size: number) {
    this.#db = db
    this.#columns = columns
    this.#size = size
  }

  /** Exact up to 20,000. */
  async of(term: Term): Promise<number> {
    const key = keyOf(term)
    const frequency = this.#counted.get(key) ?? (await this.#recall(key, term))
    this.#counted.set(key, frequency)
    return frequency
  }

  /** That of a term which was asked before. */
  known(term: Term): number {
    return this.#counted.get(keyOf(term)) ?? this.#size
  }

  async #recall(key: string, term: Term): Promise<number> {
    let memory = remembered.get(this.#db)
    if (!memory) remembered.set(this.#db, (memory = new Map()))
    const place = `${this.#columns.join(' ')}: ${key}`
    const recalled = memory.get(place)
    if (recalled && this.#size < recalled.size * 1.1 && this.#size >= recalled.size) return recalled.frequency
    const frequency = await this.#count(term)
    if (frequency >= DEAR) {
      if (memory.size >= MOST_REMEMBERED) memory.clear()
      memory.set(place, { frequency, size: this.#size })
    }
    return frequency
  }

  async #count(term: Term): Promise<number> {
    const query = asQuery(term)
    const seen = this.#columns.length < WORD_COLUMNS.length ? { match: query, in: this.#columns } : query
    const { count, last } = await fullText(this.#db).count(this.#db, seen, COUNTED)
    if (count < COUNTED) return count
    return Math.min(this.#size, Math.round((count * this.#size) / Math.max(1, last)))
  }
}

const keyOf = ({ words, prefix }: Term): string => `${words.join(' ')}${prefix ? '*' : ''}`
