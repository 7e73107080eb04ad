import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainTextOf, textOfTree } from '../texts/plain-text.ts'
import { parsePage } from './article-engines.ts'
import { normaliseMarkup } from './article-markup.ts'
import { limitSource } from './article-source.ts'
import { cleanTree } from './clean-tree.ts'
import { treeOf, writeMarkdown } from './markdown.ts'

const BASE = 'https://example.org/dir/page'

function treeFrom(html: string) {
  const document = parsePage(limitSource(html).html, BASE)
  normaliseMarkup(document)
  return treeOf(cleanTree(document.body, BASE).map(({ node }) => node))
}
const markdown = (html: string) => writeMarkdown(treeFrom(html)).trimEnd()
const plain = (html: string) => plainTextOf(markdown(html))

describe('text', () => {
  it('keeps words apart over markup, breaks and paragraphs', () => {
    const html = '<p>One <em>two</em> <a href="/x">three</a>.<br>Four&nbsp;five</p><p>Six</p>'
    expect(plain(html)).toBe('One two three.\nFour five\n\nSix')
    expect(markdown(html)).toBe('One *two* [three](https://example.org/x).\\\nFour five\n\nSix')
  })

  it('gives every text a paragraph', () => {
    expect(markdown('one<div>two<p>three</p>four</div>five')).toBe('one\n\ntwo\n\nthree\n\nfour\n\nfive')
    expect(markdown('<div>a<br><br>b<br> <br>c</div>')).toBe('a\n\nb\n\nc')
    expect(markdown('<span>a<div>b</div></span>')).toBe('a\n\nb')
  })

  it('puts the spaces of emphasis outside it', () => {
    expect(markdown('<p>a<b> b </b>c<i> </i>d</p>')).toBe('a **b** c d')
    expect(markdown('<p> <b> <i>a </i></b> </p>')).toBe('**_a_**')
    expect(markdown('<p><b>a<b>b</b></b></p>')).toBe('**ab**')
  })

  it('takes soft hyphens out, and shows quotation marks', () => {
    expect(markdown('<p>data&shy;base <q>so</q></p>')).toBe('database “so”')
  })

  it('does not let text become Markdown or HTML', () => {
    for (const text of [
      '*a* _b_',
      '# a',
      '1. a',
      '- a',
      '> a',
      '[a](b)',
      '<b>a</b>',
      '`a`',
      'a|b',
      '$a$ $5',
      '~~a~~',
      '&amp;',
      '[^1]',
      '![a](b)',
      '+ a',
      '---',
      'a\\b',
      'http://a.example/_b_',
    ]) {
      const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      expect(plain(`<p>${escaped}</p><p>x</p>`)).toBe(`${text}\n\nx`)
    }
  })
})

describe('blocks', () => {
  it('writes headings without their permalinks', () => {
    expect(markdown('<h2 id=a>Title <a href="#a" class=anchor>#</a></h2><h3></h3><p>x</p>')).toBe(
      '## Title\n\nx',
    )
  })

  it('writes lists, nested, numbered and ticked', () => {
    expect(markdown('<ol start=3><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ol>')).toBe(
      '3. a\n   - b\n\n4. c\n\n   d',
    )
    expect(
      markdown('<ul><li><input type=checkbox checked> a</li><li><input type=checkbox> b</li></ul>'),
    ).toBe('- [x] a\n- [ ] b')
    expect(markdown('<ul><li>a</li><ul><li>b</li></ul></ul>')).toBe('- a\n  - b')
  })

  it('writes code with its language and a fence that holds it', () => {
    expect(markdown('<pre><code class="language-python">a\n\n  b</code></pre>')).toBe(
      '```python\na\n\n  b\n```',
    )
    expect(markdown('<div class="highlight highlight-source-js"><pre><span>let</span> a</pre></div>')).toBe(
      '```js\nlet a\n```',
    )
    expect(markdown('<pre>```\nx\n```</pre>')).toBe('````\n```\nx\n```\n````')
    expect(markdown('<pre><code><div class=line>a</div><div class=line>b</div></code></pre>')).toBe(
      '```\na\nb\n```',
    )
    expect(markdown('<p>use <code> a`b </code></p>')).toBe('use ``a`b``')
  })

  it('leaves line numbers out', () => {
    const html = `<table class="highlight"><tr><td class="gutter"><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table>`
    expect(markdown(html)).toBe('```\na\nb\n```')
  })

  it('writes tables of data and dissolves tables of layout', () => {
    const data = '<table><tr><th>A<th align=right>B<tr><td>1|2<td>x<br>y</table>'
    expect(markdown(data)).toBe('| A | B |\n| - | -: |\n| 1\\|2 | x<br>y |')
    expect(markdown('<table><tr><td>1<td>2<tr><td>3<td>4</table>')).toBe(
      '| | |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |',
    )
    expect(markdown('<table><tr><td><p>one</p><p>two</p></td></tr></table>')).toBe('one\n\ntwo')
    expect(markdown('<table><tr><td colspan=2>a<td>b<tr><td>c</table>')).toContain('| a | | b |')
  })

  it('writes figures, lazy pictures and their captions', () => {
    expect(
      markdown(
        '<figure><img src="data:image/gif;base64,x" data-src="a.jpg" alt="A"><figcaption>A <i>cat</i></figcaption></figure>',
      ),
    ).toBe('![](https://example.org/dir/a.jpg)\\\n*A cat*')
    expect(markdown('<p><img srcset="s.jpg 400w, l.jpg 1200w, xl.jpg 4000w" alt="B"></p>')).toBe(
      '![B](https://example.org/dir/l.jpg)',
    )
    expect(markdown('<div><img src=a.jpg><p class="wp-caption-text">Words</p></div>')).toBe(
      '![](https://example.org/dir/a.jpg)\\\n*Words*',
    )
    expect(markdown('<p>a<img src=p.gif width=1 height=1>b</p>')).toBe('ab')
  })

  it('keeps the caption of code as text', () => {
    expect(markdown('<figure><pre>a</pre><figcaption>Listing 1</figcaption></figure>')).toBe(
      '```\na\n```\n\nListing 1',
    )
  })

  it('writes formulas of several renderers by their source', () => {
    const tex = '<annotation encoding="application/x-tex">x^2</annotation>'
    expect(
      markdown(
        `<p>a <span class=katex><span><math><semantics><mi>x</mi>${tex}</semantics></math></span><span aria-hidden=true>x2</span></span> b</p>`,
      ),
    ).toBe('a $x^2$ b')
    expect(markdown('<p>a <script type="math/tex">x^2</script> b</p>')).toBe('a $x^2$ b')
    expect(markdown('<script type="math/tex; mode=display">x^2</script>')).toBe('$$\nx^2\n$$')
    expect(markdown('<p>a <math alttext="{\\displaystyle y_1}"><mi>y</mi></math></p>')).toBe('a $y_1$')
    expect(markdown('<math display=block alttext="y"><mi>y</mi></math>')).toBe('$$\ny\n$$')
  })

  it('writes footnotes as footnotes', () => {
    const html = `<p>a<sup id=r1><a href="#n1">1</a></sup> b<sup><a href="#n2">[2]</a></sup></p>
      <ol><li id=n1><p>One <a href="#r1">↩</a></p></li><li id=n2>Two <a href="#r2" class=footnote-backref>back</a></li></ol><p>c</p>`
    expect(markdown(html)).toBe('a[^1] b[^2]\n\nc\n\n[^1]: One\n\n[^2]: Two')
    expect(markdown('<p>see <a href="#s">2</a></p><p id=s>Section</p>')).toBe(
      'see [2](https://example.org/dir/page#s)\n\nSection',
    )
  })

  it('keeps small forms that Markdown lacks', () => {
    expect(markdown('<p>H<sub>2</sub>O<sup>+</sup></p>')).toBe('H<sub>2</sub>O<sup>+</sup>')
  })
})

