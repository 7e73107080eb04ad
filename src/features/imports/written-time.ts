import { Temporal } from 'temporal-polyfill'
import type { DayRules } from '../../core/days.ts'

/**
 * A time as far as a file tells it, in one of three forms:
 * - `2024-03-05T16:20:00.000Z`: an instant, where the file gives a zone or counts seconds;
 * - `2024-03-05T17:20:00`: what a clock on the wall showed, where no zone is given (Kindle, KOReader);
 * - `2024-03-05`, `2024-03` or `2024`: a day, month or year and no more.
 * What a file does not say is not added here; `instantOf` does that, with the reader's own zone.
 */
export type WrittenTime = string

export interface ReadTime {
  time: WrittenTime | null
  /**
   * `unread`: something is written and no certain date could be made of it; `day`: the day is certain, the hour is not;
   * `weekday`: the date is plain and falls on another day of the week than the file says.
   */
  doubt?: 'unread' | 'day' | 'weekday'
}

/** `YYYY-MM-DD`, or null where there is no such day. */
export function civilDay(year: number, month: number, day: number): string | null {
  if (!(year >= 1000 && year <= 2200) || !(month >= 1 && month <= 12) || !(day >= 1)) return null
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return null
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
}

/** A day and what the clock showed, with its zone where one is given. */
export function joinTime(
  date: string,
  hour: number,
  minute: number,
  second: number,
  zone: string | undefined,
  fraction = '',
): ReadTime {
  if (hour > 23 || minute > 59 || second > 59) return { time: date, doubt: 'day' }
  const clock = `${two(hour)}:${two(minute)}:${two(second)}`
  if (zone === undefined) return { time: `${date}T${clock}` }
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3) || '0')
  const at = Date.parse(`${date}T${clock}Z`) + ms - offset * 60_000
  return { time: new Date(at).toISOString() }
}

const two = (value: number): string => String(value).padStart(2, '0')

/**
 * The instant that a written time means for this reader, ISO 8601 in UTC. A clock without a zone is taken for the clock of
 * the reader's zone (an hour that was skipped there is the one after, one that came twice the first); a day without an hour
 * becomes one that lies on that day by the reader's own rules, noon unless their day ends later. Null for a month or a year:
 * no day is made up.
 */
export function instantOf(time: WrittenTime, { timeZone, dayEndHour }: DayRules): string | null {
  if (time.endsWith('Z')) return time
  if (time.length < 10) return null
  const local =
    time.length === 10
      ? Temporal.PlainDate.from(time).toPlainDateTime({ hour: Math.max(12, dayEndHour) })
      : Temporal.PlainDateTime.from(time)
  const at = local.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds
  return new Date(at).toISOString()
}
