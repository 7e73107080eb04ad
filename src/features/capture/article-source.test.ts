import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Failure } from '../../core/failure.ts'
import { limitSource, MAX_DEPTH, MAX_TAGS } from './article-source.ts'

const limited = (html: string) => limitSource(html).html

/** The deepest nesting of tags, counted without knowledge of HTML: right for sources that close what they open. */
function depthOf(html: string): number {
  let depth = 0
  let most = 0
  for (const [tag] of html.matchAll(/<\/?[a-z]+[^>]*>/g)) {
    depth += tag.startsWith('</') ? -1 : 1
    most = Math.max(most, depth)
  }
  return most
}

describe('limitSource', () => {
  it('leaves a page as it is, but for what is not read', () => {
    const page = '<!DOCTYPE html><html lang=en><p class="a b">One <b>two</b> &amp; three<br>four'
    expect(limited(page)).toBe('<html lang="en"><p class="a b">One <b>two</b> &amp; three<br>four')
    expect(limited('a<!-- b -->c<style>d</style>e<svg><path d="f"/></svg>g')).toBe('aceg')
  })

  it('drops scripts, but for JSON-LD and TeX', () => {
    const json = '<script type="application/ld+json">{"a":"</p>"}</script>'
    const tex = '<script type="math/tex; mode=display">x<y</script>'
    expect(limited(`<script>let a = "<p>"</script>${json}${tex}`)).toBe(json + tex)
  })

  it('empties embedded data', () => {
    expect(limited(`<img alt="a" src="data:image/png;base64,${'A'.repeat(5000)}">`)).toBe(
      '<img alt="a" src="">',
    )
  })

  it('reads attributes as HTML does', () => {
    expect(limited(`<a title="x > y" href=/z?a=b&c>t</a>`)).toBe('<a title="x > y" href="/z?a=b&c">t</a>')
    expect(limited(`<p title=it's>a</p>`)).toBe(`<p title="it's">a</p>`)
    expect(limited('1 < 2 and <3')).toBe('1 &lt; 2 and &lt;3')
    expect(limited('cut <a href="x')).toBe('cut ')
  })

  it('flattens what nests too deeply and keeps its words', () => {
    const source = limitSource(
      '<div>'.repeat(10_000) + '<p>word</p>' + '</div>'.repeat(10_000) + '<p>after</p>',
    )
    expect(source.isCut).toBe(true)
    expect(depthOf(source.html)).toBeLessThanOrEqual(MAX_DEPTH)
    expect(source.html).toContain('word')
    expect(source.html).toMatch(/<\/div><p>after<\/p>$/)
  })

  it('does not take unclosed paragraphs, items and cells for nesting', () => {
    const list = `<ul>${'<li>item'.repeat(1000)}</ul>`
    expect(limitSource(list)).toMatchObject({ html: list, isCut: false })
    const paragraphs = '<p>text'.repeat(1000)
    expect(limitSource(paragraphs)).toMatchObject({ html: paragraphs, isCut: false })
    const table = `<table>${'<tr><td>a<td>b'.repeat(1000)}</table>`
    expect(limitSource(table)).toMatchObject({ html: table, isCut: false })
  })

  it('keeps only so many tags', () => {
    const source = limitSource('<b>x</b>'.repeat(MAX_TAGS + 10))
    expect(source).toMatchObject({ tags: MAX_TAGS, isCut: true })
    expect(source.html.match(/x/g)).toHaveLength(MAX_TAGS + 10)
  })

  it('refuses what is still too large', () => {
    expect(() => limitSource('x'.repeat(12_000_001))).toThrow(Failure)
    expect(limited(`<style>${'x'.repeat(6_000_000)}</style>y`)).toBe('y')
  })

  it.each([
    ['open tags', '<a "'],
    ['open comments', '<!--'],
    ['open drawings', '<svg>'],
    ['open scripts', '<script>'],
    ['end tags', '</a>'],
    ['signs', '<'],
    ['quotes', '<p a="'],
  ])('takes thousands of %s in its stride', (_name, piece) => {
    expect(limited(piece.repeat(100_000)).length).toBeLessThanOrEqual(piece.length * 100_000 * 4)
  })

  it('keeps the depth for any nesting', () => {
    const piece = fc.constantFrom(
      '<div>',
      '</div>',
      '<b>',
      '</b>',
      '<p>',
      '<li>',
      '<td>',
      '</td>',
      'x',
      '<br>',
      '<ul>',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 600, size: 'max' }), (pieces) => {
        let depth = 0
        for (const [tag] of limited(pieces.join('')).matchAll(/<\/?(?:div|b|ul)>/g)) {
          depth += tag.startsWith('</') ? -1 : 1
          if (depth > MAX_DEPTH) return false
        }
        return true
      }),
    )
  })
})
