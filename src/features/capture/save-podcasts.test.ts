import { describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../test/support/call.ts'
import { capturingLibrary, save, type Web } from '../../../test/support/saved.ts'
import { addHighlight } from '../highlights/tools/add-highlight.ts'
import { findSource } from '../sources/source-store.ts'
import { readPlaces, secondsOf } from '../texts/places.ts'
import { currentText } from '../texts/text-store.ts'
import { saveUrl } from './tools/save-url.ts'

const SHOW = 'https://show.test'
const FEED = `${SHOW}/feed.xml`

interface Item {
  n: number
  link?: string
  more?: string
  notes?: string
}

const feed = (items: Item[]): Web[string] => ({
  headers: { 'content-type': 'application/rss+xml' },
  bytes: Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" ` +
      `xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:content="http://purl.org/rss/1.0/modules/content/">` +
      `<channel><title>Harbour Talk</title><link>${SHOW}/</link><language>en-GB</language><itunes:author>Ann Roe</itunes:author>` +
      items
        .map(
          ({ n, link = `${SHOW}/ep/${n}`, more = '', notes = '' }) =>
            `<item><title>Salt, part ${n}</title><guid isPermaLink="false">guid-${n}</guid><link>${link}</link>` +
            `<pubDate>Thu, 29 Feb 2024 23:30:00 -0800</pubDate><itunes:duration>01:00:05</itunes:duration>` +
            `<enclosure url="https://count.test/e/cdn.test/audio/part${n}.mp3?from=feed" length="1" type="audio/mpeg"/>${more}` +
            `<content:encoded><![CDATA[${notes}]]></content:encoded></item>`,
        )
        .join('') +
      '</channel></rss>',
  ),
})

const file = (text: string, type: string) => ({ headers: { 'content-type': type }, bytes: Buffer.from(text) })

const page = (more: string, words = 'Listen to this episode of our show.') =>
  `<!doctype html><html lang="en"><head><title>A page</title><link rel="alternate" type="application/rss+xml" href="/feed.xml"></head>` +
  `<body><article><h1>A page</h1><p>${words}</p></article>${more}</body></html>`
const PLAYER = '<audio src="https://cdn.test/audio/part2.mp3"></audio>'

const TRANSCRIPTS =
  `<podcast:transcript url="${SHOW}/2.html" type="text/html"/>` +
  `<podcast:transcript url="/2.vtt" type="text/vtt"/>` +
  `<podcast:chapters url="${SHOW}/2.json" type="application/json+chapters"/>`
const VTT =
  'WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ann>Salt was dear.\n\n00:40.000 --> 00:42.000\n<v Bob>How dear?\n'
const CHAPTERS = JSON.stringify({
  version: '1.2.0',
  chapters: [
    { startTime: 0, title: 'Opening' },
    { startTime: 30, title: 'Prices' },
    { startTime: 35, title: 'Picture', toc: false },
    { title: 3 },
  ],
})

const WEB: Web = {
  [FEED]: feed([{ n: 1 }, { n: 2, more: TRANSCRIPTS }, { n: 3, link: `${SHOW}/` }]),
  [`${SHOW}/2.vtt`]: file(VTT, 'text/plain'),
  [`${SHOW}/2.json`]: file(CHAPTERS, 'application/json'),
  [`${SHOW}/ep/2`]: page(PLAYER),
}

