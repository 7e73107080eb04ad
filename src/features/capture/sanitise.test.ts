import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RENDERER_VERSION, renderMarkdown } from './sanitise.ts'

describe('renderMarkdown', () => {
  it('renders what readers need', () => {
    expect(renderMarkdown('# A\n\nB *c* `d`\n\n- [x] e')).toContain(
      '<h1>A</h1>\n<p>B <em>c</em> <code>d</code></p>',
    )
    expect(renderMarkdown('```js\nlet a\n```')).toBe('<pre><code class="language-js">let a\n</code></pre>')
    expect(renderMarkdown('| a |\n| - |\n| b |')).toContain('<td>b</td>')
    expect(renderMarkdown('H<sub>2</sub>O, <kbd>Esc</kbd>')).toBe('<p>H<sub>2</sub>O, <kbd>Esc</kbd></p>')
  })

  it('makes a figure of a picture with its caption', () => {
    expect(renderMarkdown('![a cat](https://a.example/c.png)\\\n*It sleeps.*')).toBe(
      '<figure><img src="https://a.example/c.png" alt="a cat" loading="lazy" referrerpolicy="no-referrer">' +
        '<figcaption>It sleeps.</figcaption></figure>',
    )
    expect(renderMarkdown('![a](https://a.example/c.png) and words')).toMatch(/^<p><img/)
  })

  it('shows formulas by their source, as the plain text has them', () => {
    expect(renderMarkdown('so $x^2$.')).toBe('<p>so <code class="math-inline">$x^2$</code>.</p>')
    expect(renderMarkdown('$$\nx<y\n$$')).toBe('<pre><code class="math-display">x&#x3C;y</code></pre>')
  })

  it('links footnotes within the text', () => {
    const html = renderMarkdown('a[^n]\n\n[^n]: note')
    expect(html).toContain('href="#user-content-fn-n"')
    expect(html).toContain('id="user-content-fn-n"')
  })

  it.each([
    '<script>alert(1)</script>',
    'a <img src=x onerror=alert(1)> b',
    '<svg onload=alert(1)>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](java\tscript:alert(1))',
    '[x](data:text/html,<script>)',
    '![x](data:image/svg+xml,<svg>)',
    '![x](javascript:alert(1))',
    '<javascript:alert(1)>',
    '<iframe src="https://a.example"></iframe>',
    '<form action=x><input></form>',
    '<a href="javascript:alert(1)">x</a>',
    '<sub onclick=alert(1)>x</sub>',
    '<style>*{}</style>',
    '[x]: javascript:alert(1)\n\n[x]',
    '```"><script>alert(1)</script>\nx\n```',
    '<sub><script>alert(1)</script></sub>',
  ])('takes the danger out of %s', (markdown) => {
    expect(renderMarkdown(markdown)).not.toMatch(
      /<(?:script|iframe|svg|form|input|style)|\son\w+=|(?:href|src)="(?:javascript|data):/i,
    )
  })

  it('lets no tag through that is not on the list, whatever the source', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '/',
      'script',
      'img',
      ' src=',
      'onerror=',
      '"',
      "'",
      '](',
      '[',
      '![',
      'javascript:',
      ')',
      '`',
      '\n',
      '*',
      'sub',
      '<sub>',
      '</sub>',
      'a',
      '&lt;',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const tags = renderMarkdown(pieces.join('')).match(/<\/?[a-z0-9]+/gi) ?? []
        return tags.every((tag) =>
          /^<\/?(?:p|a|em|strong|code|pre|ul|ol|li|h[1-6]|blockquote|img|br|hr|sub|sup|del|figure|figcaption|table|thead|tbody|tr|th|td|section|kbd|mark|input)$/i.test(
            tag,
          ),
        )
      }),
      { numRuns: 300 },
    )
  })

  it('shows the words where the form cannot be parsed', () => {
    expect(renderMarkdown('>'.repeat(5000) + ' word <b>')).toBe('<p>word &#x3C;b></p>')
  })

  it('has a version that stored HTML is compared with', () => {
    expect(Number.isInteger(RENDERER_VERSION)).toBe(true)
  })
})
