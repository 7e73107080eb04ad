import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { cpuDeadline } from './cpu-deadline.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** When the deadline of 1,000 ms passes for work that gets `share` of the processor. */
function passesAt(share: number): number | undefined {
  const began = Date.now()
  let passed: number | undefined
  cpuDeadline(
    1_000,
    () => (passed = Date.now() - began),
    () => (Date.now() - began) * share,
  )
  vi.advanceTimersByTime(20_000)
  return passed
}

it('is reached in its time by work that has the processor', () => {
  expect(passesAt(1)).toBe(1_000)
  expect(passesAt(2)).toBe(1_000)
})

it('waits for work that shares it, and not for ever', () => {
  expect(passesAt(0.5)).toBeGreaterThanOrEqual(2_000)
  expect(passesAt(0.5)).toBeLessThan(2_200)
  expect(passesAt(0)).toBe(6_000)
})

it('is forgotten when the work is done', () => {
  const passed = vi.fn()
  cpuDeadline(1_000, passed, () => Date.now())()
  vi.advanceTimersByTime(20_000)
  expect(passed).not.toHaveBeenCalled()
})