describe('an episode', () => {
  it('is kept by its page with the transcript of its feed, its chapters and what is known of it', async () => {
    const library = await capturingLibrary({ ...WEB })
    const { item } = await save(library, `${SHOW}/ep/2`)
    const source = (await findSource(library.db, Number(item.id)))!
    expect(source).toMatchObject({
      kind: 'podcast',
      title: 'Salt, part 2',
      authors: '["Ann Roe"]',
      site: 'Harbour Talk',
      published: '2024-02-29',
      language: 'en-GB',
    })
    const text = await currentText(library.db, source)
    expect(text.markdown).toBe('## Opening\n\n**Ann:** Salt was dear.\n\n## Prices\n\n**Bob:** How dear?\n')
    expect(secondsOf(readPlaces(text.places))).toBe(3605)
    await call(addHighlight, library, { id: item.id, quote: 'How dear?' })
    const row = await library.db.selectFrom('highlight').select('locator').executeTakeFirstOrThrow()
    expect(JSON.parse(row.locator ?? '')).toEqual({ seconds: 40, label: 'Prices' })
  })

  it.each([
    ['the sound that its page plays', `${SHOW}/listen`, { [`${SHOW}/listen`]: page(PLAYER) }],
    ['its title behind the address of the feed', `${FEED}#!Salt%2C%20part%202`, {}],
    ['its guid there', `${FEED}#!guid-2`, {}],
  ])('is found by %s', async (_what, url, more) => {
    const web: Web = { ...WEB, ...more }
    if (url.startsWith(FEED)) web[url] = WEB[FEED]!
    const library = await capturingLibrary(web)
    expect((await save(library, url)).item.title).toBe('Salt, part 2')
  })

  it('is found through Apple’s directory', async () => {
    const url = 'https://podcasts.apple.com/gb/podcast/harbour-talk/id123?i=456'
    const results = [
      { kind: 'podcast', collectionId: 123, trackId: 123, feedUrl: FEED },
      { kind: 'podcast-episode', trackId: 456, episodeGuid: 'guid-2' },
    ]
    const library = await capturingLibrary({
      ...WEB,
      [url]: '<!doctype html><html><body><p>Listen on Apple.</p></body></html>',
      'https://itunes.apple.com/lookup?id=123&entity=podcastEpisode&limit=200': file(
        JSON.stringify({ results }),
        'text/javascript',
      ),
    })
    expect((await save(library, url)).item).toMatchObject({ title: 'Salt, part 2', kind: 'podcast' })
  })

  it('without a transcript is what its notes or its page say, and says so', async () => {
    const notes =
      '<p>In this part we talk of the price of salt, and of <b>Ewald</b> the notary.</p><p>Thanks to our readers.</p>'
    const library = await capturingLibrary({
      [FEED]: feed([
        { n: 1, notes },
        { n: 2, notes: '<p>Short.</p>' },
      ]),
      [`${SHOW}/ep/1`]: page(PLAYER.replace('part2', 'part1'), 'Listen.'),
      [`${SHOW}/ep/2`]: page(PLAYER, 'Here is all that was said in the whole episode. '.repeat(20)),
    })
    const first = await save(library, `${SHOW}/ep/1`)
    expect(first.note).toMatch(/no transcript/)
    const text = async (id: string) =>
      (await currentText(library.db, (await findSource(library.db, Number(id)))!)).plain
    expect(await text(first.item.id)).toContain('Ewald the notary')
    const second = await save(library, `${SHOW}/ep/2`)
    expect(second.item).toMatchObject({ kind: 'podcast', title: 'Salt, part 2' })
    expect(await text(second.item.id)).toContain('all that was said')
  })

  it('takes the next transcript where one cannot be read', async () => {
    const srt = '1\n00:00:01,000 --> 00:00:02,000\nFrom the other file.\n'
    const transcripts = `<podcast:transcript url="${SHOW}/gone.vtt" type="text/vtt"/><podcast:transcript url="${SHOW}/bad.json" type="application/json"/><podcast:transcript url="${SHOW}/ok.srt" type="application/x-subrip"/>`
    const library = await capturingLibrary({
      [FEED]: feed([{ n: 2, more: transcripts }]),
      [`${SHOW}/ep/2`]: page(PLAYER),
      [`${SHOW}/bad.json`]: file('{"segments":[', 'application/json'),
      [`${SHOW}/ok.srt`]: file(srt, 'application/octet-stream'),
    })
    const { item } = await save(library, `${SHOW}/ep/2`)
    const source = (await findSource(library.db, Number(item.id)))!
    expect((await currentText(library.db, source)).plain).toBe('From the other file.')
  })
})

describe('what is no episode', () => {
  it('stays a page, though it names a feed or plays a sound', async () => {
    const library = await capturingLibrary({
      ...WEB,
      [`${SHOW}/blog`]: page('', 'A story that is told in writing, without any sound. '.repeat(10)),
      [`${SHOW}/other`]: page(
        '<audio src="https://else.test/x.mp3"></audio>',
        'A story that is read aloud as well. '.repeat(10),
      ),
    })
    for (const path of ['blog', 'other']) {
      expect((await save(library, `${SHOW}/${path}`)).item).toMatchObject({ kind: 'article' })
    }
  })

  it('is a feed by itself, an episode that is not in it, and what only looks like a feed', async () => {
    const broken = `${SHOW}/broken.xml`
    const library = await capturingLibrary({
      ...WEB,
      [`${FEED}#!part 9`]: WEB[FEED]!,
      [broken]: file('<rss version="2.0"><channel', 'application/rss+xml'),
    })
    const codes: string[] = []
    for (const url of [FEED, `${FEED}#!part 9`, broken]) {
      const failure = await failureOfCall(saveUrl, library, { url })
      codes.push(failure.error.code)
      if (url === FEED) expect(failure.hint).toMatch(/#!/)
    }
    expect(codes).toEqual(['unsupported_type', 'unsupported_type', 'damaged_file'])
  })
})
