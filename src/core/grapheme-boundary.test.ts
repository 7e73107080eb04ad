import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { graphemeEnd, graphemeStart, isGraphemeBoundary } from './grapheme-boundary.ts'

describe('grapheme boundaries', () => {
  it('sees families, flags, accents and pairs as one character each', () => {
    for (const character of ['👨‍👩‍👧', '🇩🇪', 'e\u0301', '👍🏽', '😀', '\r\n', '한']) {
      const text = `a${character}b`
      for (let inside = 2; inside < text.length - 1; inside++) {
        expect(isGraphemeBoundary(text, inside)).toBe(false)
        expect(graphemeStart(text, inside)).toBe(1)
        expect(graphemeEnd(text, inside)).toBe(text.length - 1)
      }
      expect(isGraphemeBoundary(text, 1) && isGraphemeBoundary(text, text.length - 1)).toBe(true)
    }
  })

  it('tells the second flag of a row from half of the first', () => {
    expect(isGraphemeBoundary('x🇩🇪🇫🇷', 5)).toBe(true)
    expect(isGraphemeBoundary('x🇩🇪🇫🇷', 3)).toBe(false)
  })

  it('agrees with a segmenter that reads the whole text', () => {
    const pieces = fc.constantFrom(
      'a',
      ' ',
      '\r',
      '\n',
      'é',
      '\u0301',
      '\u200d',
      '👩',
      '🇩',
      '🇪',
      '👍',
      '🏽',
      'क',
      '्',
      'षि',
      '각',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const text = parts.join('')
        const starts = new Set([...new Intl.Segmenter().segment(text)].map(({ index }) => index))
        for (let index = 1; index < text.length; index++) {
          expect(isGraphemeBoundary(text, index)).toBe(starts.has(index))
        }
      }),
    )
  })
})
