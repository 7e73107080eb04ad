const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** Month names of other languages whose first letters differ from English. */
const MORE_MONTHS: Record<string, number> = {
  mär: 3,
  mai: 5,
  okt: 10,
  dez: 12,
  janv: 1,
  fév: 2,
  févr: 2,
  mars: 3,
  avr: 4,
  juin: 6,
  juil: 7,
  aoû: 8,
  août: 8,
  déc: 12,

  ene: 1,
  abr: 4,
  ago: 8,
  set: 9,
  dic: 12,
  fev: 2,
  out: 10,
  gen: 1,
  mag: 5,
  giu: 6,
  lug: 7,
  ott: 10,
  mrt: 3,
  mei: 5,

  янв: 1,
  фев: 2,
  мар: 3,
  апр: 4,
  мая: 5,
  май: 5,
  июн: 6,
  июл: 7,
  авг: 8,
  сен: 9,
  окт: 10,
  ноя: 11,
  дек: 12,
}

/**
 * A date as precise as it is written: `2019-11-18T23:30:00-05:00` is 2019-11-18 (the day where it was published),
 * `November 2019` is 2019-11, `1983` is 1983. Day and month that could be either (03/04/2020) leave the year. Null for
 * what is no date.
 */
export function readCivilDate(value: string): string | null {
  const text = value.trim().slice(0, 100)
  const iso = /^(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2})(?!\d))?)?(?=$|[T\s,Z])/.exec(text)
  if (iso) return civil(iso[1], iso[2], iso[3])
  const compact = /^(\d{4})(\d{2})(\d{2})(?=$|T|\s)/.exec(text)
  if (compact) return civil(compact[1], compact[2], compact[3])
  if (/^\d{10}$|^\d{13}$/.test(text)) {
    const moment = new Date(Number(text) * (text.length === 10 ? 1000 : 1))
    return moment.toISOString().slice(0, 10)
  }
  const asian = /(\d{4})\s*[年년]\s*(?:(\d{1,2})\s*[月월]\s*(?:(\d{1,2})\s*[日일])?)?/.exec(text)
  if (asian) return civil(asian[1], asian[2], asian[3])

  const dayFirst =
    /(?<!\d)(\d{1,2})(?:st|nd|rd|th|\.|er)?\s+(?:de\s+)?(\p{L}{3,})\.?,?\s+(?:de\s+)?(\d{4})(?!\d)/u.exec(
      text,
    )
  if (dayFirst && monthOf(dayFirst[2])) return civil(dayFirst[3], String(monthOf(dayFirst[2])), dayFirst[1])
  const monthFirst = /(\p{L}{3,})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)/u.exec(text)
  if (monthFirst && monthOf(monthFirst[1]))
    return civil(monthFirst[3], String(monthOf(monthFirst[1])), monthFirst[2])
  const monthOnly = /^(\p{L}{3,})\.?,?\s+(\d{4})$/u.exec(text)
  if (monthOnly && monthOf(monthOnly[1])) return civil(monthOnly[2], String(monthOf(monthOnly[1])), undefined)

  const numbers = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?!\d)/.exec(text)
  if (numbers) {
    const [, one = '', two = '', year] = numbers
    // Only Germans and their neighbours write dots, and they put the day first.
    if (text.includes('.') || Number(one) > 12) return civil(year, two, one)
    if (Number(two) > 12) return civil(year, one, two)
    return one === two ? civil(year, one, two) : civil(year, undefined, undefined)
  }
  return null
}

function monthOf(name: string | undefined): number | undefined {
  const word = (name ?? '').toLowerCase().normalize('NFC')
  const english = MONTHS.indexOf(word.slice(0, 3))
  if (english !== -1) return english + 1
  return MORE_MONTHS[word.slice(0, 4)] ?? MORE_MONTHS[word.slice(0, 3)]
}

function civil(year: string | undefined, month: string | undefined, day: string | undefined): string | null {
  const y = Number(year)
  if (!(y >= 1000 && y <= 2200)) return null
  if (month === undefined) return String(y)
  const m = Number(month)
  if (m < 1 || m > 12) return null
  const yearMonth = `${y}-${String(m).padStart(2, '0')}`
  if (day === undefined) return yearMonth
  const d = Number(day)
  const days = new Date(Date.UTC(2000, m, 0)).getUTCDate() - (m === 2 && !isLeap(y) ? 1 : 0)
  return d >= 1 && d <= days ? `${yearMonth}-${String(d).padStart(2, '0')}` : null
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}
