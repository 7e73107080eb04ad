import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldWords, locateWords } from './fold-words.ts'

describe('foldWords', () => {
  it.each([
    ['Naïve CAFÉ', 'naive cafe'],
    ['Straße STRASSE', 'strasse strasse'],
    ['eﬃcient ﬁsh', 'efficient fish'],
    ['Ｓｃｉ－Ｆｉ', 'sci fi'],
    ["don't don’t", 'don t don t'],
    ['Søren Łódź Æther', 'soren lodz aether'],
    ['İstanbul ıssız', 'istanbul issiz'],
    ['ΣΊΣΥΦΟΣ', 'σισυφοσ'],
    ['node:20.04, C++', 'node 20 04 c'],
    ['soft\u00adhyphen zero\u200dwidth', 'softhyphen zerowidth'],
    ['שָׁלוֹם كِتَابٌ', 'שלום كتاب'],
    ['read 🎉📚now', 'read 🎉 📚 now'],
  ])('%s → %s', (text, folded) => {
    expect(foldWords(text)).toBe(folded)
  })

  it('takes no punctuation for part of a word', () => {
    for (let code = 0x2010; code < 0x205f; code++) {
      if (code >= 0x2028 && code < 0x2030) continue
      const mark = String.fromCodePoint(code)
      expect([mark, foldWords(`é${mark}b`), foldWords(`e${mark}b`)]).toEqual([mark, 'e b', 'e b'])
    }
  })

  it('cuts scripts without spaces into pairs, the last character once more alone', () => {
    expect(foldWords('日健クリニック')).toBe('日健 健ク クリ リニ ニッ ック ク')
    expect(foldWords('健')).toBe('健')
    expect(foldWords('iPhone手機App')).toBe('iphone 手機 機 app')
  })

  it('keeps a Thai vowel with its consonant', () => {
    expect(foldWords('กินข้าว')).toBe('กิน นข้ ข้า าว ว')
  })

  it('joins what is written in parts: NFD, half width Katakana, letters of Hangul', () => {
    expect(foldWords('cafe\u0301')).toBe('cafe')
    expect(foldWords('ｶﾞﾗｽ')).toBe(foldWords('ガラス'))
    expect(foldWords('가방'.normalize('NFD'))).toBe(foldWords('가방'))
  })

  it('folds a second time to the same where words have spaces', () => {
    const latin = fc.string({ unit: fc.constantFrom(...'aZéßﬁøŁ1 .-\u0301İΣ') })
    fc.assert(
      fc.property(latin, (text) => {
        expect(foldWords(foldWords(text))).toBe(foldWords(text))
      }),
    )
  })
})

describe('locateWords', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(...'aé\u0301ßﬁ…½日健ｶﾞกินข้า가나 .\u1100\u1161\u11a8ㄱㅏﾡￂﾞ\u0e49😀\u200b'),
    }),
  )

  it('finds the same words as foldWords', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const words = locateWords(text).map(({ word }) => word)
        expect(words.join(' ')).toBe(foldWords(text))
      }),
      { numRuns: 1_000 },
    )
  })

  it('names places inside the text, in order', () => {
    fc.assert(
      fc.property(anything, (text) => {
        let last = 0
        for (const { start, end } of locateWords(text)) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end).toBeGreaterThan(start)
          expect(end).toBeLessThanOrEqual(text.length)
          last = start
        }
      }),
    )
  })

  it('names the place of a word whose spelling changed', () => {
    const text = 'The “ﬁrst” … CAFE\u0301!'
    expect(locateWords(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      'The',
      'ﬁrst',
      'CAFE\u0301',
    ])
  })
})
