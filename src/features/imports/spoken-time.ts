import {
  calendarWord,
  EAST_ASIAN_DAYS,
  findCalendarWords,
  wordsOf,
  type CalendarMatch,
} from './calendar-words.ts'
import { halfOfDay, hourOfDay, type HalfOfDay } from './half-of-day.ts'
import { civilDay, joinTime, type ReadTime } from './written-time.ts'

const UNREAD: ReadTime = { time: null, doubt: 'unread' }

/** What a line says besides its clock time, which is all that differs between the entries of one day. */
interface Frame {
  date: string | null
  fits: boolean
  half: HalfOfDay
  zone: string | undefined
}

const frames = new Map<string, Frame>()
const MOST_FRAMES = 10_000
/** Stands for the clock time in a frame. */
const CLOCK_MARK = '\u0001'

/**
 * Reads a date that is written out as people write it, in any of some sixty languages: `Monday, August 5, 2013, 09:11 AM`,
 * `miércoles, 6 de julio de 2022 06:54:57`, `2024年9月12日星期四 上午9:39:29`. The order of its parts is told by what they are,
 * not by phrases; a month that could be two, or a short year that its day of the week does not
 * bear out, leaves it unread.
 */
export function readSpokenTime(stated: string): ReadTime {
  if (stated.length > 300) return UNREAD
  const text = stated
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\p{Cc}]/gu, ' ')
    .replaceAll(/(?![0-9])\p{Nd}/gu, asciiDigit)
    .replaceAll(/\p{White_Space}+/gu, ' ')
    .trim()
  const clock = CLOCK.exec(text)
  const framed = clock
    ? text.slice(0, clock.index) + CLOCK_MARK + text.slice(clock.index + clock[0].length)
    : text
  const frame = frames.get(framed) ?? remember(framed)
  const { date, fits } = frame
  if (date === null) return UNREAD
  const read = clock ? withClock(date, clock, frame) : { time: date }
  return fits || read.doubt ? read : { ...read, doubt: 'weekday' }
}

function remember(framed: string): Frame {
  if (frames.size >= MOST_FRAMES) frames.clear()
  const frame = readFrame(framed)
  frames.set(framed, frame)
  return frame
}

const NO_DATE: Frame = { date: null, fits: true, half: 'none', zone: undefined }

function readFrame(text: string): Frame {
  const match = findCalendarWords(wordsOf(text))
  const found = eastAsian(text) ?? numeric(text, match) ?? inWords(text, match)
  const date = found ? civilDay(found.year, found.month, found.day) : null
  if (!found || date === null) return NO_DATE
  const weekday = eastAsianDay(text) ?? match?.weekday ?? null
  const fits = weekday === null || weekday === isoWeekday(date)
  if (!fits && !found.isPlain) return NO_DATE
  // Nearly everywhere the clock follows the date; Vietnamese has it in front.
  const [lead = '', rest = ''] = found.after.includes(CLOCK_MARK)
    ? found.after.split(CLOCK_MARK)
    : ['', found.before.split(CLOCK_MARK)[1]]
  return { date, fits, half: halfOfDay(lead, rest, match), zone: zoneIn(rest) }
}

interface FoundDate {
  year: number
  month: number
  day: number
  /** What stands before the date, and what after; the clock is in one of them. */
  before: string
  after: string
  /** Whether it can be read in one way only; otherwise a day of the week must bear it out. */
  isPlain: boolean
}

function found(match: RegExpExecArray, year: unknown, month: unknown, day: unknown): FoundDate {
  return {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    before: match.input.slice(0, match.index),
    after: match.input.slice(match.index + match[0].length),
    isPlain: true,
  }
}

function eastAsian(text: string): FoundDate | undefined {
  const match =
    /(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일號号]/u.exec(text) ??
    /(?<day>\d{1,2}) (?:tháng|thg) (?<month>\d{1,2}),? (?:năm )?(?<year>\d{4})/iu.exec(text)
  if (!match) return undefined
  const { year = match[1], month = match[2], day = match[3] } = match.groups ?? {}
  return found(match, year, month, day)
}

/** Only digits: the year first or, with dots, last; with strokes the day and month have to be told apart. */
function numeric(text: string, match: CalendarMatch | null): FoundDate | undefined {
  const yearFirst = /(?<![\d.])(\d{4})([-/.]) ?(\d{1,2})\2 ?(\d{1,2})(?!\d)/.exec(text)
  if (yearFirst) return found(yearFirst, yearFirst[1], yearFirst[3], yearFirst[4])
  const yearLast = /(?<![\d.:])(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4})(?!\d)/.exec(text)
  if (!yearLast) return undefined
  const [, one, mark, other, year] = yearLast
  const dayFirst = found(yearLast, year, other, one)
  if (mark === '.') return dayFirst
  const monthFirst = found(yearLast, year, one, other)
  const readings = [dayFirst, monthFirst].filter((date) => {
    const day = civilDay(date.year, date.month, date.day)
    return day !== null && (match?.weekday ?? isoWeekday(day)) === isoWeekday(day)
  })
  const [only] = readings
  if (one !== other && readings.length !== 1) return undefined
  return only
}

