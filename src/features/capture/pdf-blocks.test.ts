import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blocksOf } from './pdf-blocks.ts'
import type { Line } from './pdf-lines.ts'
import { renderBlocks } from './pdf-text.ts'

function line(text: string, base: number, more: Partial<Line> = {}): Line {
  return {
    text,
    base,
    size: 10,
    x0: 60,
    x1: 60 + text.length * 5,
    left: 60,
    right: 360,
    region: 0,
    font: 'F',
    isOneFont: true,
    fixedPitch: false,
    ...more,
  }
}

const full = 'a line of the text that is as long as lines of this page are'

describe('blocksOf', () => {
  it('goes on over a column and over a page when a sentence does', () => {
    const pages = [
      {
        page: 1,
        lines: [line(full, 100), line(full, 112), line(full, 100, { region: 1, x0: 400, left: 400 })],
      },
      { page: 2, lines: [line('to its end here.', 100), line('Another begins below a gap.', 140)] },
    ]
    const blocks = blocksOf(pages)
    expect(blocks.map((block) => block.text)).toEqual([
      `${full} ${full} ${full} to its end here.`,
      'Another begins below a gap.',
    ])
    expect(blocks[0]?.starts).toEqual([
      { page: 1, offset: 0 },
      { page: 2, offset: 3 * (full.length + 1) },
    ])
  })

  it('parts the entries of a bibliography that hang out', () => {
    const entry = (y: number) => [line(full, y), line('hangs in under its first line.', y + 12, { x0: 78 })]
    const pages = [{ page: 1, lines: [...entry(100), ...entry(124), ...entry(148)] }]
    expect(blocksOf(pages).map((block) => block.text)).toEqual(
      Array.from({ length: 3 }, () => `${full} hangs in under its first line.`),
    )
  })

  it('loses no letter and keeps pages in order, whatever the lines', () => {
    const words = fc
      .array(fc.constantFrom('lamp', 'Margin', 'ink.', 'well', '7', '•', 'die', '*', '$x$', 'note'), {
        minLength: 1,
        maxLength: 8,
      })
      .map((all) => all.join(' '))
    const anyLine = fc
      .record({
        text: words,
        x0: fc.constantFrom(60, 75, 90, 300),
        base: fc.integer({ min: 10, max: 780 }),
        size: fc.constantFrom(8, 10, 14, 20),
        region: fc.integer({ min: 0, max: 2 }),
        font: fc.constantFrom('F', 'G'),
        fixedPitch: fc.boolean(),
      })
      .map(({ text, base, ...more }) => line(text, base, more))
    fc.assert(
      fc.property(fc.array(fc.array(anyLine, { maxLength: 12 }), { minLength: 1, maxLength: 4 }), (given) => {
        const blocks = blocksOf(given.map((lines, index) => ({ page: index + 1, lines })))
        const lettersOf = (text: string) => text.replaceAll(/[^\p{L}\p{N}*$]+/gu, '')
        const before = lettersOf(
          given
            .flat()
            .map((each) => each.text)
            .join(' '),
        )
        expect(lettersOf(blocks.map((block) => block.text).join(' '))).toBe(before)
        const rendered = renderBlocks(blocks, given.length, null)
        expect(lettersOf(rendered.plain)).toBe(before)
        const starts = rendered.pages.map((page) => page.start)
        expect(starts).toEqual(starts.toSorted((a, b) => a - b))
      }),
    )
  })
})
