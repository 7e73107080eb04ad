import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findFolded, foldText, sameWords } from './fold.ts'

/** The stretches of the text that a quote is found at. */
function found(text: string, quote: string): string[] {
  const folded = foldText(text)
  return findFolded(folded, foldText(quote)).map(({ from, to }) =>
    text.slice(folded.starts[from], folded.ends[to - 1]),
  )
}

describe('findFolded', () => {
  it.each([
    ['case', 'The Straße of ΣΑΣ', 'THE STRASSE OF σας'],
    ['white space', 'one\u00a0two \n\t three\u2003four', 'one two three four'],
    ['quote marks', 'He said “don’t «go»”', 'He said "don\'t "go""'],
    ['dashes', 'pages 3–7, so — they\u2212say', 'pages 3-7, so - they-say'],
    ['dashes with and without room', 'war—and peace -- now', 'war — and peace–now'],
    ['ligatures and forms', 'ﬁnd eﬃcient ½ … ①', 'find efficient 1⁄2 ... 1'],
    ['soft hyphens, zero widths, marks of direction', 'ex\u00adam\u200bple\u2060 \u200eso', 'example so'],
    [
      'a hyphen at the end of a line',
      'an exam-\nple of well-\nknown words',
      'an example of well-known words',
    ],
    [
      'a hyphen before a space, as PDF viewers copy it',
      'an example of well-known words',
      'an exam- ple of well- known words',
    ],
    ['decomposed letters', 'cafe\u0301 한국', 'CAFÉ 한국'],
    ['composed letters', 'café 한국', 'CAFE\u0301 한국'.normalize('NFD')],
    ['scripts without spaces', '資料庫\n遷移前 Python 備份', '資料庫遷移前Python備份'],
    ['widths', 'ＡＢＣ１２', 'abc12'],
    ['emoji with and without selectors', 'I ❤️ it', 'i ❤ it'],
  ])('does not mind %s', (_what, text, quote) => {
    expect(found(`x. ${text} .y`, quote)).toEqual([text])
  })

  it('takes a selector that ends the quote along', () => {
    expect(found('so ❤\ufe0f!', 'So ❤')).toEqual(['so ❤\ufe0f'])
  })

  it.each([
    ['a dash that is part of the words', 'He may resign.', 're-sign'],
    ['the lack of one', 'He may re-sign.', 'resign'],
    ['accents', 'a cafe there', 'café'],
    ['spaces', 'the rapist', 'therapist'],
    ['part of a ligature', 'we ﬁnd', 'WE F'],
    ['part of an accented letter', 'cafe\u0301', 'CAFE'],
    ['part of a family', '👨‍👩‍👧 Go', '👩‍👧 go'],
    ['half a flag', 'GO 🇩🇪', 'go 🇩'],
  ])('minds %s', (_what, text, quote) => {
    expect(found(text, quote)).toEqual([])
  })

  it('finds every place, without overlap', () => {
    expect(found('Ha ha HA, haha', 'ha')).toEqual(['Ha', 'ha', 'HA', 'ha', 'ha'])
    expect(found('anana banana', 'ANA')).toEqual(['ana', 'ana'])
  })

  it('finds nothing for a quote without words', () => {
    for (const empty of ['', ' \n', '\u200b', '\u00ad']) expect(found('a text \u200b', empty)).toEqual([])
  })
})

describe('foldText', () => {
  it('maps each unit to whole characters of the source, in order', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (source) => {
        const { text, starts, ends } = foldText(source)
        expect([starts.length, ends.length]).toEqual([text.length, text.length])
        for (let unit = 0; unit < text.length; unit++) {
          expect(starts[unit]!).toBeLessThan(ends[unit]!)
          if (unit > 0 && starts[unit] !== starts[unit - 1]) {
            expect(starts[unit]!).toBeGreaterThanOrEqual(ends[unit - 1]!)
          }
        }
      }),
    )
  })

  it('gives the same for all normal forms of graphemes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (source) => {
        // Double primes are quote marks to us and two primes to NFKC; squared words and single jamo change their nature.
        fc.pre(!/[″‴⁗‶‷\u3131-\u318e\u3200-\u33ff\u{1f100}-\u{1f2ff}]/u.test(source))
        const { text } = foldText(source)
        for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'])
          expect(foldText(source.normalize(form)).text).toBe(text)
      }),
    )
  })

  it('finds a text in itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), (source) => {
        fc.pre(/\p{L}/u.test(source))
        expect(found(source, source)).toHaveLength(1)
      }),
    )
  })
})

describe('sameWords', () => {
  it('is blind to what folding is blind to and to nothing else', () => {
    expect(sameWords('“Well-known”', '"WELL-\nKNOWN"')).toBe(true)
    expect(sameWords('well-known', 'wellknown')).toBe(false)
    expect(sameWords('one', 'one two')).toBe(false)
  })
})
