import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readingCost } from './reading-cost.ts'

it.each([
  [{ words: 0, seconds: 0 }, 0],
  [{ words: 1, seconds: 0 }, 1],
  [{ words: 3_000, seconds: 0 }, 1],
  [{ words: 3_001, seconds: 0 }, 2],
  [{ words: 100_000, seconds: 0 }, 34],
])('an article of %j costs %i', (extent, credits) => {
  expect(readingCost(extent)).toBe(credits)
})

it.each([
  [{ words: 20, seconds: 5 }, 1],
  [{ words: 1_500, seconds: 600 }, 1],
  [{ words: 1_502, seconds: 601 }, 2],
  [{ words: 9_000, seconds: 3_600 }, 6],
])('a recording of %j costs %i, by its length', (extent, credits) => {
  expect(readingCost(extent)).toBe(credits)
})

it('grows with the length and never by more than a credit a word', () => {
  fc.assert(
    fc.property(fc.nat(200_000), (words) => {
      const more = readingCost({ words: words + 1, seconds: 0 }) - readingCost({ words, seconds: 0 })
      expect([0, 1]).toContain(more)
    }),
  )
})
