import { CompiledQuery, sql } from 'kysely'
import type { FullText, WordColumn, WordQuery } from '../full-text.ts'

/** Bytes that FTS5 gathers before it writes a segment: the default, and what spares most of the merging in a bulk load. */
const HASH_BYTES = 1 << 20
const BULK_HASH_BYTES = 16 << 20

const insertInto = (column: WordColumn): string =>
  `insert into passage_words (rowid, ${column}) values (?, ?)`
const INSERT: Record<WordColumn, string> = {
  text: insertInto('text'),
  head: insertInto('head'),
  highlight: insertInto('highlight'),
  note: insertInto('note'),
}

/** The word index on FTS5: one row a passage, its words in the column of its kind; the texts are not kept a second time. */
export const sqliteFullText: FullText = {
  async add(db, rows) {
    // Row by row: a statement that writes several makes FTS5 write out what it has gathered, before each.
    for (const { id, column, words } of rows)
      await db.executeQuery(CompiledQuery.raw(INSERT[column], [id, words]))
  },

  async match(db, query, { order, limit, between }) {
    const match = render(query)
    if (match === undefined) return []
    const range = between ? sql`and rowid between ${between[0]} and ${between[1]}` : sql``
    const by = order === 'rank' ? sql`rank` : sql`rowid desc`
    const { rows } = await sql<{ id: number }>`select rowid as id from passage_words
      where passage_words match ${match} ${range} order by ${by} limit ${limit}`.execute(db)
    return rows.map(({ id }) => id)
  },

  async count(db, query, most) {
    const match = render(query)
    if (match === undefined) return { count: 0, last: 0 }
    const { rows } = await sql<{ count: number; last: number | null }>`
      select count(*) as count, max(id) as last from (
        select rowid as id from passage_words where passage_words match ${match} limit ${most})`.execute(db)
    return { count: rows[0]?.count ?? 0, last: rows[0]?.last ?? 0 }
  },

  async clear(db) {
    await sql`insert into passage_words (passage_words) values ('delete-all')`.execute(db)
  },

  async bulk(db, work) {
    const hashsize = (bytes: number) =>
      sql`insert into passage_words (passage_words, rank) values ('hashsize', ${bytes})`.execute(db)
    await hashsize(BULK_HASH_BYTES)
    const result = await work()
    await hashsize(HASH_BYTES)
    return result
  },

  async check(db) {
    try {
      await sql`insert into passage_words (passage_words) values ('integrity-check')`.execute(db)
      return true
    } catch {
      return false
    }
  },
}

/** The MATCH expression of a query, undefined where it can match nothing. Every word is a quoted string of its own. */
function render(query: WordQuery): string | undefined {
  if ('phrase' in query) {
    const words = query.phrase.filter((word) => word !== '')
    if (words.length === 0) return undefined
    return `${words.map(quote).join(' + ')}${query.prefix ? ' *' : ''}`
  }
  if ('near' in query) {
    const phrases = query.near.map((words) => render({ phrase: words }))
    if (phrases.length === 0 || phrases.includes(undefined)) return undefined
    return phrases.length === 1 ? phrases[0] : `NEAR(${phrases.join(' ')}, ${query.words})`
  }
  if ('all' in query) return join(query.all.map(render), ' AND ', true)
  if ('any' in query) return join(query.any.map(render), ' OR ', false)
  const match = render(query.match)
  if (match === undefined) return undefined
  if ('in' in query) return query.in.length === 0 ? undefined : `{${query.in.join(' ')}} : (${match})`
  const without = render(query.without)
  return without === undefined ? match : `(${match}) NOT (${without})`
}

function join(parts: (string | undefined)[], operator: string, every: boolean): string | undefined {
  const present = parts.filter((part) => part !== undefined)
  if (present.length === 0 || (every && present.length < parts.length)) return undefined
  return balanced(present, operator)
}

/** In halves: FTS5 refuses trees that are deeper than 256. */
function balanced(parts: string[], operator: string): string {
  if (parts.length === 1) return parts[0]!
  const middle = Math.ceil(parts.length / 2)
  return `(${balanced(parts.slice(0, middle), operator)}${operator}${balanced(parts.slice(middle), operator)})`
}

const quote = (word: string): string => `"${word.replaceAll('"', '""')}"`
