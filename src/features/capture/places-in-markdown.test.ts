import fc from 'fast-check'
import { expect, it } from 'vitest'
import { codePointLength, sliceCodePoints } from '../../core/text.ts'
import { plainTextOf } from '../texts/plain-text.ts'
import { placesInMarkdown } from './places-in-markdown.ts'

it('finds where in the Markdown a place of the plain text begins', () => {
  const markdown = '# *One* 😀\n\nSome words [of it](https://example.test/a) here.\n\n- `Two` and so on\n'
  const plain = plainTextOf(markdown)
  const places = ['One', 'Some', 'Two', 'so on'].map((word) => ({
    start: codePointLength(plain.slice(0, plain.indexOf(word))),
  }))
  const found = placesInMarkdown(markdown, plain, places).map(({ at = -1 }) =>
    sliceCodePoints(markdown, at, at + 8),
  )
  expect(found).toEqual(['# *One* ', 'Some wor', '- `Two` ', 'so on\n'])
})

it('finds every paragraph of a text whose marks change nothing but the marks', () => {
  const word = fc.stringMatching(/^[a-zé😀]{1,9}$/u)
  const mark = fc.constantFrom(
    (text: string) => text,
    (text: string) => `**${text}**`,
    (text: string) => `[${text}](https://example.test/x)`,
  )
  const paragraph = fc.array(fc.tuple(word, mark), { minLength: 4, maxLength: 30 })
  fc.assert(
    fc.property(fc.array(paragraph, { minLength: 1, maxLength: 12 }), (paragraphs) => {
      const written = paragraphs.map((words, n) =>
        words.map(([text, as], m) => as(m === 0 ? `p${n}x${text}` : text)).join(' '),
      )
      const markdown = written.join('\n\n')
      const plain = plainTextOf(markdown)
      let at = 0
      const places = plain.split('\n\n').map((text) => {
        const start = at
        at += [...text].length + 2
        return { start }
      })
      const found = placesInMarkdown(markdown, plain, places)
      for (const [n, place] of found.entries()) {
        const stands = sliceCodePoints(markdown, place.at ?? 0, (place.at ?? 0) + 12)
        if (place.at !== undefined) expect(stands).toContain(`p${n}x`)
      }
      expect(found.filter(({ at: where }) => where === undefined).length).toBeLessThanOrEqual(
        found.length / 2,
      )
    }),
  )
})