describe('safety', () => {
  it('makes links absolute and drops what could run', () => {
    expect(markdown('<p><a href="../a?b=1#c">x</a></p>')).toBe('[x](https://example.org/a?b=1#c)')
    for (const href of [
      'javascript:alert(1)',
      ' java\tscript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc',
      'http://[',
    ]) {
      expect(markdown(`<p><a href="${href}">x</a></p>`)).toBe('x')
    }
    expect(markdown('<p><img src="javascript:alert(1)" alt=x>y</p>')).toBe('y')
  })

  it('drops scripts, forms and frames', () => {
    expect(
      markdown(
        '<script>a</script><style>b</style><form><input value=c><button>d</button>e</form><iframe src=f></iframe><noscript>g</noscript>',
      ),
    ).toBe('e')
  })

  it('survives deep nesting', () => {
    const html = '<blockquote><ul><li><b><span>'.repeat(3000) + 'word'
    expect(plain(html)).toContain('word')
  })
})

describe('the Markdown', () => {
  const words = fc
    .stringMatching(/^[a-z*_#<&$[\]()!|\\`~.>+-]{0,6} ?[a-z0-9]{1,6}$/)
    .map((text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
  const { html } = fc.letrec((tie) => ({
    inline: fc.oneof(
      { depthSize: 'small' },
      words,
      fc
        .tuple(
          fc.constantFrom('b', 'i', 'a href=/x', 'span', 'sub', 'code', 'del'),
          tie('inline'),
          tie('inline'),
        )
        .map(([tag, a, b]) => `<${tag}>${String(a)} ${String(b)}</${tag.split(' ')[0]}>`),
      fc.constantFrom('<br>', '<img src=/a.png alt="an image">'),
    ),
    html: fc.oneof(
      { depthSize: 'small' },
      fc.array(tie('inline'), { minLength: 1, maxLength: 4 }).map((parts) => `<p>${parts.join(' ')}</p>`),
      fc
        .tuple(fc.constantFrom('div', 'blockquote', 'section'), fc.array(tie('html'), { maxLength: 3 }))
        .map(([tag, parts]) => `<${tag}>${parts.join('')}</${tag}>`),
      fc
        .tuple(fc.constantFrom('ul', 'ol'), fc.array(tie('html'), { maxLength: 3 }))
        .map(
          ([tag, parts]) => `<${tag}>${parts.map((part) => `<li>${String(part)}</li>`).join('')}</${tag}>`,
        ),
      fc
        .tuple(fc.constantFrom('h1', 'h2', 'h4'), tie('inline'))
        .map(([tag, inner]) => `<${tag}>${String(inner)}</${tag}>`),
      words.map((text) => `<pre>${text}</pre>`),
    ),
  }))

  it('says when read again what the page said', () => {
    fc.assert(
      fc.property(html, (page) => {
        const tree = treeFrom(String(page))
        const written = writeMarkdown(tree)
        // Lists may be read back looser than they were.
        const lines = (text: string) => text.split(/\n+/)
        expect(lines(plainTextOf(written))).toEqual(lines(textOfTree(tree, '')))
      }),
      { numRuns: 150 },
    )
  })
})
