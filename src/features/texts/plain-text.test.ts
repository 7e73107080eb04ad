import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isBeyondParsing, plainTextOf } from './plain-text.ts'

describe('plainTextOf', () => {
  it.each([
    ['One *two* [three](u).\\\nFour five\n\nSix', 'One two three.\nFour five\n\nSix'],
    ['a line\nand its rest', 'a line and its rest'],
    ['two spaces  \nbreak', 'two spaces\nbreak'],
    ['# Title #\n\nText', 'Title\n\nText'],
    ['- one\n- two\n  - three', 'one\ntwo\nthree'],
    ['- one\n\n- two', 'one\n\ntwo'],
    ['> quoted\n> on', 'quoted on'],
    ['| a | b |\n| - | - |\n| 1 | x<br>y |', 'a\tb\n1\tx\ny'],
    ['```js\nlet a = 1\n\nb()\n```', 'let a = 1\n\nb()'],
    ['use `x * y` now', 'use x * y now'],
    ['before ![a cat](c.png "t") after', 'before a cat after'],
    ['before![a cat](c.png)after', 'before a cat after'],
    ['![](c.png)\n\ntext', 'text'],
    ['text[^1] more\n\n[^1]: the note\n\nlast', 'text more\n\nlast\n\nthe note'],
    ['the sum $x^2 + y$ is', 'the sum $x^2 + y$ is'],
    ['$$\nx^2\n$$', 'x^2'],
    ['it costs $5 and $10 today', 'it costs $5 and $10 today'],
    ['from $5 *net* to $ 10', 'from $5 net to $ 10'],
    ['H<sub>2</sub>O and 5<sup>th</sup>', 'H2O and 5th'],
    ['one<br>two', 'one\ntwo'],
    ['<div>\n<p>Raw &amp; <b>bold</b></p><p>next</p>\n</div>', 'Raw & bold\n\nnext'],
    ['<!-- hidden -->\n\nshown', 'shown'],
    ['~~gone~~ and <https://a.example/> and www.b.example', 'gone and https://a.example/ and www.b.example'],
    ['[ref][a]\n\n[a]: https://a.example', 'ref'],
    ['\\*not emphasis\\* &amp; &lt;b&gt;', '*not emphasis* & <b>'],
    ['***', ''],
    ['', ''],
  ])('of %j is %j', (markdown, plain) => {
    expect(plainTextOf(markdown)).toBe(plain)
  })

  it('keeps every word of plain paragraphs apart and in order', () => {
    const word = fc.stringMatching(/^[a-zé漢]{1,8}$/u)
    fc.assert(
      fc.property(
        fc.array(fc.array(word, { minLength: 1, maxLength: 8 }), { minLength: 1 }),
        (paragraphs) => {
          const markdown = paragraphs.map((words) => words.join(' ')).join('\n\n')
          return plainTextOf(markdown) === markdown
        },
      ),
    )
  })

  it('gives some text, the same each time, for any source', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ab *_[]()`#>-|$<&;!\\\n~^:1.'), maxLength: 200 }),
        (source) => {
          return plainTextOf(source) === plainTextOf(source)
        },
      ),
    )
  })

  it.each([
    ['quotes', '>'.repeat(20_000) + ' word'],
    ['spaced quotes', '> '.repeat(20_000) + 'word'],
    ['lists', '- '.repeat(20_000) + 'word'],
    ['indented lists', Array.from({ length: 500 }, (_, depth) => `${'  '.repeat(depth)}- word`).join('\n')],
    ['emphasis', '*a **b '.repeat(20_000) + 'word'],
    ['brackets', '['.repeat(50_000) + 'word' + ']'.repeat(50_000)],
    ['open links', '[a](word '.repeat(20_000)],
    ['escapes', '\\*word'.repeat(20_000)],
    ['code', '`a``'.repeat(20_000) + ' word'],
  ])('survives thousands of nested or open %s', (_name, source) => {
    expect(plainTextOf(source)).toContain('word')
  })

  it.each([
    ['lines', 'word\n'.repeat(20_000), true],
    ['addresses', 'word@example.test '.repeat(20_000), true],
    ['lines of code', `\`\`\`\n${'word\n'.repeat(20_000)}\`\`\`\n`, false],
    ['lines in paragraphs', 'word\nword\n\n'.repeat(20_000), false],
  ])('knows that it would crawl on a paragraph of thousands of %s', (_name, source, isBeyond) => {
    expect(isBeyondParsing(source)).toBe(isBeyond)
    expect(
      plainTextOf(source)
        .split(/\s+/u)
        .filter((word) => word.startsWith('word')).length,
    ).toBeGreaterThan(19_999)
  })
})
