import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { call, failureOfCall } from '../../../test/support/call.ts'
import { testLibrary, testOutside } from '../../../test/support/library.ts'
import {
  json3,
  serveYouTube,
  type ShownVideo,
  type YouTubeServer,
} from '../../../test/support/youtube-server.ts'
import type { Library } from '../../core/library.ts'
import type { YouTubeAccess } from '../../core/outside.ts'
import { JOBS } from '../../jobs/registry.ts'
import { startWorker, type Worker } from '../../jobs/worker.ts'
import { createPages } from '../../outside/pages.ts'
import { addHighlight } from '../highlights/tools/add-highlight.ts'
import { searchLibrary } from '../search/tools/search-library.ts'
import { findSource } from '../sources/source-store.ts'
import { listItems } from '../sources/tools/list-items.ts'
import { readPlaces, secondsOf } from '../texts/places.ts'
import { currentText } from '../texts/text-store.ts'
import { requestCapture, storeGiven } from './capture-source.ts'
import { waitForCapture } from './capture-store.ts'
import { saveUrl } from './tools/save-url.ts'

const ID = 'aB3_-efghij'
const URL = `https://youtu.be/${ID}?si=x&t=90`

let server: YouTubeServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

/** A library for which YouTube is a server of this machine. */
async function libraryOf(
  videos: Record<string, ShownVideo>,
  clients?: YouTubeAccess['clients'],
): Promise<Library> {
  server = await serveYouTube(videos)
  const { origin, host } = server
  const pages = createPages({ allow: [host], youtube: { origin, ...(clients && { clients }) } })
  let worker: Worker | undefined
  const library = await testLibrary({ wake: () => worker?.wake() })
  Object.assign(library.outside, { ...testOutside({}), pages })
  worker = startWorker(library, JOBS, { pollMs: 50 })
  onTestFinished(() => worker?.stop())
  return library
}

const TALK: ShownVideo = {
  title: 'Winter on the quay',
  author: 'The Harbour Channel',
  seconds: 100,
  published: '2024-02-29T00:00:00-08:00',
  description: 'A talk.\n0:00 Opening\n0:30 - Salt\n(1:00) Ice & snow\nsee 9:99',
  tracks: [
    { language: 'de', body: { json3: json3([0, 'Deutsch.']) } },
    { language: 'en', automatic: true, body: { json3: json3([0, 'automatic words']) } },
    {
      language: 'en-GB',
      body: { json3: json3([1, 'Good evening.'], [31, 'Salt is dear.'], [62, 'The ice\nis thick.']) },
    },
  ],
}

describe('a video', () => {
  it('is kept with its words, its seconds, its chapters and what is known of it', async () => {
    const library = await libraryOf({ [ID]: TALK })
    const saved = await call(saveUrl, library, { url: URL })
    const { id } = saved['item'] as { id: string }
    const source = (await findSource(library.db, Number(id)))!
    expect(source).toMatchObject({
      kind: 'video',
      title: 'Winter on the quay',
      authors: '["The Harbour Channel"]',
      site: 'YouTube',
      published: '2024-02-29',
      language: 'en',
      url: URL,
    })
    const text = await currentText(library.db, source)
    expect(text.markdown).toBe(
      '## Opening\n\nGood evening.\n\n## Salt\n\nSalt is dear.\n\n## Ice \\& snow\n\nThe ice is thick.\n',
    )
    expect(secondsOf(readPlaces(text.places))).toBe(100)
    expect(server?.asked).toEqual(['ANDROID', 'captions', 'WEB'])

    await call(addHighlight, library, { id, quote: 'the ice is thick' })
    const row = await library.db.selectFrom('highlight').select('locator').executeTakeFirstOrThrow()
    expect(JSON.parse(row.locator ?? '')).toEqual({ seconds: 62, label: 'Ice & snow' })
    expect(await call(listItems, library, { kind: 'media' })).toMatchObject({
      items: [{ id, kind: 'video' }],
    })
    const found = await call(searchLibrary, library, { query: 'dear', mode: 'words' })
    expect(found['results']).toMatchObject([{ id, place: '0:31', seconds: 31 }])

    const again = await call(saveUrl, library, { url: `https://www.youtube.com/watch?v=${ID}&list=PL1` })
    expect(again).toMatchObject({ created: false, item: { id } })
  })

  it('has automatic captions where there are no others in its language, and others where there is nothing else', async () => {
    const tracks = (TALK.tracks ?? []).slice(0, 2)
    const library = await libraryOf({
      [ID]: { ...TALK, tracks },
      bbbbbbbbbbb: { ...TALK, tracks: tracks.slice(0, 1) },
    })
    const words = async (id: string) => {
      const saved = await call(saveUrl, library, { url: `https://youtu.be/${id}` })
      const source = await findSource(library.db, Number((saved['item'] as { id: string }).id))
      return (await currentText(library.db, source!)).plain
    }
    expect(await words(ID)).toContain('automatic words')
    expect(await words('bbbbbbbbbbb')).toContain('Deutsch.')
  })

  it('is asked for as one player after the other until one gives the captions', async () => {
    const track = {
      language: 'en',
      body: { '': '<transcript><text start="1" dur="1">Salt &amp;amp; ice.</text></transcript>' },
      gatedFor: ['ANDROID'],
    }
    const other = JSON.stringify({
      playabilityStatus: { status: 'OK' },
      videoDetails: { videoId: 'ccccccccccc', title: 'Other' },
    })
    const library = await libraryOf(
      { [ID]: { ...TALK, tracks: [track], instead: { MWEB: 400, IOS: '', ANDROID_VR: other } } },
      [
        { name: 'MWEB' },
        { name: 'IOS' },
        { name: 'ANDROID_VR' },
        { name: 'ANDROID' },
        { name: 'WEB', version: '2.1' },
      ],
    )
    const saved = await call(saveUrl, library, { url: URL })
    const source = await findSource(library.db, Number((saved['item'] as { id: string }).id))
    expect((await currentText(library.db, source!)).plain).toContain('Salt & ice.')
    expect(source).toMatchObject({ title: 'Winter on the quay' })
    expect(server?.asked).toEqual([
      'MWEB',
      'IOS',
      'ANDROID_VR',
      'ANDROID',
      'captions',
      'captions',
      'WEB',
      'captions',
      'captions',
    ])
  })
})

