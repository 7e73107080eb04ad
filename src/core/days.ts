import { Temporal } from 'temporal-polyfill'

export interface DayRules {
  /** IANA name. */
  timeZone: string
  /** Hour at which the reader's day ends, 0 to 23: at 3, two in the morning still belongs to yesterday. */
  dayEndHour: number
}

/**
 * The civil day `YYYY-MM-DD` that an instant belongs to for this reader: what the clock on the wall says, less the hour at
 * which the day ends, on days when the clocks change as well. The one place where that is decided.
 */
export function dayOf(instant: Date, { timeZone, dayEndHour }: DayRules): string {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainDateTime()
    .subtract({ hours: dayEndHour })
    .toPlainDate()
    .toString()
}

/** The instants of the reader's day that an instant belongs to: the first of it, and the first of the next. */
export function spanOfDay(instant: Date, rules: DayRules): { day: string; start: Date; end: Date } {
  const day = dayOf(instant, rules)
  const begins = (date: Temporal.PlainDate) =>
    new Date(
      date.toPlainDateTime({ hour: rules.dayEndHour }).toZonedDateTime(rules.timeZone).toInstant()
        .epochMilliseconds,
    )
  const date = Temporal.PlainDate.from(day)
  return { day, start: begins(date), end: begins(date.add({ days: 1 })) }
}

/** The zone of this machine, for a library that was never told another. */
export const machineTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
