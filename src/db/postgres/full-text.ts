import { sql } from 'kysely'
import { WORD_COLUMNS, type FullText, type WordColumn, type WordQuery, type WordRow } from '../full-text.ts'

/** The kind of a passage, as the weight of its words. */
const WEIGHTS: Record<WordColumn, string> = { head: 'A', highlight: 'B', note: 'C', text: 'D' }

/** Limits of `tsvector`: https://www.postgresql.org/docs/current/textsearch-limitations.html */
const MOST_PLACE = 16_383
const MOST_PLACES = 256
/** A word has at most 2,046 bytes; nobody writes one whose first letters are these and that differs in a later one. */
const MOST_LETTERS = 400
/** All words of a passage together have at most a mebibyte. */
const MOST_BYTES = 700_000

/** How many phrases are looked for near one another: the expression has a part for each two of them and each distance. */
const MOST_NEAR = 4
const LAST_ID = Number.MAX_SAFE_INTEGER

/**
 * The word index on `tsvector` with GIN: one row a passage, its words weighted by its kind. Each word begins with the number of
 * the library, so that a library's words stand by themselves in an index that all share.
 */
export function postgresFullText(library: number): FullText {
  const prefix = `${library.toString(36)}:`
  return {
    async add(db, rows) {
      if (rows.length === 0) return
      const ids = rows.map(({ id }) => id)
      const words = rows.map((row) => vectorOf(row, prefix))
      await sql`insert into passage_words (passage_id, words)
        select id, words::tsvector from unnest(${ids}::bigint[], ${words}::text[]) as given (id, words)`.execute(
        db,
      )
    },

    async match(db, query, { order, limit, between }) {
      const match = render(query, prefix)
      if (match === undefined) return []
      const [low, high] = between ?? [0, LAST_ID]
      const matches =
        order === 'newest'
          ? sql`match_words(${match}::tsquery, ${low}, ${high}, ${limit})`
          : sql`rank_words(${match}::tsquery, ${partsOf(query, prefix)}::tsquery[], ${low}, ${high}, ${limit})`
      const { rows } = await sql<{ passage_id: number }>`select passage_id from ${matches}`.execute(db)
      return rows.map(({ passage_id }) => passage_id)
    },

    async count(db, query, most) {
      const match = render(query, prefix)
      if (match === undefined) return { count: 0, last: 0 }
      const { rows } = await sql<{ count: number; last: number | null }>`
        select count, last from count_words(${match}::tsquery, ${most})`.execute(db)
      return { count: rows[0]?.count ?? 0, last: rows[0]?.last ?? 0 }
    },

    async clear(db) {
      await sql`delete from passage_words`.execute(db)
    },

    bulk: (_db, work) => work(),

    // What an index of PostgreSQL holds follows from its table.
    check: async () => true,
  }
}

/** As the index of `WordRow` has it: ASCII letters in one case, and a word ends at whatever is no letter or digit of ASCII. */
function wordsIn(text: string): string[] {
  const words = text
    .replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .match(/[a-z0-9\u{80}-\u{10ffff}]+/gu)
  return (words ?? []).map((word) =>
    word.length > MOST_LETTERS ? word.slice(0, MOST_LETTERS).toWellFormed() : word,
  )
}

/** A passage's words with their places, as the text of a `tsvector`. */
function vectorOf({ column, words }: WordRow, prefix: string): string {
  const places = new Map<string, number[]>()
  let bytes = 0
  for (const [i, word] of wordsIn(words).entries()) {
    let of = places.get(word)
    if (!of) {
      bytes += Buffer.byteLength(word) + prefix.length + 4
      if (bytes > MOST_BYTES) break
      places.set(word, (of = []))
    }
    const place = Math.min(i + 1, MOST_PLACE)
    if (of.length >= MOST_PLACES || of.at(-1) === place) continue
    bytes += 2
    of.push(place)
  }
  const weight = WEIGHTS[column]
  return [...places]
    .map(([word, of]) => `'${prefix}${word}':${of.map((place) => `${place}${weight}`).join(',')}`)
    .join(' ')
}

