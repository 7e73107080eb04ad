import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayOf, spanOfDay } from './days.ts'

const berlin = { timeZone: 'Europe/Berlin', dayEndHour: 0 }

describe('the day that an instant belongs to', () => {
  it('is that of the reader’s zone', () => {
    const instant = new Date('2026-12-31T23:30:00Z')
    expect(dayOf(instant, berlin)).toBe('2027-01-01')
    expect(dayOf(instant, { ...berlin, timeZone: 'America/Los_Angeles' })).toBe('2026-12-31')
  })

  it('ends at the reader’s hour', () => {
    const late = { ...berlin, dayEndHour: 3 }
    expect(dayOf(new Date('2026-06-02T00:59:00Z'), late)).toBe('2026-06-01')
    expect(dayOf(new Date('2026-06-02T01:00:00Z'), late)).toBe('2026-06-02')
  })

  it('goes by the clock on the wall where the clocks change', () => {
    const late = { ...berlin, dayEndHour: 3 }
    // 03:30 in summer time, two and a half hours after midnight; 02:30 for the second time, three and a half after it.
    expect(dayOf(new Date('2026-03-29T01:30:00Z'), late)).toBe('2026-03-29')
    expect(dayOf(new Date('2026-10-25T01:30:00Z'), late)).toBe('2026-10-24')
  })
})

describe('the span of a day', () => {
  it('begins and ends where the day does, on days when the clocks change as well', () => {
    const instants = fc.date({
      min: new Date('2026-01-01T00:00:00Z'),
      max: new Date('2027-12-31T00:00:00Z'),
      noInvalidDate: true,
    })
    const zones = fc.constantFrom(
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kathmandu',
      'Pacific/Apia',
      'UTC',
    )
    fc.assert(
      fc.property(instants, zones, fc.integer({ min: 0, max: 23 }), (instant, timeZone, dayEndHour) => {
        const rules = { timeZone, dayEndHour }
        const { day, start, end } = spanOfDay(instant, rules)
        expect(day).toBe(dayOf(instant, rules))
        expect(dayOf(start, rules)).toBe(day)
        expect(dayOf(new Date(end.getTime() - 1), rules)).toBe(day)
        expect(dayOf(end, rules) > day).toBe(true)
        const hours = (end.getTime() - start.getTime()) / 3_600_000
        expect(hours).toBeGreaterThanOrEqual(23)
        expect(hours).toBeLessThanOrEqual(25)
      }),
      { numRuns: 500 },
    )
  })
})