/** A month's name, with its day and year around it. */
function inWords(text: string, match: CalendarMatch | null): FoundDate | undefined {
  if (!match || match.month === null) return undefined
  const name = [...match.known].find((word) => indexOfWord(text, word, match) !== undefined)
  const at = name === undefined ? undefined : indexOfWord(text, name, match)
  if (!at) return undefined
  const { start, end } = at
  const left = text.slice(0, start)
  const right = text.slice(end)
  const dayLeft = /(?<![\d:.])(\d{1,2})(?:st|nd|rd|th|er|º|ª|°|o)?[.,]?(?: ?\p{L}{1,4}'?\.?)? ?-?$/u.exec(
    left,
  )
  const dayRight = /^[.,]?(?: \p{L}{1,3}\.?)?[ -]?(\d{1,2})(?:st|nd|rd|th|º|ª)?(?![\d:])/u.exec(right)
  const yearRight =
    /^[.,]?(?: ?-?(?:\p{L}{1,5}\.?)?(?:\d{1,2}(?:st|nd|rd|th|º|ª)?)?[.,]?){0,2} ?-?(\d{4})(?!\d)/u.exec(right)
  const yearLeft = /(?<!\d)(\d{4})(?!\d)[^\d]{0,12}(?:\d{1,2}\D{0,4})?$/u.exec(left)
  const shortYear =
    right.startsWith(' ') && right.slice(3).startsWith(` ${CLOCK_MARK}`) ? /^ (\d{2})/.exec(right) : null
  if (yearRight) {
    // One day, on either side of the month; with one on both sides nobody knows which.
    const isDayAfter = /\d/.test(yearRight[0].slice(0, -4))
    if ((dayLeft !== null) === isDayAfter) return undefined
    const day = dayLeft ?? dayRight
    const from = start - (dayLeft?.[0].length ?? 0)
    return day ? dated(text, match.month, day[1], yearRight[1], from, end + yearRight[0].length) : undefined
  }
  if (yearLeft && (dayRight ?? dayLeft)) {
    const day = dayRight ?? dayLeft
    return dated(text, match.month, day?.[1], yearLeft[1], yearLeft.index, end + (dayRight?.[0].length ?? 0))
  }
  // `3 December 12 19:51:33`: the year has two digits. Only a day of the week, checked by the caller, makes that certain.
  if (dayLeft && shortYear && match.weekday !== null)
    return {
      ...dated(
        text,
        match.month,
        dayLeft[1],
        2000 + Number(shortYear[1]),
        start - dayLeft[0].length,
        end + 3,
      ),
      isPlain: false,
    }
  return undefined
}

function dated(
  text: string,
  month: number,
  day: string | undefined,
  year: string | number | undefined,
  start: number,
  end: number,
): FoundDate {
  return {
    year: Number(year),
    month,
    day: Number(day),
    before: text.slice(0, start),
    after: text.slice(end),
    isPlain: true,
  }
}

/** Where the month stands: the word that names it, and no day of the week. */
function indexOfWord(
  text: string,
  word: string,
  match: CalendarMatch,
): { start: number; end: number } | undefined {
  for (const found of text.matchAll(/[\p{L}\p{M}][\p{L}\p{M}.'’ʼ-]*/gu)) {
    const folded = calendarWord(found[0])
    if (folded !== word) continue
    const alone = findCalendarWords([folded])
    if (alone?.month !== match.month && findInLanguage(folded, match) !== match.month) continue
    return { start: found.index, end: found.index + found[0].length }
  }
  return undefined
}

function findInLanguage(word: string, match: CalendarMatch): number | null {
  // The same word with the day of the week at its side is looked up in the language of both.
  const others = [...match.known].filter((known) => known !== word)
  return findCalendarWords([word, ...others])?.month ?? null
}

/** `14:46:33`, `9:11`, and `14.46.33` where dots part it. */
const CLOCK =
  /(?<![\d:.])(\d{1,2}):(\d{2})(?::(\d{2}))?(?![\d:])|(?<![\d:.])(\d{1,2})\.(\d{2})\.(\d{2})(?![\d:.])/

function withClock(date: string, clock: RegExpExecArray, { half, zone }: Frame): ReadTime {
  const hour = Number(clock[1] ?? clock[4])
  const minute = Number(clock[2] ?? clock[5])
  const second = Number(clock[3] ?? clock[6] ?? '0')
  if (half === 'unknown' && hour >= 1 && hour <= 12) return { time: date, doubt: 'day' }
  const real = hourOfDay(hour, half)
  if (real === null) return { time: date, doubt: 'day' }
  return joinTime(date, real, minute, second, zone)
}

function zoneIn(rest: string): string | undefined {
  const offset = /^ ?(?:gmt|utc)? ?([+-]\d{2}:?\d{2})(?!\d)/i.exec(rest)?.[1]
  if (offset !== undefined) return offset
  return /\b(?:gmt|utc|greenwich mean time|coordinated universal time)\b|^z\b/i.test(rest) ? 'Z' : undefined
}

function eastAsianDay(text: string): number | null {
  const found = EAST_ASIAN_DAYS.findIndex((day) => day.test(text))
  return found === -1 ? null : found + 1
}

const isoWeekday = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay() || 7

function asciiDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0
  // Digits of every script stand in rows of ten that begin with zero.
  let zero = point
  while (point - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero--
  return String(point - zero)
}
