import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayWidth, padEnd, truncate, wrap, wrapText } from './measure.ts'

describe('displayWidth', () => {
  it.each([
    ['plain', 5],
    ['naïve', 5],
    ['cafe\u0301', 4],
    ['備份', 4],
    ['ｆｕｌｌ', 8],
    ['한국어', 6],
    ['👩‍👩‍👧', 2],
    ['🇳🇴', 2],
    ['❤️', 2],
    ['a\u200bb', 2],
    ['–…“”', 4],
  ])('%s takes %i columns', (text, columns) => {
    expect(displayWidth(text)).toBe(columns)
  })
})

describe('truncate', () => {
  it('cuts between characters, and says so', () => {
    expect(truncate('資料庫遷移', 5)).toBe('資料…')
    expect(truncate('short', 5)).toBe('short')
    expect(truncate('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…')
  })

  it('never takes more than it was given', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, columns) => {
        expect(displayWidth(truncate(text, columns))).toBeLessThanOrEqual(columns)
      }),
    )
  })
})

describe('wrap', () => {
  it('breaks at spaces, and between wide characters but not before a closing mark', () => {
    expect(wrapText('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrapText('遷移前一定、要先備份。', 10)).toEqual(['遷移前一', '定、要先備', '份。'])
  })

  it('breaks a word that is longer than a line', () => {
    expect(wrapText('https://example.org/', 8)).toEqual(['https://', 'example.', 'org/'])
  })

  it('keeps the style of each stretch', () => {
    expect(wrap([{ text: 'a ' }, { text: 'bold word', style: '1' }, { text: ', c' }], 8)).toEqual([
      [{ text: 'a' }, { text: ' ' }, { text: 'bold', style: '1' }],
      [{ text: 'word', style: '1' }, { text: ',' }, { text: ' ' }, { text: 'c' }],
    ])
  })

  it('fits every line and loses nothing but white space', () => {
    const words = fc.array(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('word', '備份する', ', ', '“a”')),
    )
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 30 }), (parts, columns) => {
        const text = parts.join(' ')
        const lines = wrapText(text, columns)
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns)
        expect(lines.join('').replaceAll(/[ \t\r\n]/g, '')).toBe(text.replaceAll(/[ \t\r\n]/g, ''))
      }),
    )
  })
})

it('padEnd counts columns', () => {
  expect(padEnd('備', 4)).toBe('備  ')
})
