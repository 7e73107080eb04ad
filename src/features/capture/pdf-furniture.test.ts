import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withoutFurniture } from './pdf-furniture.ts'
import type { Line } from './pdf-lines.ts'

function line(text: string, base: number, size = 10): Line {
  return {
    text,
    base,
    size,
    x0: 60,
    x1: 300,
    left: 60,
    right: 300,
    region: 0,
    font: 'F',
    isOneFont: true,
    fixedPitch: false,
  }
}

/** A page with a head, three lines of its own and a foot. */
function page(n: number, head: string, foot: string): Line[] {
  const body = [0, 1, 2].map((k) => line(`page ${'abcdefgh'[n]} says ${'xyz'[k]}`, 100 + k * 12))
  return [line(head, 40), ...body, line(foot, 780)]
}

const texts = (pages: Line[][]) => pages.map((lines) => lines.map((each) => each.text))

describe('withoutFurniture', () => {
  it('takes away what is the same on every page, and numbers that count along', () => {
    const pages = [0, 1, 2, 3].map((n) => page(n, 'On Keeping', `${n + 7}`))
    for (const lines of withoutFurniture(pages)) expect(lines).toHaveLength(3)
  })

  it('takes away heads in turn of left and right pages', () => {
    const pages = [0, 1, 2, 3, 4, 5].map((n) =>
      page(n, n % 2 === 0 ? 'The Author' : 'The Title', `- ${n + 1} -`),
    )
    for (const lines of withoutFurniture(pages)) expect(lines).toHaveLength(3)
  })

  it('takes away Roman numbers of a preface', () => {
    const pages = ['iv', 'v', 'vi', 'vii'].map((foot, n) => page(n, `head ${'abcd'[n]}`, foot))
    expect(texts(withoutFurniture(pages)).flat()).not.toContain('vi')
  })

  it('leaves numbers that do not count along, and what stands only once', () => {
    const pages = ['1984', '17', '3', '42'].map((foot, n) => page(n, `Chapter of ${'abcd'[n]}`, foot))
    expect(withoutFurniture(pages)).toEqual(pages)
  })

  it('leaves the first lines of pages that begin alike in the text itself', () => {
    const pages = [0, 1, 2, 3].map((n) => [
      line('Dear reader,', 100),
      line(`page ${'abcd'[n]} goes on`, 112),
      line('and on', 124),
    ])
    expect(withoutFurniture(pages)).toEqual(pages)
  })

  it('takes lines away, and changes none', () => {
    const anyLine = fc
      .tuple(fc.constantFrom('a', 'b', '1', '2', 'iv', 'Head 1', 'Head 2'), fc.integer({ min: 0, max: 80 }))
      .map(([text, y]) => line(text, y * 10))
    fc.assert(
      fc.property(fc.array(fc.array(anyLine, { maxLength: 8 }), { maxLength: 8 }), (pages) => {
        const kept = withoutFurniture(pages)
        expect(kept).toHaveLength(pages.length)
        for (const [index, lines] of kept.entries()) {
          const wanted = new Set(lines)
          expect(pages[index]?.filter((each) => wanted.has(each))).toEqual(lines)
        }
      }),
    )
  })
})
