import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codePointLength, sliceCodePoints } from '../../core/text.ts'
import { countWords } from '../capture/count-words.ts'
import { readingStretches } from './reading-stretches.ts'

const paragraph = (words: number, word = 'heron'): string => `${Array(words).fill(word).join(' ')}.`
const text = (...paragraphs: number[]): string => paragraphs.map((words) => paragraph(words)).join('\n\n')
const wordsIn = async (plain: string) =>
  (await readingStretches(plain, [])).map(({ start, end }) => countWords(sliceCodePoints(plain, start, end)))

describe('a text is cut', () => {
  it('not at all where it is short', async () => {
    const plain = text(300, 200)
    expect(await readingStretches(plain, [])).toEqual([
      { start: 0, end: plain.length, upTo: { words: 500, seconds: 0 } },
    ])
  })

  it('between paragraphs, and a small rest goes with what is before it', async () => {
    expect(await wordsIn(text(1_500, 600, 1_900, 200, 100))).toEqual([2_100, 2_200])
  })

  it('within a paragraph that never ends, sentences or none', async () => {
    const sentences = Array(900).fill('The heron stands in the shallows.').join(' ')
    const parts = await readingStretches(sentences, [])
    expect(parts.length).toBeGreaterThan(1)
    for (const { start, end } of parts)
      expect(sliceCodePoints(sentences, start, end).trim()).toMatch(/^The heron.*shallows\.$/s)
    const none = Array(9_000).fill('um').join(' ')
    expect((await wordsIn(none)).reduce((sum, words) => sum + words)).toBe(9_000)
    expect((await wordsIn('鷺'.repeat(9_000))).every((words) => words <= 3_000)).toBe(true)
  })

  it('into nothing where there are no words', async () => {
    expect(await readingStretches('', [])).toEqual([])
    expect(await readingStretches('\n\n —\n', [])).toEqual([])
  })
})

it('a recording is measured by its times, up to its very end', async () => {
  const plain = text(2_000, 2_000)
  const half = paragraph(2_000).length
  const places = [
    { start: 0, seconds: 0 },
    { start: half, seconds: 700 },
    { start: half + 100, seconds: 900 },
    { start: plain.length, seconds: 1_500 },
  ]
  expect((await readingStretches(plain, places)).map(({ upTo }) => upTo.seconds)).toEqual([700, 1_500])
})

it('the stretches of any text are the whole text, in order, none of them empty', async () => {
  const word = fc.constantFrom('heron', '鷺鷺鷺', '𝒽eron', 'end.', '\n', '\n\n', ' ')
  const texts = fc
    .array(fc.tuple(word, fc.nat(900)), { maxLength: 12 })
    .map((runs) => runs.map(([of, times]) => `${of} `.repeat(times)).join(''))
  await fc.assert(
    fc.asyncProperty(texts, async (plain) => {
      const stretches = await readingStretches(plain, [])
      if (countWords(plain) === 0) {
        expect(stretches).toEqual([])
        return
      }
      expect(stretches[0]!.start).toBe(0)
      expect(stretches.at(-1)!.end).toBe(codePointLength(plain))
      for (const [index, { start, end }] of stretches.entries()) {
        expect(end).toBeGreaterThan(start)
        if (index > 0) expect(start).toBe(stretches[index - 1]!.end)
      }
    }),
    { numRuns: 30 },
  )
})
