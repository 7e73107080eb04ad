import type { YouTubeClient } from '../../core/outside.ts'
import { youtubeAddress } from '../sources/youtube-address.ts'
import { languageTag } from './language-tag.ts'
import type { Recording } from './recording.ts'
import type { Chapter } from './transcript.ts'

/** How one of YouTube's players presents itself. */
export interface PlayerContext {
  /** What its name is as a number, in a header. */
  number: number
  version: string
  /** Facts of the machine that it would run on. */
  client: Record<string, string | number>
  /** With `{version}` where its version stands. */
  userAgent: string
}

export const PLAYERS: Record<YouTubeClient, PlayerContext> = {
  ANDROID: {
    number: 3,
    version: '21.02.35',
    client: { androidSdkVersion: 30, osName: 'Android', osVersion: '11' },
    userAgent: 'com.google.android.youtube/{version} (Linux; U; Android 11) gzip',
  },
  IOS: {
    number: 5,
    version: '21.02.3',
    client: { deviceMake: 'Apple', deviceModel: 'iPhone16,2', osName: 'iPhone', osVersion: '18.3.2.22D82' },
    userAgent: 'com.google.ios.youtube/{version} (iPhone16,2; U; CPU iOS 18_3_2 like Mac OS X;)',
  },
  ANDROID_VR: {
    number: 28,
    version: '1.65.10',
    client: {
      deviceMake: 'Oculus',
      deviceModel: 'Quest 3',
      androidSdkVersion: 32,
      osName: 'Android',
      osVersion: '12L',
    },
    userAgent:
      'com.google.android.apps.youtube.vr.oculus/{version} (Linux; U; Android 12L; eureka-user) gzip',
  },
  MWEB: {
    number: 2,
    version: '2.20260115.01.00',
    client: {},
    userAgent:
      'Mozilla/5.0 (iPad; CPU OS 16_7_10 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
  },
  WEB: {
    number: 1,
    version: '2.20260114.08.00',
    client: {},
    userAgent:
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36',
  },
}

/** One caption track of a video. */
export interface CaptionTrack {
  url: string
  /** BCP 47. */
  language: string | null
  isAutomatic: boolean
}

/** What a player says of a video. */
export interface PlayerAnswer {
  /** `OK`, `LOGIN_REQUIRED`, `UNPLAYABLE`, `ERROR`, `LIVE_STREAM_OFFLINE` … */
  status: string
  reason: string
  /** Whether it is going on or has not begun. */
  isLive: boolean
  /** Undefined where it says nothing, or speaks of another video. */
  recording: Recording | undefined
  tracks: CaptionTrack[]
  /** The language that is spoken, where there are automatic captions or a track is named for the sound. */
  spoken: string | null
}

