import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { codePointLength, nameKey, preview, sliceCodePoints, text } from './text.ts'

describe('characters', () => {
  it('are code points, whatever the string holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), fc.nat(20), (value, start, length) => {
        const points = [...value]
        expect(codePointLength(value)).toBe(points.length)
        expect(sliceCodePoints(value, start, start + length)).toBe(
          points.slice(start, start + length).join(''),
        )
      }),
    )
  })

  it('bound a text, and the bound is in its schema', () => {
    const name = text({ max: 3 })
    expect(name.safeParse('👍👍👍').success).toBe(true)
    expect(name.safeParse('abcd').success).toBe(false)
    expect(name.safeParse('').success).toBe(false)
    expect(z.toJSONSchema(name, { io: 'input' })).toMatchObject({
      type: 'string',
      minLength: 1,
      maxLength: 3,
    })
  })

  it('never include half a character', () => {
    expect(text().parse('a\ud83d')).toBe('a\ufffd')
  })
})

describe('a preview', () => {
  it('is cut between graphemes', () => {
    expect(preview('👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 2)).toBe('👨‍👩‍👧‍👦…')
    expect(preview('short', 10)).toBe('short')
    expect(preview('👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 2)).toBe('👨‍👩‍👧‍👦👨‍👩‍👧‍👦')
    expect(preview(`a${'e\u0301'.repeat(9)}`, 10)).toBe(`a${'e\u0301'.repeat(9)}`)
  })

  it('holds no half of a character, however much one grapheme is made of', () => {
    const heap = `x${'\u{1d165}'.repeat(300)}`
    expect(preview(heap.repeat(2), 3).isWellFormed()).toBe(true)
  })

  it('has at most as many graphemes as asked', () => {
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 }), (value, max) => {
        expect([...segmenter.segment(preview(value, max))].length).toBeLessThanOrEqual(Math.max(max, 1))
      }),
    )
  })
})

describe('the key of a name', () => {
  it.each([
    ['Sci-Fi', ' sci-fi '],
    ['Sci-Fi', 'Ｓｃｉ-Ｆｉ'],
    ['Café', 'Cafe\u0301'],
    ['two  words', 'Two\u00a0Words'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'Strasse'],
    ['zero\u200bwidth', 'ZeroWidth '],
  ])('is one for %j and %j', (one, other) => expect(nameKey(one)).toBe(nameKey(other)))

  it('keeps names apart that only look a little alike', () => {
    expect(nameKey('Cafe')).not.toBe(nameKey('Café'))
  })

  it('of a key is the key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(nameKey(nameKey(name))).toBe(nameKey(name))
      }),
    )
  })
})
