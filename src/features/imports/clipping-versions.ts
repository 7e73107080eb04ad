import type { ClippingKind, KindleRange } from './kindle-words.ts'
import type { WrittenTime } from './written-time.ts'

/** What is compared of one clipping. */
export interface Versioned {
  kind: ClippingKind
  body: string
  range: KindleRange | null
  time: WrittenTime | null
  /** Its number in the file. */
  row: number
}

/** One highlight with every version of it that the file has, and the notes on it. */
export interface VersionGroup<T extends Versioned> {
  /** As the reader left it. */
  last: T
  /** Earlier versions, the oldest first; their words differ from the last. */
  earlier: T[]
  /** Clippings that say exactly the same as another. */
  repeated: T[]
  notes: T[]
  earlierNotes: T[]
}

export interface VersionedBook<T extends Versioned> {
  highlights: VersionGroup<T>[]
  /** Notes that stand on no highlight, and earlier versions of them. */
  alone: T[]
  aloneEarlier: T[]
}

/** Places that a range is filed under; wider ones are looked for at both ends alone. */
const BUCKET = 8
const MOST_BUCKETS = 64
/** How many of one place are compared: a file can be made that has thousands there. */
const MOST_COMPARED = 64
/** Shorter words of one page can stand in a longer highlight of it by chance. */
const LONG_ENOUGH = 15
const MINUTES_OF_AN_EDIT = 10

/**
 * Joins what is one highlight. A Kindle writes a new clipping each time a highlight is changed and never takes one out, so of
 * several at one place whose words run into one another the last is what the reader has, and the others are its history. Notes
 * go to the highlight whose place holds theirs, wherever in the file they stand.
 */
export function joinVersions<T extends Versioned>(clippings: readonly T[]): VersionedBook<T> {
  const index = new PlaceIndex<T>()
  const live = new Set<Group<T>>()
  for (const clipping of clippings) {
    if (clipping.kind !== 'highlight') continue
    const words = fold(clipping.body)
    const same = new Set<Group<T>>()
    for (const other of index.near(clipping, words)) {
      const group = currentOf(other.group)
      if (!same.has(group) && isSame(clipping, words, other)) same.add(group)
    }
    const [group = { all: [], notes: [] }, ...others] = [...same].toSorted(
      (a, b) => b.all.length - a.all.length,
    )
    for (const other of others) {
      live.delete(other)
      other.into = group
      group.all.push(...other.all)
    }
    group.all.push(clipping)
    live.add(group)
    index.add({ clipping, words, group })
  }
  const alone: T[] = []
  for (const note of clippings) {
    if (note.kind !== 'note') continue
    const holder = holderOf(note, index.near(note))
    if (holder) holder.notes.push(note)
    else alone.push(note)
  }
  const joined = joinNotes(alone)
  return {
    highlights: [...live].map((group) => finish(group)),
    alone: joined.notes,
    aloneEarlier: joined.earlier,
  }
}

interface Group<T> {
  all: T[]
  notes: T[]
  /** The group that took it over. */
  into?: Group<T>
}

interface Entry<T> {
  clipping: T
  /** The body as it is compared. */
  words: string
  group: Group<T>
}

/** Highlights by where they stand. */
class PlaceIndex<T extends Versioned> {
  readonly #filed = new Map<string, Entry<T>[]>()

  add(entry: Entry<T>): void {
    for (const key of keysOf(entry.clipping, entry.words)) {
      const filed = this.#filed.get(key)
      if (filed) filed.push(entry)
      else this.#filed.set(key, [entry])
    }
  }