/** Reads what a player answers, whatever is missing in it. Undefined where it is no such answer. */
export function readPlayerAnswer(bytes: Uint8Array, id: string): PlayerAnswer | undefined {
  let answer: unknown
  try {
    answer = JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
  const playability = at(answer, 'playabilityStatus')
  const details = at(answer, 'videoDetails')
  if (playability === undefined && details === undefined) return undefined
  const list = at(answer, 'captions', 'playerCaptionsTracklistRenderer')
  // Where a player gets another video than it asked for, we are taken for a robot.
  const isOwn = textAt(details, 'videoId') === id
  const tracks = isOwn ? listAt(list, 'captionTracks').flatMap((track) => trackOf(track) ?? []) : []
  const spoken =
    tracks.find(({ isAutomatic }) => isAutomatic)?.language ?? tracks[defaultTrack(list)]?.language ?? null
  const live = at(answer, 'microformat', 'playerMicroformatRenderer', 'liveBroadcastDetails')
  return {
    status: textAt(playability, 'status') ?? '',
    reason: [textAt(playability, 'reason'), ...listAt(playability, 'messages').filter(isText)].join(' '),
    isLive:
      at(details, 'isLive') === true || at(details, 'isUpcoming') === true || at(live, 'isLiveNow') === true,
    recording: isOwn ? recordingOf(answer, id, spoken) : undefined,
    tracks,
    spoken,
  }
}

function recordingOf(answer: unknown, id: string, spoken: string | null): Recording {
  const details = at(answer, 'videoDetails')
  const page = at(answer, 'microformat', 'playerMicroformatRenderer')
  const description = textAt(details, 'shortDescription') ?? null
  const seconds = Number(textAt(details, 'lengthSeconds') ?? Number.NaN)
  const channel = textAt(details, 'author') ?? textAt(page, 'ownerChannelName')
  const date = textAt(page, 'publishDate') ?? textAt(page, 'uploadDate')
  return {
    kind: 'video',
    title: textAt(details, 'title') ?? null,
    authors: channel === undefined ? [] : [channel],
    site: 'YouTube',
    language: spoken,
    published: /^\d{4}-\d{2}-\d{2}/u.exec(date ?? '')?.[0] ?? null,
    description,
    coverUrl: largestThumbnail(listAt(at(details, 'thumbnail'), 'thumbnails')),
    canonicalUrl: youtubeAddress(id),
    seconds: seconds > 0 ? seconds : null,
    chapters: chaptersIn(description ?? '', seconds > 0 ? seconds : Infinity),
  }
}

function trackOf(track: unknown): CaptionTrack | undefined {
  const url = textAt(track, 'baseUrl')
  if (url === undefined) return undefined
  return {
    url,
    language: languageTag(textAt(track, 'languageCode')),
    isAutomatic: textAt(track, 'kind') === 'asr',
  }
}

/** The track that belongs to the sound that is played; none where nothing says so. */
function defaultTrack(list: unknown): number {
  const [sound] = [listAt(list, 'audioTracks')[Number(at(list, 'defaultAudioTrackIndex') ?? 0)]]
  const index = at(sound, 'defaultCaptionTrackIndex')
  return typeof index === 'number' ? index : -1
}

function largestThumbnail(thumbnails: readonly unknown[]): string | null {
  const sized = thumbnails.flatMap((thumbnail) => {
    const url = textAt(thumbnail, 'url')
    return url === undefined ? [] : [{ url, width: Number(at(thumbnail, 'width') ?? 0) }]
  })
  return sized.toSorted((a, b) => b.width - a.width)[0]?.url ?? null
}

/**
 * The track to take: what a person wrote, in the language that is spoken; then what was made automatically in it; then what
 * a person wrote in another.
 */
export function chooseTrack(
  tracks: readonly CaptionTrack[],
  spoken: string | null,
): CaptionTrack | undefined {
  const bare = (language: string | null) => language?.split('-')[0]
  const fits = [
    (track: CaptionTrack) => !track.isAutomatic && spoken !== null && track.language === spoken,
    (track: CaptionTrack) => !track.isAutomatic && spoken !== null && bare(track.language) === bare(spoken),
    (track: CaptionTrack) => track.isAutomatic,
    () => true,
  ]
  return fits.map((fit) => tracks.find(fit)).find((track) => track !== undefined)
}

/** A time at the beginning of a line, in brackets or after a mark, and the name behind it; or the name and then the time. */
const CHAPTER = /^[^\p{L}\p{N}]{0,5}((?:\d{1,2}:)?\d{1,2}:\d{2})[\])]?\s*[-–—:|.]*\s*(\S.*)$/u
const CHAPTER_AFTER = /^(\S.*?)\s*[-–—:|]?\s*[([]?((?:\d{1,2}:)?\d{1,2}:\d{2})[\])]?$/u

/**
 * Chapters as a description lists them. As on YouTube itself it is a list where three or more times stand in order, the
 * first of them 0:00.
 */
export function chaptersIn(description: string, seconds = Infinity): Chapter[] {
  const chapters: Chapter[] = []
  for (const line of description.slice(0, 20_000).split(/\r?\n/u)) {
    const short = line.trim().slice(0, 200)
    const [, time, title] = CHAPTER.exec(short) ?? []
    const [, titleBefore, timeAfter] = time === undefined ? (CHAPTER_AFTER.exec(short) ?? []) : []
    const start = secondsOfClock(time ?? timeAfter)
    const name = (title ?? titleBefore)?.replaceAll(/\s+/gu, ' ').trim()
    if (start === undefined || !name || start >= seconds) continue
    if (start > (chapters.at(-1)?.start ?? -1)) chapters.push({ start, title: name })
  }
  return chapters.length >= 3 && chapters[0]?.start === 0 ? chapters : []
}

function secondsOfClock(clock: string | undefined): number | undefined {
  return clock?.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
}

function at(value: unknown, ...path: string[]): unknown {
  let inner = value
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined
    inner = (inner as Record<string, unknown>)[key]
  }
  return inner
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

function textAt(value: unknown, key: string): string | undefined {
  const text = at(value, key)
  return isText(text) ? text.trim().toWellFormed() : undefined
}

function listAt(value: unknown, key: string): unknown[] {
  const list = at(value, key)
  return Array.isArray(list) ? list : []
}
