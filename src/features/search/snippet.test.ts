import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codePointLength, sliceCodePoints } from '../../core/text.ts'
import { parseQuery } from './query.ts'
import { cutSnippet } from './snippet.ts'

const marked = (body: string, query: string, longest?: number) => {
  const { text, marks } = cutSnippet(body, parseQuery(query).terms, longest)
  return { text, marked: marks.map(([start, end]) => sliceCodePoints(text, start, end)) }
}

describe('cutSnippet', () => {
  it.each([
    ['The naïve CAFÉ in Straße 5', 'cafe STRASSE', ['CAFÉ', 'Straße']],
    ['Dancing bees danced', 'danc*', ['Dancing', 'danced']],
    ['Old bees, new bees', '"new bees"', ['new bees']],
    ['We don’t know', "don't", ['don’t']],
    ['資料庫遷移前一定要先備份', '備份', ['備份']],
    ['資料庫遷移前一定要先備份', '遷移前', ['遷移前']],
    ['日健クリニック', '健', ['健']],
    ['😀😀 find me 😀', 'find', ['find']],
  ])('%s ? %s', (body, query, found) => {
    expect(marked(body, query)).toEqual({ text: body, marked: found })
  })

  it('shows the stretch with most of the words', () => {
    const filler = 'nothing of interest here '.repeat(20)
    const body = `bees ${filler}bees and honey in the hive ${filler}end`
    const { text, marked: found } = marked(body, 'bees honey hive', 120)
    expect(found).toEqual(['bees', 'honey', 'hive'])
    expect(text.startsWith('…') && text.endsWith('…')).toBe(true)
    expect(text.length).toBeLessThanOrEqual(122)
  })

  it('shows the beginning where no word is found', () => {
    expect(marked('one two three four', 'five', 9).text).toBe('one two…')
  })

  it('never cuts into a character, and marks only what is there', () => {
    const body = fc.string({
      unit: fc.constantFrom('a', ' ', 'bee', '健', '康', '😀', 'e\u0301', '\n', 'กิน'),
      maxLength: 200,
    })
    fc.assert(
      fc.property(
        body,
        fc.constantFrom('bee', '健', 'a', 'กิ'),
        fc.integer({ min: 5, max: 60 }),
        (given, query, longest) => {
          const { text, marks } = cutSnippet(given, parseQuery(query).terms, longest)
          expect(text.isWellFormed()).toBe(true)
          for (const [start, end] of marks) {
            expect(start).toBeLessThan(end)
            expect(end).toBeLessThanOrEqual(codePointLength(text))
          }
          expect(given.replaceAll(/\s/g, ' ')).toContain(text.replaceAll('…', ''))
        },
      ),
    )
  })
})
