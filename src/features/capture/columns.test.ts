import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderByColumns, type TextBox } from './columns.ts'

interface Word extends TextBox {
  text: string
}

const HEIGHT = 10

function box(text: string, x0: number, base: number, height = HEIGHT): Word {
  return { text, x0, x1: x0 + text.length * height * 0.6, y0: base - height, y1: base, chars: text.length }
}

function textsOf(regions: Word[][]): string[] {
  return regions.flat().map((word) => word.text)
}

const line = (name: string, n: number) => `${name} line number ${String(n).padStart(2, '0')} of it`

describe('orderByColumns', () => {
  it('reads two columns that are drawn in turn one after the other', () => {
    const drawn = Array.from({ length: 8 }, (_, n) => [
      box(line('left', n), 50, 100 + n * 12),
      box(line('right', n), 300, 100 + n * 12),
    ]).flat()
    expect(textsOf(orderByColumns(drawn))).toEqual([
      ...Array.from({ length: 8 }, (_, n) => line('left', n)),
      ...Array.from({ length: 8 }, (_, n) => line('right', n)),
    ])
  })

  it('reads columns whose lines do not stand level', () => {
    const drawn = Array.from({ length: 8 }, (_, n) => [
      box(line('left', n), 50, 100 + n * 12),
      box(line('right', n), 300, 106 + n * 12),
    ]).flat()
    expect(textsOf(orderByColumns(drawn)).slice(0, 8)).toEqual(
      Array.from({ length: 8 }, (_, n) => line('left', n)),
    )
  })

  it('lets a title stand before, and a wide figure between, the columns', () => {
    const rows = (name: string, from: number) =>
      Array.from({ length: 4 }, (_, n) => [
        box(line(`${name}-l`, n), 50, from + n * 12),
        box(line(`${name}-r`, n), 300, from + n * 12),
      ]).flat()
    const drawn = [
      box('A Long Title Over Both', 100, 60, 18),
      ...rows('a', 100),
      box('Figure 1: a picture with words that run across the whole of the page', 60, 180),
      ...rows('b', 220),
    ]
    const order = textsOf(orderByColumns(drawn)).map((text) => text.split(' ')[0])
    expect(order.join(' ')).toBe('A a-l a-l a-l a-l a-r a-r a-r a-r Figure b-l b-l b-l b-l b-r b-r b-r b-r')
  })

  it('reads three columns', () => {
    const drawn = Array.from({ length: 6 }, (_, n) =>
      ['one', 'two', 'three'].map((name, i) => box(`${name} has words ${n}`, 50 + i * 170, 100 + n * 12)),
    ).flat()
    const order = textsOf(orderByColumns(drawn)).map((text) => text.split(' ')[0])
    expect(order).toEqual(['one', 'two', 'three'].flatMap((name) => Array.from({ length: 6 }, () => name)))
  })

  it('leaves a table of contents in rows', () => {
    const drawn = Array.from({ length: 8 }, (_, n) => [
      box(`Chapter ${n} about things`, 50, 100 + n * 12),
      box(String(n * 17), 500, 100 + n * 12),
    ]).flat()
    expect(textsOf(orderByColumns(drawn)).slice(0, 2)).toEqual(['Chapter 0 about things', '0'])
  })

  it('loses no text and makes up none, whatever the page', () => {
    const anyBox = fc
      .record({
        x: fc.integer({ min: 0, max: 600 }),
        y: fc.integer({ min: 0, max: 800 }),
        n: fc.integer({ min: 1, max: 60 }),
      })
      .map(({ x, y, n }) => box('x'.repeat(n), x, y))
    fc.assert(
      fc.property(fc.array(anyBox, { maxLength: 60 }), (boxes) => {
        const ordered = orderByColumns(boxes).flat()
        expect(ordered).toHaveLength(boxes.length)
        expect(new Set(ordered)).toEqual(new Set(boxes))
      }),
    )
  })

  it('keeps a page of one column in the order of its lines, in whatever order it is drawn', () => {
    const lines = Array.from({ length: 20 }, (_, n) => box(`${n} ${'text '.repeat(12)}`, 50, 100 + n * 12))
    fc.assert(
      fc.property(fc.shuffledSubarray(lines, { minLength: 20 }), (drawn) => {
        expect(textsOf(orderByColumns(drawn))).toEqual(lines.map((word) => word.text))
      }),
    )
  })
})