  /** Those whose place overlaps, or with the same words where there is no place; the latest of very many. */
  near(clipping: Versioned, words?: string): Set<Entry<T>> {
    const entries = new Set<Entry<T>>()
    for (const key of keysOf(clipping, words))
      for (const entry of (this.#filed.get(key) ?? []).slice(-MOST_COMPARED))
        if (overlaps(clipping, entry.clipping)) entries.add(entry)
    return entries
  }
}

function currentOf<T>(group: Group<T>): Group<T> {
  let current = group
  while (current.into) current = current.into
  // The way is shortened for those who come after.
  for (let next: Group<T> | undefined = group; next?.into;) {
    const { into }: Group<T> = next
    next.into = current
    next = into === current ? undefined : into
  }
  return current
}

function keysOf({ range }: Versioned, words: string | undefined): string[] {
  if (!range) return words === undefined ? [] : [`words ${words}`]
  const first = Math.floor(range.start / BUCKET)
  const last = Math.floor(range.end / BUCKET)
  if (last - first > MOST_BUCKETS) return [`${range.unit} ${first}`, `${range.unit} ${last}`]
  return Array.from({ length: last - first + 1 }, (_, i) => `${range.unit} ${first + i}`)
}

function overlaps({ range: one }: Versioned, { range: other }: Versioned): boolean {
  if (!one || !other) return one === other
  return one.unit === other.unit && one.start <= other.end && other.start <= one.end
}

const isSame = <T extends Versioned>(clipping: T, words: string, other: Entry<T>): boolean =>
  runTogether(
    words,
    other.words,
    clipping.range?.unit === 'location',
    () => minutesBetween(clipping.time, other.clipping.time) <= MINUTES_OF_AN_EDIT,
  )

/** Whether two highlights whose places overlap are versions of one, by their words. Shorter ones only where the place is narrow. */
export function areVersions(one: string, other: string, isNarrow: boolean): boolean {
  return runTogether(fold(one), fold(other), isNarrow, () => false)
}

function runTogether(words: string, others: string, isNarrow: boolean, soon: () => boolean): boolean {
  const isShorter = words.length < others.length
  const short = isShorter ? words : others
  const long = isShorter ? others : words
  if (short === long) return true
  if (short === '' || long.length > 50_000) return false
  if (long.includes(short)) {
    return isNarrow || short.length >= LONG_ENOUGH || short.length * 2 >= long.length || soon()
  }
  const half = Math.max(6, Math.ceil(short.length / 2))
  return runsInto(short, long, half) || runsInto(long, short, half)
}

/** Words as they are compared: spaces as one, and what ends a sentence or a cut left out. */
function fold(body: string): string {
  const text = body.replaceAll(/\s+/g, ' ')
  let start = 0
  let end = text.length
  while (start < end && ' .…'.includes(text[start]!)) start++
  while (end > start && ' .…,;:'.includes(text[end - 1]!)) end--
  return text.slice(start, end)
}

const MOST_BEGINNINGS = 16

/** Whether the end of `one`, of at least `least` characters, is the beginning of `other`. */
function runsInto(one: string, other: string, least: number): boolean {
  const beginning = other.slice(0, least)
  let at = one.indexOf(beginning, Math.max(0, one.length - other.length))
  for (let tries = 0; at !== -1 && tries < MOST_BEGINNINGS; tries++) {
    if (other.startsWith(one.slice(at))) return true
    at = one.indexOf(beginning, at + 1)
  }
  return false
}

/** Infinite where one of the two is not known to the minute. */
function minutesBetween(one: WrittenTime | null, other: WrittenTime | null): number {
  if (one === null || other === null || one.length < 19 || other.length < 19) return Infinity
  return Math.abs(Date.parse(utc(one)) - Date.parse(utc(other))) / 60_000
}

const utc = (time: WrittenTime): string => (time.endsWith('Z') ? time : `${time}Z`)

/** Earlier before later: by the clock where both have one of the same kind, else by the order of the file. */
function byAge(one: Versioned, other: Versioned): number {
  if (
    one.time !== null &&
    other.time !== null &&
    one.time.length === other.time.length &&
    one.time !== other.time
  )
    return one.time < other.time ? -1 : 1
  return one.row - other.row
}

function finish<T extends Versioned>({ all, notes }: Group<T>): VersionGroup<T> {
  const versions = all.toSorted(byAge)
  const last = versions.at(-1)!
  const words = new Set([fold(last.body)])
  const earlier: T[] = []
  const repeated: T[] = []
  for (const version of versions.slice(0, -1).toReversed()) {
    const body = fold(version.body)
    if (words.has(body)) repeated.push(version)
    else {
      words.add(body)
      earlier.push(version)
    }
  }
  const joined = joinNotes(notes)
  return {
    last,
    earlier: earlier.toReversed(),
    repeated: repeated.toReversed(),
    notes: joined.notes,
    earlierNotes: joined.earlier,
  }
}

/** Of notes at one place the later is the edited one, where it still has the words of the earlier or was made from them. */
function joinNotes<T extends Versioned>(notes: readonly T[]): { notes: T[]; earlier: T[] } {
  const kept: T[] = []
  const earlier: T[] = []
  for (const note of notes.toSorted(byAge)) {
    const before = kept
      .slice(-MOST_COMPARED)
      .find(
        (other) =>
          other.range?.start === note.range?.start &&
          other.range?.unit === note.range?.unit &&
          isEdit(other, note),
      )
    if (before) {
      kept.splice(kept.indexOf(before), 1)
      earlier.push(before)
    }
    kept.push(note)
  }
  return { notes: kept.toSorted((a, b) => a.row - b.row), earlier }
}

const isEdit = (before: Versioned, after: Versioned): boolean => isEditOf(before.body, after.body)

/** Whether one of two notes at a place was made from the other. */
export function isEditOf(before: string, after: string): boolean {
  const [one, other] = [fold(before), fold(after)]
  return (
    one === other ||
    other.startsWith(one) ||
    one.startsWith(other) ||
    (one.length > LONG_ENOUGH && other.includes(one))
  )
}

/**
 * The group on which a note stands: one whose place holds it; best the one that ends there, then the narrowest, then the
 * nearest in time.
 */
function holderOf<T extends Versioned>(note: T, near: ReadonlySet<Entry<T>>): Group<T> | undefined {
  const holding = [...near].toSorted(
    ({ clipping: a }, { clipping: b }) => badness(a, note) - badness(b, note) || byDistance(a, b, note),
  )
  const [best] = holding
  if (!best) return undefined
  if (note.range?.unit === 'location') return currentOf(best.group)
  // A whole page holds a note less surely: the only highlight there, or the one made in the same moment.
  const groups = new Set(holding.map(({ group }) => currentOf(group)))
  if (groups.size === 1) return currentOf(best.group)
  const close = holding.filter(({ clipping }) => minutesBetween(clipping.time, note.time) <= 2)
  const closeGroups = new Set(close.map(({ group }) => currentOf(group)))
  const [only] = closeGroups
  return closeGroups.size === 1 ? only : nextTo(note, holding)
}

/** Programs that write this form put the note behind its highlight, under the same time. */
function nextTo<T extends Versioned>(note: T, holding: readonly Entry<T>[]): Group<T> | undefined {
  const before = holding.find(({ clipping }) => clipping.row === note.row - 1 && clipping.time === note.time)
  return before && currentOf(before.group)
}

function badness({ range }: Versioned, note: Versioned): number {
  if (!range || !note.range) return Infinity
  return Math.abs(range.end - note.range.start) + (range.end - range.start) / 1e6
}

function byDistance(a: Versioned, b: Versioned, note: Versioned): number {
  const [one, other] = [minutesBetween(a.time, note.time), minutesBetween(b.time, note.time)]
  return one === other ? Math.abs(a.row - note.row) - Math.abs(b.row - note.row) : one - other
}