/** The `tsquery` of a query, undefined where it can match nothing. Words hold no character that would have to be quoted. */
function render(query: WordQuery, prefix: string, columns?: readonly WordColumn[]): string | undefined {
  const nested = (part: WordQuery) => render(part, prefix, columns)
  if ('phrase' in query) {
    const words = query.phrase.flatMap(wordsIn)
    return words.length === 0 ? undefined : phrase(words, prefix, columns, query.prefix)
  }
  if ('near' in query) {
    const phrases = query.near.map((words) => words.flatMap(wordsIn)).filter((words) => words.length > 0)
    return phrases.length === 0 ? undefined : near(phrases, query.words, prefix, columns)
  }
  if ('all' in query) {
    const parts = query.all.map(nested)
    return parts.length === 0 || parts.includes(undefined) ? undefined : `(${parts.join(' & ')})`
  }
  if ('any' in query) {
    const parts = query.any.map(nested).filter((part) => part !== undefined)
    return parts.length === 0 ? undefined : `(${parts.join(' | ')})`
  }
  if ('in' in query) {
    const among = columns ? query.in.filter((column) => columns.includes(column)) : query.in
    return among.length === 0 ? undefined : render(query.match, prefix, among)
  }
  const match = nested(query.match)
  const without = nested(query.without)
  return match === undefined || without === undefined ? match : `(${match} & !${without})`
}

function phrase(
  words: readonly string[],
  prefix: string,
  columns: readonly WordColumn[] | undefined,
  begins = false,
): string {
  const every = !columns || columns.length === WORD_COLUMNS.length
  const weights = every ? '' : columns.map((column) => WEIGHTS[column]).join('')
  const parts = words.map((word, i) => {
    const marks = `${weights}${begins && i === words.length - 1 ? '*' : ''}`
    return `'${prefix}${word}'${marks && `:${marks}`}`
  })
  return parts.length === 1 ? parts[0]! : `(${parts.join(' <-> ')})`
}

/**
 * Every phrase so near the one that ends first that at most so many words lie between, whichever that is. `<0>` makes what
 * follows it begin at one place, or else each phrase might be near another of the first. (A phrase inside of a longer one is
 * not seen to be near it.) Of more phrases than a few it is only asked that they are there.
 */
function near(
  phrases: readonly (readonly string[])[],
  between: number,
  prefix: string,
  columns: readonly WordColumn[] | undefined,
): string {
  const beginnings = new Map(
    phrases.map((words) => [phrase(words, prefix, columns), phrase(words.slice(0, 1), prefix, columns)]),
  )
  const each = [...beginnings.keys()]
  if (each.length === 1) return each[0]!
  if (each.length > MOST_NEAR) return `(${each.join(' & ')})`
  const distances = Array.from({ length: between + 2 }, (_, distance) => distance)
  const choices = each.map((first) => {
    const others = each.filter((other) => other !== first)
    const within = others.map(
      (other) => `(${distances.map((distance) => `${first} <${distance}> ${other}`).join(' | ')})`,
    )
    return within.length === 1 ? within[0]! : `(${beginnings.get(first)} <0> (${within.join(' & ')}))`
  })
  return `(${choices.join(' | ')})`
}

/** The phrases that a query looks for, each as a `tsquery`. */
function partsOf(query: WordQuery, prefix: string): string[] {
  const leaves = (part: WordQuery): WordQuery[] => {
    if ('phrase' in part) return [part]
    if ('near' in part) return part.near.map((words) => ({ phrase: words }))
    if ('all' in part) return part.all.flatMap(leaves)
    if ('any' in part) return part.any.flatMap(leaves)
    return leaves(part.match)
  }
  return leaves(query).flatMap((leaf) => render(leaf, prefix) ?? [])
}
