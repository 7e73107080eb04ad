import { Failure } from '../../core/failure.ts'
import type { FetchedPage, Pages } from '../../core/outside.ts'
import { decodeText } from './decode-text.ts'
import { detectKind } from './detect-kind.ts'
import { runKillable } from './killable-worker.ts'
import type { Episode, GivenFeed, WantedEpisode } from './podcast-feed.ts'
import { readPodcastPage } from './podcast-page.ts'
import { readGiven, type Given } from './read-given.ts'
import type { Recording } from './recording.ts'
import type { Taken } from './take-recording.ts'
import type { Chapter } from './transcript.ts'

const MOST_FEED = 24 * 2 ** 20
const MOST_PART = 8 * 2 ** 20
const DEADLINE_MS = 15_000

/**
 * An episode of a podcast, where a page or a feed that was fetched is one: its transcript, or else what its page or its show
 * notes say of it. Undefined where it is something else. Throws `unsupported_type` for a feed of which no episode is asked
 * for by `#!` and its title, guid, page or audio.
 */
export async function takeEpisode(
  pages: Pages,
  page: Given,
  signal: AbortSignal,
): Promise<Taken | undefined> {
  const url = page.finalUrl ?? page.url
  if (url === undefined) return undefined
  const kind = detectKind({ bytes: page.bytes, ...(page.contentType && { contentType: page.contentType }) })
  if (kind === 'feed') return takeFromFeed(pages, page, url, signal)
  if (kind !== 'html') return undefined
  const episode = (await fromApple(pages, url, signal)) ?? (await fromPage(pages, page, url, signal))
  return episode && textOf(pages, episode, page, signal)
}

async function takeFromFeed(pages: Pages, page: Given, url: string, signal: AbortSignal): Promise<Taken> {
  const name = wantedIn(page.url ?? url)
  const wanted = name === undefined ? {} : { name }
  const episode = await readFeed({ bytes: page.bytes, contentType: page.contentType, url, wanted }, signal)
  if (episode) return textOf(pages, episode, undefined, signal)
  throw new Failure(
    'unsupported_type',
    name === undefined
      ? 'This is the feed of a podcast, not one episode of it.'
      : 'The feed has no such episode.',
    {
      hint: 'Give the address of the episode’s page, or the feed’s address with #! and the episode’s title behind it.',
    },
  )
}

/** What stands behind `#!`. */
function wantedIn(url: string): string | undefined {
  const text = /#!(.+)$/su.exec(url)?.[1]
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return text
  }
}

async function fromPage(
  pages: Pages,
  page: Given,
  url: string,
  signal: AbortSignal,
): Promise<Episode | undefined> {
  const podcast = readPodcastPage(decodeText(page.bytes, page.contentType).text, url)
  const own = [url, ...(page.url === undefined ? [] : [page.url])]
  for (const feed of podcast?.feeds.slice(0, 2) ?? []) {
    const episode = await fetchEpisode(pages, feed, { pages: own, audio: podcast?.audio ?? [] }, signal)
    if (episode) return episode
  }
  return undefined
}

/** Apple's pages name no feed; its directory does (the iTunes Search API). */
async function fromApple(pages: Pages, url: string, signal: AbortSignal): Promise<Episode | undefined> {
  const { hostname, pathname, searchParams } = new URL(url)
  const [show, track] = [/\/id(\d+)/u.exec(pathname)?.[1], searchParams.get('i')]
  if (hostname !== 'podcasts.apple.com' || show === undefined || track === null) return undefined
  const page = await quietly(
    pages,
    `https://itunes.apple.com/lookup?id=${show}&entity=podcastEpisode&limit=200`,
    signal,
  )
  const results = page && jsonOf(page.bytes)['results']
  if (!Array.isArray(results)) return undefined
  const known: Record<string, unknown>[] = results.filter(
    (result) => typeof result === 'object' && result !== null,
  )
  const feed = known.map((result) => result['feedUrl']).find((value) => typeof value === 'string')
  const episode = known.find((result) => String(result['trackId']) === track)
  if (feed === undefined || !episode) return undefined
  const { episodeGuid, episodeUrl } = episode
  return fetchEpisode(
    pages,
    String(feed),
    {
      ...(typeof episodeGuid === 'string' && { name: episodeGuid }),
      ...(typeof episodeUrl === 'string' && { audio: [episodeUrl] }),
    },
    signal,
  )
}

