import { parseId } from '../../core/ids.ts'
import type { WordColumn } from '../../db/full-text.ts'
import type { SourceKind } from '../../db/schema.ts'
import { foldWords, isSpaceless, locateWords } from './fold-words.ts'

/** Words that have to stand together, folded as the index has them. */
export interface Term {
  words: readonly string[]
  /** The last word is the beginning of one. */
  prefix: boolean
  /** Written in quotes: never done without. */
  quoted: boolean
}

export type ReadingState = 'unread' | 'reading' | 'read'

/** What sources have to be. Of `kinds`, `sources`, `columns` and `states` one is enough, of the others each is needed. */
export interface QueryFilter {
  kinds: SourceKind[]
  notKinds: SourceKind[]
  /** Folded names. */
  tags: string[]
  notTags: string[]
  /** Folded words of one name each. */
  authors: string[]
  notAuthors: string[]
  sources: number[]
  notSources: number[]
  /** Where the words have to stand; anywhere when empty. */
  columns: WordColumn[]
  notColumns: WordColumn[]
  states: ReadingState[]
  notStates: ReadingState[]
  marks: ('highlighted' | 'noted')[]
  notMarks: ('highlighted' | 'noted')[]
  /** Saved before the first day of this civil date or span (`YYYY`, `YYYY-MM`, `YYYY-MM-DD`). */
  before?: string
  /** Saved after the last day of it. */
  after?: string
}

export interface Query {
  terms: Term[]
  without: Term[]
  filter: QueryFilter
  /** What is asked, as it was written, without operators: what is compared by meaning. */
  text: string
}

/** A question of so many words is as narrow as it gets; what follows counts by its meaning only. */
const MOST_TERMS = 64

const KINDS: Record<string, SourceKind[]> = {
  article: ['article'],
  pdf: ['pdf'],
  book: ['book'],
  video: ['video'],
  podcast: ['podcast'],
  media: ['video', 'podcast'],
}
const COLUMNS: Record<string, WordColumn> = {
  title: 'head',
  text: 'text',
  highlights: 'highlight',
  highlight: 'highlight',
  notes: 'note',
  note: 'note',
}
const STATES: readonly string[] = ['unread', 'reading', 'read'] satisfies ReadingState[]
const MARKS: readonly string[] = ['highlighted', 'noted']

/**
 * Reads a question in our grammar: words, `"phrases"`, `-not`, `prefix*`, `type:`, `tag:`, `author:`, `in:` (title, text,
 * highlights, notes, or the id of a source), `before:` and `after:` (dates of when it was saved), `is:` (unread, reading,
 * read, highlighted, noted); `-` in front of any of them turns it round. Everything else is words: nothing is an error.
 */
export function parseQuery(given: string): Query {
  const query: Query = { terms: [], without: [], filter: emptyFilter(), text: '' }
  const asked: string[] = []
  for (const { negative, field, value, quoted, raw } of tokens(given)) {
    if (field !== undefined && addFilter(query.filter, field.toLowerCase(), value, negative)) continue
    const text = field === undefined ? value : raw
    if (!negative) asked.push(text)
    const term = toTerm(text, quoted)
    if (!term) continue
    const list = negative ? query.without : query.terms
    if (list.length < MOST_TERMS && !list.some((other) => sameTerm(other, term))) list.push(term)
  }
  query.text = asked.join(' ').trim()
  return query
}

/** Whether a question asks for anything at all. */
export const isBlank = ({ terms, text, filter }: Query): boolean =>
  terms.length === 0 && text === '' && JSON.stringify(filter) === JSON.stringify(emptyFilter())

export const emptyFilter = (): QueryFilter => ({
  kinds: [],
  notKinds: [],
  tags: [],
  notTags: [],
  authors: [],
  notAuthors: [],
  sources: [],
  notSources: [],
  columns: [],
  notColumns: [],
  states: [],
  notStates: [],
  marks: [],
  notMarks: [],
})

interface Token {
  negative: boolean
  field: string | undefined
  value: string
  quoted: boolean
  /** Everything but the minus, for a field that is none. */
  raw: string
}

/** Minus, field, then a value in quotes (straight or curly) or up to the next space. */
const TOKEN =
  /(?<minus>-(?=[^\s-]))?(?:(?<field>[A-Za-z]+):)?(?:["“”„](?<phrase>[^"“”„]*)["“”](?!\w)|(?<word>\S+))/gu

function* tokens(given: string): Generator<Token> {
  for (const { 0: whole, groups = {} } of given.matchAll(TOKEN)) {
    const { minus, field, phrase, word } = groups
    const raw = minus === undefined ? whole : whole.slice(1)
    yield {
      negative: minus !== undefined,
      field,
      value: phrase ?? word ?? '',
      quoted: phrase !== undefined,
      raw,
    }
  }
}

function toTerm(text: string, quoted: boolean): Term | undefined {
  const located = locateWords(text)
  const last = located.at(-1)
  if (!last) return undefined
  const starred = /\*+$/.test(text) && !quoted
  const words = located.map(({ word }) => word)
  if (!isSpaceless(last.word)) return { words, prefix: starred, quoted }
  // The last character of a run stands alone only where a run ends; in the middle of one it begins a pair.
  if (located.length > 1 && located.at(-2)!.end === last.end)
    return { words: words.slice(0, -1), prefix: false, quoted }
  return { words, prefix: true, quoted }
}

const sameTerm = (a: Term, b: Term): boolean =>
  a.prefix === b.prefix && a.quoted === b.quoted && a.words.join(' ') === b.words.join(' ')

/** Adds a filter; false where this is none, and so words. */
function addFilter(filter: QueryFilter, field: string, value: string, not: boolean): boolean {
  const low = value.toLowerCase()
  if (field === 'type') {
    const kinds = Object.hasOwn(KINDS, low) ? KINDS[low] : undefined
    return kinds !== undefined && (not ? filter.notKinds : filter.kinds).push(...kinds) > 0
  }
  if (field === 'is') {
    if (isState(low)) return (not ? filter.notStates : filter.states).push(low) > 0
    return isMark(low) && (not ? filter.notMarks : filter.marks).push(low) > 0
  }
  if (field === 'in') {
    const column = Object.hasOwn(COLUMNS, low) ? COLUMNS[low] : undefined
    if (column) return (not ? filter.notColumns : filter.columns).push(column) > 0
    const id = parseId(value)
    return id !== undefined && (not ? filter.notSources : filter.sources).push(id) > 0
  }
  if (field === 'before' || field === 'after') {
    if (not || !isDate(value)) return false
    // Two of a kind: the narrower one.
    const known = filter[field]
    const keep = known !== undefined && (field === 'before' ? known <= value : known >= value)
    if (!keep) filter[field] = value
    return true
  }
  const folded = foldWords(value)
  if (folded === '') return false
  if (field === 'tag') return (not ? filter.notTags : filter.tags).push(value) > 0
  return field === 'author' && (not ? filter.notAuthors : filter.authors).push(folded) > 0
}

const isState = (value: string): value is ReadingState => STATES.includes(value)
const isMark = (value: string): value is 'highlighted' | 'noted' => MARKS.includes(value)

function isDate(value: string): boolean {
  const parts = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(value)
  if (!parts) return false
  const [, year, month = '01', day = '01'] = parts
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${year}-${month}-${day}`)
}
