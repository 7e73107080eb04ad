import { describe, expect, it } from 'vitest'
import { Failure } from '../../core/failure.ts'
import { extractArticle } from './extract-article.ts'

const url = 'https://example.org/page'
const sentence = 'Slow reading helps people to remember what a book says about their lives. '
const article = (title: string) =>
  `<html><title>${title}</title><article><h1>${title}</h1>${`<p>${sentence.repeat(4)}</p>`.repeat(6)}</article></html>`

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'ok'
  } catch (error) {
    expect(error).toBeInstanceOf(Failure)
    return error instanceof Failure ? error.code : ''
  }
}

describe('extractArticle', () => {
  it('reads pages one after another', async () => {
    const titles = ['One', 'Two', 'Three']
    const articles = await Promise.all(titles.map((title) => extractArticle({ html: article(title), url })))
    expect(articles.map(({ title }) => title)).toEqual(titles)
    expect(articles[0]?.plain).toContain(sentence.trim())
  })

  it('ends at the deadline, and reads the next page all the same', async () => {
    const slow = `<article>${`<p>${sentence} <a href=x>link</a> <b>bold</b></p>`.repeat(30_000)}</article>`
    expect(await codeOf(extractArticle({ html: slow, url }, { deadlineMs: 50, roughDeadlineMs: 50 }))).toBe(
      'timed_out',
    )
    expect((await extractArticle({ html: article('After'), url })).title).toBe('After')
  })

  it('gives the words of a page that takes too long, and says so', async () => {
    const slow = `<title>Slow</title><article>${`<p>${sentence} <a href=x>link</a> <b>bold</b></p>`.repeat(30_000)}`
    const read = await extractArticle({ html: slow, url }, { deadlineMs: 50, roughDeadlineMs: 20_000 })
    expect(read).toMatchObject({
      method: 'rough',
      title: 'Slow',
      warnings: [expect.stringContaining('too much')],
    })
    expect(read.plain.split('\n\n')).toEqual(Array(30_000).fill(`${sentence}link bold`))
  })

  it('reads bytes by the charset they come with, and leaves them to the caller', async () => {
    const html = `<meta charset="windows-1252"><title>Café</title><article>${`<p>Le café est là, où l’on lit. ${sentence}</p>`.repeat(5)}`
    const bytes = Uint8Array.from([...html.replaceAll('’', '\x92')].map((sign) => sign.charCodeAt(0)))
    const read = await extractArticle({ bytes, contentType: 'text/html', url })
    expect(read.title).toBe('Café')
    expect(read.plain).toContain('où l’on lit.')
    expect(bytes.length).toBe(html.length)
  })

  it('can be cancelled, before and on the way', async () => {
    expect(await codeOf(extractArticle({ html: article('No'), url }, { signal: AbortSignal.abort() }))).toBe(
      'cancelled',
    )
    const controller = new AbortController()
    const work = codeOf(extractArticle({ html: article('No'), url }, { signal: controller.signal }))
    setImmediate(() => controller.abort())
    expect(await work).toBe('cancelled')
  })

  it('refuses what is too large', async () => {
    expect(await codeOf(extractArticle({ html: 'x'.repeat(12_000_001), url }))).toBe('too_large')
    expect(await codeOf(extractArticle({ html: ' '.repeat(32_000_001), url }))).toBe('too_large')
  })

  it.each([
    ['nested divs', '<div>'.repeat(10_000) + `<p>${sentence}</p>` + '</div>'.repeat(10_000)],
    ['unclosed divs', '<div>'.repeat(10_000) + `<p>${sentence}</p>`],
    ['unclosed paragraphs', `<p>${sentence}`.repeat(2000)],
    ['nested lists', '<ul><li>word'.repeat(1000)],
    ['nested tables', '<table><tr><td>word'.repeat(2000)],
    ['nested emphasis', `<p>${'<b><i><span>'.repeat(2000)}${sentence}`],
    ['unclosed links', `<a href=x>${sentence}`.repeat(2000)],
    ['nested quotes', '<blockquote>'.repeat(2000) + sentence],
    ['line breaks', `<p>a${'<br>'.repeat(20_000)}${sentence}</p>`],
    ['cut markup', `<p>${sentence}</p><a href="`],
    ['marks', `<p>${'*a_ '.repeat(20_000)}</p>`],
    ['open brackets', `<p>${'[('.repeat(20_000)}</p>`],
    ['spaces', `<p>${sentence}${' '.repeat(1_000_000)}</p>`],
    ['one long word', `<p>${'a'.repeat(1_000_000)}</p>`],
    ['wide cells', `<table>${'<tr><th colspan=1000>x<td>y'.repeat(500)}</table>`],
    ['signs', '<'.repeat(20_000)],
    ['zeros', '\0'.repeat(100_000)],
  ])('comes to an end on %s', async (_name, html) => {
    expect(['ok', 'timed_out', 'too_large', 'damaged_file']).toContain(
      await codeOf(extractArticle({ html, url })),
    )
  })

  it('leaves nothing behind that would keep the process alive', async () => {
    const alive = () => process.getActiveResourcesInfo().filter((name) => /Port|Worker/.test(name)).length
    const work = extractArticle({ html: article('Title'), url })
    await new Promise((resolve) => setImmediate(resolve))
    expect(alive()).toBeGreaterThan(0)
    await work
    expect(alive()).toBe(0)
  })
})
