const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
]

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** An instant as a reader would say it: `just now`, `3 hours ago`, `yesterday`, and a date after a week. */
export function when(instant: string | Date, now: Date): string {
  const then = new Date(instant)
  const seconds = (now.getTime() - then.getTime()) / 1_000
  if (Number.isNaN(seconds)) return ''
  if (Math.abs(seconds) < 45) return 'just now'
  if (seconds > 7 * 86_400 || seconds < -7 * 86_400) return localDay(then)
  let [unit, size] = UNITS[0]!
  for (const [larger, length] of UNITS) if (Math.abs(seconds) >= length) [unit, size] = [larger, length]
  if (unit !== 'day') return relative.format(-Math.round(seconds / size), unit)
  // Days are counted on the calendar: last night is yesterday.
  const days = Math.round((Date.parse(localDay(then)) - Date.parse(localDay(now))) / 86_400_000)
  return relative.format(days, 'day')
}

/** `YYYY-MM-DD` on this machine's calendar. */
function localDay(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** A size in bytes for people, in the units of disk makers. */
export function size(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  let at = 0
  let value = bytes
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1_000
    at++
  }
  return `${at === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[at]}`
}

/** `1 page`, `2 pages`. */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`