/** A feed that cannot be had costs the podcast and not the page. A feed's only episode need not be the page's own. */
async function fetchEpisode(
  pages: Pages,
  url: string,
  wanted: WantedEpisode,
  signal: AbortSignal,
): Promise<Episode | undefined> {
  const page = await quietly(pages, url, signal, MOST_FEED)
  if (!page) return undefined
  try {
    const contentType = page.headers['content-type']
    return (await readFeed({ bytes: page.bytes, contentType, url: page.url, wanted }, signal)) ?? undefined
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

function readFeed(feed: GivenFeed, signal: AbortSignal): Promise<Episode | null> {
  return runKillable<Episode | null>(
    'feed-worker',
    { ...feed, bytes: Uint8Array.from(feed.bytes) },
    {
      signal,
      deadlineMs: 30_000,
      heapMb: 512,
      growthMb: 700,
      what: 'feed',
    },
  )
}

async function quietly(
  pages: Pages,
  url: string,
  signal: AbortSignal,
  maxBytes = MOST_PART,
): Promise<FetchedPage | undefined> {
  try {
    return await pages.fetch(url, { signal, maxBytes, deadlineMs: DEADLINE_MS, accept: '*/*' })
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

const NO_TRANSCRIPT = 'The episode has no transcript; its text is what is written about it.'

/** The first transcript that can be read; else its page or its notes, whichever say more. */
async function textOf(
  pages: Pages,
  { transcripts, chaptersUrl, notes, ...facts }: Episode,
  page: Given | undefined,
  signal: AbortSignal,
): Promise<Taken> {
  const chapters =
    facts.chapters.length > 0 ? facts.chapters : await fetchChapters(pages, chaptersUrl, signal)
  const recording: Recording = { ...facts, chapters }
  const known = { url: page?.url, finalUrl: page?.finalUrl, recording }
  for (const { url, type } of transcripts.slice(0, 4)) {
    const file = await quietly(pages, url, signal, MOST_FEED)
    if (!file) continue
    // What says nothing of itself is believed to be what the feed says it is.
    const header = file.headers['content-type'] ?? ''
    const contentType = /^(?:application\/octet-stream|text\/plain)?(?:;|$)/u.test(header)
      ? (type ?? header)
      : header
    const transcript = { ...known, bytes: file.bytes, contentType }
    if ((await wordsIn(transcript, signal)) > 0) return transcript
  }
  const written = {
    ...known,
    bytes: Buffer.from(`<!doctype html><meta charset="utf-8"><article>${notes}</article>`),
    contentType: 'text/html; charset=utf-8',
    remark: NO_TRANSCRIPT,
  }
  const [ofNotes, ofPage] = [
    notes === '' ? 0 : await wordsIn(written, signal),
    page ? await wordsIn(page, signal) : 0,
  ]
  if (page && ofPage > ofNotes) return { ...page, recording, remark: NO_TRANSCRIPT }
  if (ofNotes > 0) return written
  return {
    recording,
    failure: new Failure('no_text', 'The episode has neither a transcript nor notes.', {
      hint: 'If you have its transcript, add it as a file: `commonplace add episode.vtt --url ADDRESS`.',
    }),
  }
}

async function wordsIn(given: Given, signal: AbortSignal): Promise<number> {
  try {
    return (await readGiven(given, signal)).words
  } catch {
    signal.throwIfAborted()
    return 0
  }
}

/** JSON chapters of the podcast namespace: `chapters` with `startTime` and `title`. */
async function fetchChapters(pages: Pages, url: string | null, signal: AbortSignal): Promise<Chapter[]> {
  const page = url === null ? undefined : await quietly(pages, url, signal)
  const chapters = page && jsonOf(page.bytes)['chapters']
  if (!Array.isArray(chapters)) return []
  return chapters.flatMap((chapter: unknown) => {
    if (typeof chapter !== 'object' || chapter === null) return []
    const { startTime, title, toc }: Partial<Record<string, unknown>> = { ...chapter }
    const start = Number(startTime)
    return typeof title === 'string' &&
      title.trim() !== '' &&
      start >= 0 &&
      Number.isFinite(start) &&
      toc !== false
      ? [{ start, title: title.replaceAll(/\s+/gu, ' ').trim().toWellFormed() }]
      : []
  })
}

function jsonOf(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
