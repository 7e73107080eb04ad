import { describe, expect, it } from 'vitest'
import { readArticle } from './article-reader.ts'

const URL_OF_PAGE = 'https://www.example.org/2024/03/reading'

/** A paragraph of so many words that reads like text; `seed` makes it differ from others. */
function prose(words: number, seed: number): string {
  const stock =
    'slow reading helps people keep what books say about life and work in a town by the sea'.split(' ')
  const text = Array.from({ length: words }, (_, at) => stock[(at * (seed + 3) + seed) % stock.length])
  return `Number ${seed} ${text.join(' ')}.`
}
const paragraphs = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `<p>${prose(45, from + at)}</p>`).join('\n')

const newsPage = `<!doctype html><html lang="en"><head><title>Why slow reading wins | Example Times</title>
<meta property="og:site_name" content="Example Times"><meta name="author" content="Ann Roe">
<meta property="article:published_time" content="2024-03-05T10:00:00Z">
<meta name="description" content="A summary of the piece about slow reading."></head><body>
<header><nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li></ul></nav></header>
<main><article class="story"><h1>Why slow reading wins</h1>
<div class="byline">By <a href="/ann">Ann Roe</a></div><p class="date">Published: March 5, 2024 10:00 am</p>
<div class="story-body">
${paragraphs(1, 3)}
<div class="inline-image"><img src="/town.jpg" alt="The town"><p>The town by the sea (Image: GETTY)</p></div>
<p><strong>READ MORE: </strong><a href="/other">The town that forgot to read its books</a></p>
${paragraphs(4, 5)}
<p><a href="/promo">A LONG HISTORY OF READING IN THE TOWN</a></p>
${paragraphs(6, 8)}
<div class="newsletter-signup"><h3>Breaking news emails</h3><p>Get our best stories each morning.</p></div>
${paragraphs(9, 10)}
<p>Ann Roe is a reporter at Example Times. Follow her at @annroe.</p>
<p>© 2024 Example Times. All rights reserved.</p>
</div></article>
<aside class="related"><h2>You may also like</h2><ul><li><a href="/a">One more story</a></li><li><a href="/b">Another</a></li></ul></aside></main>
<footer><p>Contact us</p></footer></body></html>`

describe('an article', () => {
  const article = readArticle({ html: newsPage, url: URL_OF_PAGE })

  it('is its text, all of it and in order', () => {
    for (let seed = 1; seed <= 10; seed++) expect(article.plain).toContain(prose(45, seed))
    expect(article.plain.startsWith(prose(45, 1))).toBe(true)
    expect(article.plain.endsWith(prose(45, 10))).toBe(true)
  })

  it.each([
    'Home',
    'Why slow reading',
    'Ann Roe',
    'March 5',
    'READ MORE',
    'A LONG HISTORY',
    'news emails',
    'rights',
    'also like',
  ])('comes without "%s"', (furniture) => {
    expect(article.plain).not.toContain(furniture)
  })

  it('keeps a picture with its caption', () => {
    expect(article.markdown).toContain(
      '](https://www.example.org/town.jpg)\\\n*The town by the sea (Image: GETTY)*',
    )
    expect(article.html).toContain('<figcaption>The town by the sea (Image: GETTY)</figcaption></figure>')
  })

  it('knows what it is', () => {
    expect(article).toMatchObject({
      title: 'Why slow reading wins',
      authors: ['Ann Roe'],
      site: 'Example Times',
      language: 'en',
      published: '2024-03-05',
      description: 'A summary of the piece about slow reading.',
      coverUrl: 'https://www.example.org/town.jpg',
      warnings: [],
    })
    expect(article.words).toBeGreaterThan(450)
  })

  it('is the same each time', () => {
    expect(readArticle({ html: newsPage, url: URL_OF_PAGE })).toEqual(article)
  })
})

describe('a page', () => {
  const page = (body: string) =>
    readArticle({ html: `<html><body><article>${body}</article></body></html>`, url: URL_OF_PAGE })

  it('keeps code, formulas, tables and notes', () => {
    const article = page(`<h1>On code</h1>${paragraphs(1, 2)}
      <div class="highlight-source-js"><pre>let a = 1</pre></div>
      <p>${prose(20, 3)} <math alttext="x^2"><mi>x</mi></math><sup><a href="#fn1">1</a></sup> so.</p>
      <table><tr><th>A<th>B<tr><td>1<td>2</table>${paragraphs(4, 5)}
      <ol class="footnotes"><li id="fn1">The note itself, with words enough to stay.</li></ol>`)
    expect(article.markdown).toContain('```js\nlet a = 1\n```')
    expect(article.markdown).toMatch(/\$x\^2\$\[\^1\] so\./)
    expect(article.markdown).toContain('| A | B |\n| - | - |\n| 1 | 2 |')
    expect(article.markdown).toMatch(/\n\[\^1\]: The note itself, with words enough to stay\.\n$/)
  })

  it('keeps lists of links where links are what it is about', () => {
    const links = Array.from(
      { length: 12 },
      (_, at) => `<p><a href="https://other${at}.example/">A worthwhile essay number ${at}</a></p>`,
    )
    const article = page(`<h1>Links</h1>${paragraphs(1, 2)}${links.join('')}${paragraphs(3, 4)}`)
    expect(article.plain).toContain('A worthwhile essay number 7')
  })

  it('may come in a script without spaces', () => {
    const text = '讀者慢慢讀書，總能記得更多，也想得更遠。'.repeat(6)
    const article = page(`<h1>讀書</h1>${`<p>${text}</p>`.repeat(5)}`)
    expect(article.plain).toContain(text)
    expect(article.words).toBeGreaterThan(200)
  })

  it('may hold no text', () => {
    for (const html of [
      '',
      '<html></html>',
      '<!doctype html><body><img src=a.png>',
      '<frameset><frame src=a></frameset>',
      '\0',
    ]) {
      expect(readArticle({ html, url: 'about:blank' })).toMatchObject({ words: 0, site: null })
    }
  })

  it('may be a fragment without an address', () => {
    expect(readArticle({ html: 'just <b>text</b>', url: 'about:blank' }).plain).toBe('just text')
  })
})
