import { describe, expect, it } from 'vitest'
import { dayOf } from './days.ts'

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
