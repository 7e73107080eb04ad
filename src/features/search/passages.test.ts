import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutPassages, estimateTokens } from './passages.ts'

const sentence = (topic: string): string =>
  `The ${topic} of the old harbour was described by three travellers who had never met. `
const paragraph = (...topics: string[]): string => topics.map(sentence).join('').trim()
const texts = (plain: string): string[] => cutPassages(plain).map(({ text }) => text)

describe('cutPassages', () => {
  it('gives a paragraph a passage of its own', () => {
    const first = paragraph('history', 'trade', 'people')
    const second = paragraph('winter', 'storms', 'ice')
    expect(texts(`${first}\n\n${second}\n`)).toEqual([first, second])
  })

  it('joins headings and short paragraphs to the one after them', () => {
    const body = paragraph('history', 'trade', 'people')
    expect(texts(`Chapter 1\n\nHow it began\n\n${body}`)).toEqual([`Chapter 1\n\nHow it began\n\n${body}`])
    expect(texts('Only a title')).toEqual(['Only a title'])
  })

  it('cuts a long paragraph at sentence ends and repeats one sentence', () => {
    const topics = ['history', 'trade', 'people', 'winter', 'storms', 'ice', 'wine', 'salt', 'songs', 'dogs']
    const found = texts(paragraph(...topics))
    expect(found.length).toBeGreaterThan(1)
    for (const [i, text] of found.entries()) {
      expect(text).toMatch(/^The .* met\.$/)
      const next = found[i + 1]
      if (next) expect(text.endsWith(`. ${next.slice(0, next.indexOf('.') + 1)}`)).toBe(true)
    }
  })

  it('knows what ends no sentence', () => {
    const name = `It was J. R. Smith, e.g. the one of the U.S. navy, who ${'walked and '.repeat(18)}slept.`
    const found = texts(`${sentence('end').repeat(3)}${name}`)
    expect(found.at(-1)).toContain('It was J. R. Smith, e.g. the one of the U.S. navy')
  })

  it('cuts a sentence without end at a clause, else at a space', () => {
    const clauses = texts('we went over the hills and far away, '.repeat(20).trim())
    expect(clauses.slice(0, -1).every((text) => text.endsWith('away,'))).toBe(true)
    const words = texts('wandering '.repeat(100).trim())
    expect(words.join(' ')).toBe('wandering '.repeat(100).trim())
  })

  it('cuts scripts without spaces by characters', () => {
    const found = texts('資料庫遷移前一定要先備份。'.repeat(30))
    expect(found.every((text) => text.endsWith('。') && [...text].length <= 128)).toBe(true)
    expect(texts('漢'.repeat(300)).map((text) => text.length)).toEqual([128, 128, 44])
  })

  it('counts offsets in code points', () => {
    expect(cutPassages('  😀 done  ')).toEqual([{ start: 2, end: 8, text: '😀 done' }])
  })

  it('keeps families and stacked marks together, and is not stopped by an endless one', () => {
    const families = '👨‍👩‍👧‍👦'.repeat(60)
    expect(texts(families).every((text) => text.replaceAll('👨‍👩‍👧‍👦', '') === '')).toBe(true)
    const endless = `a${'\u0301'.repeat(3000)}`
    expect(texts(endless).join('')).toBe(endless)
  })

  it('finds nothing in white space', () => {
    expect(cutPassages('')).toEqual([])
    expect(cutPassages(' \n\n \t\n')).toEqual([])
    expect(texts(`one${' '.repeat(5000)}two.${' '.repeat(5000)}three`)).toEqual(['one', 'two.', 'three'])
  })

  it('holds for any text: bounds, offsets, whole characters, nothing left out, the same again', () => {
    const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
    const word = fc.constantFrom(
      'the',
      'sea',
      'internationalisation',
      'e\u0301te\u0301',
      '1984',
      '👩‍🚀',
      '🇫🇷',
      '漢字',
      'ไทย',
    )
    const gap = fc.constantFrom(
      ' ',
      ' ',
      ' ',
      '. ',
      ', ',
      '\n',
      '\n\n',
      '\r\n',
      '。',
      '',
      '?! ',
      '  ',
      '\u00a0',
      '…)\n \n',
    )
    const anything = fc.string({ unit: 'grapheme', maxLength: 8 })
    const text = fc
      .array(fc.tuple(fc.oneof({ arbitrary: word, weight: 9 }, anything), gap), { maxLength: 400 })
      .map((parts) => parts.flat().join(''))
    fc.assert(
      fc.property(text, (plain) => {
        const passages = cutPassages(plain)
        const points = [...plain]
        const covered = new Uint8Array(points.length)
        const boundaries = new Set([0])
        let offset = 0
        for (const { segment } of graphemes.segment(plain)) boundaries.add((offset += [...segment].length))
        let before = -1
        for (const { start, end, text } of passages) {
          expect(points.slice(start, end).join('')).toBe(text)
          expect(text).toBe(text.trim())
          expect(estimateTokens(text)).toBeLessThanOrEqual(128.001)
          expect(boundaries.has(start) && boundaries.has(end)).toBe(true)
          expect(start).toBeGreaterThan(before)
          before = start
          covered.fill(1, start, end)
        }
        expect(points.filter((point, i) => covered[i] === 0 && point.trim() !== '')).toEqual([])
        expect(cutPassages(plain)).toEqual(passages)
      }),
      { numRuns: 200 },
    )
  })
})