describe('a video without captions for us', () => {
  const bot = { status: 'LOGIN_REQUIRED', reason: 'Sign in to confirm you’re not a bot' }
  it.each<[string, ShownVideo | undefined, string, RegExp]>([
    ['has none', { ...TALK, tracks: [] }, 'no_text', /no captions/],
    ['is live', { ...TALK, live: true, tracks: [] }, 'no_text', /live/],
    ['was deleted', undefined, 'page_not_found', /deleted/],
    [
      'is private',
      { status: { status: 'LOGIN_REQUIRED', reason: 'This video is private' } },
      'login_required',
      /private/,
    ],
    [
      'is for grown-ups',
      { status: { status: 'LOGIN_REQUIRED', reason: 'Sign in to confirm your age' } },
      'login_required',
      /grown-ups/,
    ],
    [
      'is for members',
      { status: { status: 'UNPLAYABLE', reason: 'Join this channel' } },
      'page_refused',
      /members/,
    ],
    [
      'is not shown to robots',
      { title: 'Kept back', author: 'Ada', status: bot },
      'page_refused',
      /not answer/,
    ],
    [
      'keeps them back',
      { ...TALK, tracks: [{ language: 'en', body: {} }] },
      'page_refused',
      /keeps the captions/,
    ],
  ])('says that it %s, and how to go on', async (_what, video, code, message) => {
    const library = await libraryOf(video ? { [ID]: video } : {})
    const failure = await failureOfCall(saveUrl, library, { url: URL })
    expect(failure.error.code).toBe(code)
    expect(failure.error.message).toMatch(message)
    expect(failure.hint).toMatch(/commonplace add talk\.vtt --url/)
  })

  it('stays in the library with what is known of it, and takes the captions as a file', async () => {
    const library = await libraryOf({ [ID]: { ...TALK, status: bot } })
    await failureOfCall(saveUrl, library, { url: URL, note: 'Watch this.' })
    const [source] = await library.db.selectFrom('source').selectAll().execute()
    expect(source).toMatchObject({
      kind: 'video',
      title: 'Winter on the quay',
      authors: '["The Harbour Channel"]',
      trashed_at: null,
      text_id: null,
    })
    const given = await storeGiven(
      library,
      Buffer.from('1\n00:00:05,000 --> 00:00:06,000\nSalt.\n'),
      'talk.srt',
    )
    const { captureId } = await library.change((change) =>
      requestCapture(change, { given, url: `https://www.youtube.com/watch?v=${ID}` }),
    )
    const signal = new AbortController().signal
    await waitForCapture(library, captureId!, { timeoutMs: 20_000, signal })
    const after = await library.db.selectFrom('source').selectAll().execute()
    expect(after).toHaveLength(1)
    expect((await currentText(library.db, after[0]!)).plain).toBe('Salt.')
  })

  it('is refused where the address shows no single one', async () => {
    const library = await libraryOf({})
    const failure = await failureOfCall(saveUrl, library, {
      url: 'https://www.youtube.com/playlist?list=PL1',
    })
    expect(failure.error.code).toBe('unsupported_type')
  })
})
