import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isGraphemeBoundary } from './grapheme-boundary.ts'
import { cutText, jsonBytes, takeFitting } from './room.ts'

const quoteless = (text: string): number => jsonBytes(text) - 2

describe('cutText', () => {
  it('leaves what fits, and cuts between characters', () => {
    expect(cutText('Salt', 4)).toBe('Salt')
    expect(cutText('Salt', 3)).toBe('Sal')
    expect(cutText('a👩‍👩‍👧b', 10)).toBe('a')
    expect(cutText('ne\u0301', 3)).toBe('n')
    expect(cutText('say "so"', 6)).toBe('say "')
    expect(cutText('一二三', 8)).toBe('一二')
    expect(cutText('', 0)).toBe('')
  })

  it('never takes more than there is room for, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.oneof(
            fc.string({ unit: 'grapheme' }),
            fc.constantFrom('\u0001', '\n', '"', '👨‍👩‍👧‍👦', '\ud800'),
          ),
        }),
        fc.integer({ min: 0, max: 80 }),
        (text, bytes) => {
          const cut = cutText(text, bytes)
          expect(quoteless(cut)).toBeLessThanOrEqual(bytes)
          expect(text.startsWith(cut)).toBe(true)
          if (quoteless(text) <= bytes) expect(cut).toBe(text)
          // Only a first character that has no room by itself is cut inside.
          const whole = isGraphemeBoundary(text, cut.length)
          expect(whole || !hasBoundaryUpTo(text, cut.length)).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })
})

function hasBoundaryUpTo(text: string, end: number): boolean {
  for (let at = 1; at <= end; at++) if (isGraphemeBoundary(text, at)) return true
  return false
}

describe('takeFitting', () => {
  it('takes the first in any case, and of the others what fits', () => {
    expect(takeFitting(['aa', 'bb', 'cc'], 10)).toEqual(['aa', 'bb'])
    expect(takeFitting(['a very long one', 'b'], 4)).toEqual(['a very long one'])
    expect(takeFitting([], 4)).toEqual([])
  })

  it('fills no more than its room with more than one', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.integer({ min: 2, max: 100 }), (values, bytes) => {
        const taken = takeFitting(values, bytes)
        expect(values.slice(0, taken.length)).toEqual(taken)
        if (taken.length > 1) expect(jsonBytes(taken)).toBeLessThanOrEqual(bytes + 1)
        if (taken.length < values.length)
          expect(jsonBytes(values.slice(0, taken.length + 1))).toBeGreaterThan(bytes)
      }),
    )
  })
})
