import { toMarkdown } from 'mdast-util-to-markdown'
import { gfmToMarkdown } from 'mdast-util-gfm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRoughly } from './article-rough.ts'
import { limitSource } from './article-source.ts'

const read = (html: string) =>
  toMarkdown(
    { type: 'root', children: readRoughly(limitSource(html).html) },
    { bullet: '-', extensions: [gfmToMarkdown()] },
  )

describe('readRoughly', () => {
  it('keeps headings, paragraphs, items, lines and code', () => {
    const html = `<html><head><title>Not this</title></head><body><nav>Home</nav>
      <h2>On &eacute;tudes &amp; scales</h2><p>One <b>two</b>,
      <a href=x>three</a>.<br>Four&nbsp;five</p><ul><li>First<li><p>Second</p></ul><ol><li>Third</ol>
      <pre>let a = 1 &lt; 2
  let b</pre><table><tr><td>six<td>seven</table><script>no</script><footer>Imprint</footer>`
    expect(read(html)).toBe(
      '## On études & scales\n\nOne two, three.\\\nFour five\n\n- First\n- Second\n\n1. Third\n\n```\nlet a = 1 < 2\n  let b\n```\n\nsix seven\n',
    )
  })

  it('leaves out what is outside of the article, unless that is most of the page', () => {
    const words = 'Slow reading helps. '.repeat(20)
    expect(read(`<p>Menu</p><article><p>${words}</p></article><p>Imprint</p>`)).not.toContain('Imprint')
    expect(read(`<article><p>Teaser</p></article><p>${words}</p>`)).toContain('helps')
    expect(read(`<nav><p>${words}</p>`)).toContain('helps')
  })

  it.each([
    ['nested divs', `${'<div>'.repeat(10_000)}the words`],
    ['unclosed script-like elements', `<canvas>${'<math>'.repeat(100_000)}${'the words '.repeat(100_000)}`],
    ['signs', `<p>the words${' < & > '.repeat(50_000)}`],
    ['references', `<p>the words ${'&amp;&lt'.repeat(50_000)}`],
    ['items', '<li>the words'.repeat(20_000)],
  ])('comes to an end on %s', (_name, html) => {
    expect(read(html)).toContain('the words')
  })

  it('loses no word of a paragraph, whatever stands between', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/)
    const between = fc.constantFrom(' ', '<br>', ' <b>', '</b> ', '</p><p>', '<td>', '<li>', '<h2>', '<pre>')
    fc.assert(
      fc.property(fc.array(fc.tuple(word, between), { minLength: 1, maxLength: 30 }), (parts) => {
        const html = `<p>${parts.map(([text, tag]) => text + tag).join('')}`
        expect(read(html).match(/[a-z]+/g)).toEqual(parts.map(([text]) => text))
      }),
    )
  })
})
