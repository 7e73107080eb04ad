import { describe, expect, it } from 'vitest'
import { count, size, when } from './when.ts'

const now = new Date(2026, 10, 30, 12, 0, 0)
const before = (hours: number) => new Date(now.getTime() - hours * 3_600_000)

describe('when', () => {
  it.each([
    [0, 'just now'],
    [0.1, '6 minutes ago'],
    [3, '3 hours ago'],
    [11, '11 hours ago'],
    [30, 'yesterday'],
    [24 * 3, '3 days ago'],
    [24 * 40, '2026-10-21'],
    [-2, 'in 2 hours'],
  ])('%d hours before: %s', (hours, said) => {
    expect(when(before(hours), now)).toBe(said)
  })
})

it('size and count are said in the largest unit that fits', () => {
  expect([0, 999, 1_000, 1_250_000, 84e9].map(size)).toEqual([
    '0 bytes',
    '999 bytes',
    '1.0 kB',
    '1.3 MB',
    '84 GB',
  ])
  expect([count(1, 'item'), count(2_000, 'item'), count(2, 'entry', 'entries')]).toEqual([
    '1 item',
    '2,000 items',
    '2 entries',
  ])
})
