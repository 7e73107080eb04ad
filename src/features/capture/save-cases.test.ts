import { describe, expect, it } from 'vitest'
import { call } from '../../../test/support/call.ts'
import { captureAgain, capturingLibrary, markdownOf, save, type Web } from '../../../test/support/saved.ts'
import { Failure } from '../../core/failure.ts'
import { addHighlight } from '../highlights/tools/add-highlight.ts'
import { listItems } from '../sources/tools/list-items.ts'
import { readItem } from '../texts/tools/read-item.ts'

const PARAGRAPHS = [
  'A commonplace book is where a reader keeps what is worth keeping: a line from a letter, a recipe, a thought at night.',
  'For four centuries people copied passages by hand under headings of their own, and so came to know what they had read.',
  'The copying was slow, and the slowness was the point, since a sentence that has been written out is not forgotten soon.',
  'What was gathered could be found again by its heading, and what was found again could be put to use in a new place.',
]

const page = (title: string, body: string, head = ''): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body>${body}</body></html>`
const article = (title: string, paragraphs: readonly string[], head = ''): string =>
  page(
    title,
    `<article><h1>${title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join('')}</article>`,
    head,
  )
const essay = (head = '') => article('On Keeping', PARAGRAPHS, head)
const canonical = (url: string) => `<link rel="canonical" href="${url}">`

/** Saves each address in turn; gives the number of items there are then, and which each became. */
async function saveAll(web: Web, urls: readonly string[]): Promise<{ total: unknown; ids: string[] }> {
  const library = await capturingLibrary(web)
  const ids: string[] = []
  for (const url of urls) ids.push((await save(library, url)).item.id)
  return { total: (await call(listItems, library))['total'], ids }
}
const everywhere = (urls: readonly string[], head = ''): Web =>
  Object.fromEntries(urls.map((url) => [url, essay(head)]))

describe('one page under many addresses', () => {
  it('is one item', async () => {
    const first = 'http://www.example.test/a/?utm_source=x&b=2#top'
    const amp = 'https://example.test/amp/a'
    const urls = [first, 'https://example.test/a?b=2', 'https://EXAMPLE.test:443/a/?b=2&fbclid=1']
    const mobile = 'https://m.example.test/a?b=2'
    const web = { ...everywhere(urls), ...everywhere([mobile, amp], canonical(first)) }
    const { total, ids } = await saveAll(web, [...urls, mobile, amp])
    expect({ total, different: new Set(ids).size }).toEqual({ total: 1, different: 1 })
  })

  it('is one item whichever address comes first', async () => {
    const first = 'https://example.test/a?b=2'
    const rest = [
      'https://m.example.test/a?b=2',
      'https://example.test/a/amp?b=2',
      'https://example.test/a/print',
    ]
    const web = { ...everywhere([first]), ...everywhere(rest, canonical(first)) }
    const { total, ids } = await saveAll(web, [...rest, first])
    expect({ total, different: new Set(ids).size }).toEqual({ total: 1, different: 1 })
  })

  it('is one item by the way of an AMP cache, and where a redirect leads', async () => {
    const cached = 'https://example-test.cdn.ampproject.org/c/s/example.test/a'
    const moved = 'https://example.test/old-a'
    const web: Web = {
      'https://example.test/a': essay(),
      [cached]: essay(canonical('https://example.test/a')),
      [moved]: { url: 'https://example.test/a', bytes: Buffer.from(essay()) },
    }
    const { total } = await saveAll(web, [cached, 'https://example.test/a', moved])
    expect(total).toBe(1)
  })

  it.each([
    [
      'mobile and desktop that name no common address',
      'https://m.example.test/a',
      'https://example.test/a',
      '',
    ],
    ['routes', 'https://example.test/#/p1', 'https://example.test/#/p2', ''],
    ['ids', 'https://example.test/?id=1', 'https://example.test/?id=2', ''],
    ['letters', 'https://example.test/A', 'https://example.test/a', ''],
    [
      'pages that name the front page',
      'https://example.test/a',
      'https://example.test/b',
      canonical('https://example.test/'),
    ],
    ['pages that name another site', 'https://a.test/x', 'https://b.test/x', canonical('https://c.test/x')],
    [
      'pages that name nothing of sense',
      'https://a.test/x',
      'https://a.test/y',
      canonical('javascript:alert(1)'),
    ],
  ])('stay apart: %s', async (_what, one, other, head) => {
    const { total } = await saveAll(everywhere([one, other], head), [one, other])
    expect(total).toBe(2)
  })

  it('keeps parameters as they are', async () => {
    const url = 'https://example.test/s?a=1*2&q=%2A&r=a+b'
    const library = await capturingLibrary(everywhere([url]))
    expect((await save(library, url)).item.url).toBe(url)
  })
})

describe('a quote over markup', () => {
  const html = article('On Keeping', [
    ...PARAGRAPHS,
    'One <em>two</em> <a href="/x">three</a>.<br>Four&nbsp;five',
    'Six',
    'They said &ldquo;it&rsquo;s an extra&shy;ordinary day&rdquo; &ndash; and x<sup>2</sup> was <code>f(x)</code>.',
  ])

  it.each([
    ['two three. Four five', 'two three.\nFour five'],
    ['three.\nFour five\n\nSix', 'three.\nFour five\n\nSix'],
    ['five Six', 'five\n\nSix'],
    ['*two* [three](https://example.test/x).', 'two three.'],
    ['"it\'s an extraordinary day" - and', '“it’s an extraordinary day” – and'],
    ['an extra\u00adordinary day', 'an extraordinary day'],
    ['was f(x).', 'was f(x).'],
  ])('%j is found as %j', async (quote, words) => {
    const library = await capturingLibrary({ 'https://example.test/a': html })
    const { item } = await save(library, 'https://example.test/a')
    const { highlight } = (await call(addHighlight, library, { id: item.id, quote })) as {
      highlight: { quote: string }
    }
    expect(highlight.quote.replaceAll('\u00a0', ' ')).toBe(words)
    const { plain } = await library.db.selectFrom('text').select('plain').executeTakeFirstOrThrow()
    expect(plain).toContain(highlight.quote)
  })
})

describe('a page that is fetched again', () => {
  const url = 'https://example.test/keeping'
  const answered = (finalUrl: string, html: string) => ({ url: finalUrl, bytes: Buffer.from(html) })
  const hint = 'Later.'

  it.each<[string, Web[string], string]>([
    ['is gone', new Failure('page_not_found', 'Gone.', { hint }), 'page_not_found'],
    ['is refused', new Failure('page_refused', 'No.', { hint }), 'page_refused'],
    ['does not arrive', new Failure('timed_out', 'Late.', { hint }), 'timed_out'],
    [
      'says with success that it is not there',
      page('Page not found', '<p>The page you requested was not found.</p>'),
      'page_not_found',
    ],
    [
      'has become the front page',
      answered('https://example.test/', page('Page not found', '<p>Sorry.</p>')),
      'page_not_found',
    ],
    [
      'asks for a login',
      answered(
        'https://example.test/login?next=/keeping',
        page('Log in', '<form><p>Please log in to continue.</p><input type="password" name="p"></form>'),
      ),
      'login_required',
    ],
    [
      'asks about cookies',
      answered(
        'https://consent.example.test/cookie-wall',
        page(
          'Before you continue',
          '<p>We and our 90 partners use cookies.</p><button>Accept all</button><button>Reject all</button>',
        ),
      ),
      'page_refused',
    ],
    [
      'checks for robots',
      page(
        'Just a moment...',
        '<p>Checking your browser before you go on.</p><div class="cf-challenge"></div>',
      ),
      'page_refused',
    ],
    ['is empty', page('On Keeping', ''), 'no_text'],
    ['has no byte', { bytes: new Uint8Array() }, 'no_text'],
    [
      'is a broken PDF',
      { headers: { 'content-type': 'application/pdf' }, bytes: Buffer.from('%PDF-1.7\nx') },
      'damaged_file',
    ],
    [
      'is a picture',
      { headers: { 'content-type': 'image/png' }, bytes: Buffer.from('89504e470d0a1a0a', 'hex') },
      'unsupported_type',
    ],
    ['is ten times shorter', article('On Keeping', [PARAGRAPHS[0]!.slice(0, 30)]), 'kept'],
  ])(
    'and %s leaves text and highlights as they were, and the attempt on record',
    async (_what, then, ends) => {
      const web: Web = { [url]: essay() }
      const library = await capturingLibrary(web)
      const { item } = await save(library, url)
      const before = await markdownOf(library, item.id)
      await call(addHighlight, library, { id: item.id, quote: PARAGRAPHS[2] })
      web[url] = then
      const { state, outcome, failure } = await captureAgain(library, url)
      expect(failure ?? outcome).toBe(ends)
      expect(state).toBe(failure === null ? 'completed' : 'failed')
      expect(await markdownOf(library, item.id)).toBe(before)
      const summary = await call(readItem, library, { id: item.id, format: 'summary' })
      expect(summary['annotations']).toMatchObject([{ quote: PARAGRAPHS[2], state: 'anchored' }])
      const attempts = await library.db.selectFrom('capture').select('state').execute()
      expect(attempts).toHaveLength(2)
      expect(await call(listItems, library)).toMatchObject({ total: 1 })
    },
  )
})
