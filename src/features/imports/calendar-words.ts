/**
 * Languages whose months and days are known, those of reading devices first. The names come with the runtime (CLDR), in both
 * of their forms where a language has two (`январь`, `января`).
 */
const LANGUAGES =
  'en de fr es it pt nl ru ja zh zh-TW ko sv da nb fi pl cs tr uk hu ro sk hr sl bg sr sr-Latn el he ar fa hi ta te ml kn gu mr bn pa th vi id ms fil ca eu gl et lv lt is sq mk ka hy az kk be bs af sw cy ga lb'.split(
    ' ',
  )

/** Written alike in two languages for different months: believed only with a day of the week. */
const TWO_MONTHS: ReadonlySet<string> = new Set(['listopad', 'listopada', 'lip', 'lis', 'srp'])

interface Words {
  months: Map<string, number>
  weekdays: Map<string, number>
  joining: Set<string>
}

export interface CalendarMatch {
  language: string
  /** 1 to 12; null where only a day of the week was found. */
  month: number | null
  /** 1 for Monday to 7 for Sunday; null where the line has none. */
  weekday: number | null
  /** The words that were recognised. */
  known: ReadonlySet<string>
  /** Words that the language puts between a date and a clock time (`at`, `um`, `klo`). */
  joining: ReadonlySet<string>
}

const built = new Map<string, Words>()
const remembered = new Map<string, CalendarMatch | null>()
const MOST_REMEMBERED = 5000

/** As words are compared: lower case, without trailing dots and invisible marks. */
export const calendarWord = (word: string): string =>
  word
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\p{Cf}\u0307]/gu, '')
    .replaceAll(/[’ʼ`´]/g, "'")
    .replace(/[.,،]+$/u, '')

/**
 * The month and the day of the week among `words`, in one and the same language. A language in which both are known is
 * preferred; a month alone is believed where no other language means a different one by it.
 */
export function findCalendarWords(words: readonly string[]): CalendarMatch | null {
  const key = words.join(' ')
  const before = remembered.get(key)
  if (before !== undefined) return before
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  const found = search(words)
  remembered.set(key, found)
  return found
}

function search(words: readonly string[]): CalendarMatch | null {
  let monthAlone: CalendarMatch | null = null
  let dayAlone: CalendarMatch | null = null
  const text = ` ${words.join(' ')} `
  for (const language of LANGUAGES) {
    const names = namesOf(language)
    const months = pick(names.months, words, text)
    const weekdays = pick(names.weekdays, words, text)
    const [month] = months.values
    const [weekday] = weekdays.values
    // May and a day of the week can be one word in a language; two different months in a line are nobody's date.
    if (months.values.size > 1 || weekdays.values.size > 1) continue
    const match: CalendarMatch = {
      language,
      month: month ?? null,
      weekday: weekday ?? null,
      known: new Set([...months.known, ...weekdays.known]),
      joining: names.joining,
    }
    if (month !== undefined && weekday !== undefined) return match
    if (month !== undefined && ![...months.known].every((word) => TWO_MONTHS.has(word))) monthAlone ??= match
    if (weekday !== undefined) dayAlone ??= match
  }
  return monthAlone ?? dayAlone
}

function pick(names: Map<string, number>, words: readonly string[], text: string) {
  const values = new Set<number>()
  const known: string[] = []
  for (const word of words) {
    const value = names.get(word)
    if (value === undefined) continue
    values.add(value)
    known.push(word)
  }
  if (values.size === 0)
    for (const [name, value] of names)
      if (name.includes(' ') && text.includes(` ${name} `)) {
        values.add(value)
        known.push(...name.split(' '))
      }
  return { values, known }
}

function namesOf(language: string): Words {
  const known = built.get(language)
  if (known) return known
  const words: Words = { months: new Map(), weekdays: new Map(), joining: new Set() }
  const locale = `${language}-u-ca-gregory-nu-latn`
  const shapes: Intl.DateTimeFormatOptions[] = [
    { month: 'long' },
    { month: 'short' },
    { month: 'long', day: 'numeric', weekday: 'long' },
    { month: 'short', day: 'numeric', weekday: 'short' },
  ]
  for (const shape of shapes) {
    const format = new Intl.DateTimeFormat(locale, { ...shape, timeZone: 'UTC' })
    for (let month = 1; month <= 12; month++) {
      // The fifteenth of each month and, over the year, every day of the week.
      const at = new Date(Date.UTC(2023, month - 1, 15))
      for (const part of format.formatToParts(at)) {
        if (part.type === 'month') {
          add(words.months, part.value, month)
          // Hebrew joins its "of" to the month.
          if (language === 'he') add(words.months, `ב${part.value}`, month)
        }
        if (part.type === 'weekday') add(words.weekdays, part.value, at.getUTCDay() || 7)
      }
    }
  }
  const whole = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium', timeZone: 'UTC' })
  for (const part of whole.formatToParts(new Date(Date.UTC(2023, 0, 15, 14))))
    if (part.type === 'literal')
      for (const [word] of part.value.matchAll(/[\p{L}\p{M}]+/gu)) words.joining.add(calendarWord(word))
  built.set(language, words)
  return words
}

function add(names: Map<string, number>, name: string, value: number): void {
  const word = calendarWord(name)
  // Numbers are no words, and single letters stand for several days.
  if (word.length < 2 || /\d/.test(word)) return
  names.set(word, value)
}

/** The words of a line as they are compared. */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  for (const [word] of text.matchAll(/[\p{L}\p{M}][\p{L}\p{M}.'’ʼ-]*/gu)) words.push(calendarWord(word))
  return words
}

/** Days of the week as they are written in East Asia, Monday first. */
export const EAST_ASIAN_DAYS = [
  /月曜日?|(?:星期|週|周)一|월요일/u,
  /火曜日?|(?:星期|週|周)二|화요일/u,
  /水曜日?|(?:星期|週|周)三|수요일/u,
  /木曜日?|(?:星期|週|周)四|목요일/u,
  /金曜日?|(?:星期|週|周)五|금요일/u,
  /土曜日?|(?:星期|週|周)六|토요일/u,
  /日曜日?|(?:星期|週|周)[日天]|일요일/u,
]
