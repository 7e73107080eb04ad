import { expect, it } from 'vitest'
import { call } from '../../../test/support/call.ts'
import { capturingLibrary } from '../../../test/support/saved.ts'
import type { Library } from '../../core/library.ts'
import { addHighlight } from '../highlights/tools/add-highlight.ts'
import { findSource } from '../sources/source-store.ts'
import { currentText } from '../texts/text-store.ts'
import { readPlaces, secondsOf } from '../texts/places.ts'
import { requestCapture, storeGiven } from './capture-source.ts'
import { failureOf, waitForCapture } from './capture-store.ts'

async function give(library: Library, text: string, name: string, url?: string) {
  const given = await storeGiven(library, Buffer.from(text), name)
  const { sourceId, captureId } = await library.change((change) =>
    requestCapture(change, { given, ...(url !== undefined && { url }) }),
  )
  const signal = new AbortController().signal
  const capture = await waitForCapture(library, captureId!, { timeoutMs: 30_000, signal })
  const source = await findSource(library.db, capture.source_id)
  return { sourceId, failure: failureOf(capture), source: source! }
}

const VTT =
  'WEBVTT\nKind: captions\nLanguage: de\n\n00:00.000 --> 00:02.000\nDas Salz wird teuer.\n\n01:23.500 --> 01:25.000\nNiemand hatte Vorrat.\n'

it('makes a video of a caption file, whose highlights know the second', async () => {
  const library = await capturingLibrary({})
  const { source } = await give(library, VTT, 'winter_talk.de.vtt')
  expect(source).toMatchObject({ kind: 'video', title: 'winter talk', language: 'de', words: 7 })
  const text = await currentText(library.db, source)
  expect(text).toMatchObject({
    method: 'captions',
    plain: 'Das Salz wird teuer. Niemand hatte Vorrat.',
  })
  expect(secondsOf(readPlaces(text.places))).toBe(85)
  await call(addHighlight, library, { id: String(source.id), quote: 'Niemand hatte Vorrat' })
  const row = await library.db.selectFrom('highlight').select('locator').executeTakeFirstOrThrow()
  expect(JSON.parse(row.locator ?? '')).toEqual({ seconds: 83 })
})

it('knows the video by the name that the captions were saved under, and joins it', async () => {
  const library = await capturingLibrary({})
  const srt = '1\n00:00:01,000 --> 00:00:02,000\nSalt is dear.\n'
  const { source } = await give(library, srt, 'Winter talk [aB3_-efghij].en.srt')
  expect(source).toMatchObject({
    title: 'Winter talk',
    url: 'https://www.youtube.com/watch?v=aB3_-efghij',
    language: 'en',
  })
})

it.each([
  ['WEBVTT\n\n00:00.000 --> 00:01.000\n \n', 'quiet.vtt', 'no_text'],
  ['WEBVTT\n\nNOTE nothing\n', 'note.vtt', 'no_text'],
  ['{"events":[{"tStartMs":1,"segs":[{"utf8":"a', 'cut.json3', 'damaged_file'],
  ['just some words', 'words.srt', 'damaged_file'],
])('refuses what says nothing: %j', async (text, name, code) => {
  const library = await capturingLibrary({})
  expect((await give(library, text, name)).failure?.code).toBe(code)
})

it('reads the captions of a whole day in the worker', async () => {
  const library = await capturingLibrary({})
  const cues = Array.from({ length: 20_000 }, (_, n) => ({
    tStartMs: n * 4000,
    dDurationMs: 4000,
    segs: [{ utf8: `and number${n} came to the harbour` }],
  }))
  const { source } = await give(library, JSON.stringify({ events: cues }), 'day.json3')
  expect(source.words).toBe(120_000)
})
