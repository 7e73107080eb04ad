import { Failure } from '../../core/failure.ts'
import { YOUTUBE_CLIENTS, type FetchOptions, type Pages, type YouTubeClient } from '../../core/outside.ts'
import { youtubeAddress } from '../sources/youtube-address.ts'
import { UNKNOWN_RECORDING, type Recording } from './recording.ts'
import { chooseTrack, PLAYERS, readPlayerAnswer, type PlayerAnswer } from './youtube-player.ts'

/** What YouTube gave of a video: what it is, and its captions as they came or why there are none. */
export interface YouTubeVideo {
  recording: Recording
  captions: Uint8Array | Failure
}

const ORIGIN = 'https://www.youtube.com'
const DEADLINE_MS = 10_000
const MOST_ANSWER = 8 * 2 ** 20
const MOST_CAPTIONS = 24 * 2 ** 20

/**
 * Asks YouTube for a video as one player after the other, until one of them gives the captions: an empty answer, a refusal or
 * another video than was asked for means that this player is shut out, and the next is tried. What the players do not say is
 * taken from oEmbed.
 *
 * Fails with `cancelled`, and with what the network says where nothing can be reached; what YouTube itself says against a video
 * stands in `captions`. With `factsOnly` no captions are fetched.
 */
export async function fetchYouTubeVideo(
  pages: Pages,
  id: string,
  signal: AbortSignal,
  { factsOnly = false }: { factsOnly?: boolean } = {},
): Promise<YouTubeVideo> {
  const asking: Asking = { pages, id, signal, origin: pages.youtube?.origin ?? ORIGIN }
  const clients = pages.youtube?.clients ?? YOUTUBE_CLIENTS.map((name) => ({ name }))
  const answers: PlayerAnswer[] = []
  let captions: Uint8Array | undefined
  let unreachable: Failure | undefined
  const asked = new Set<YouTubeClient>()
  for (const client of clients) {
    try {
      asked.add(client.name)
      const answer = await askPlayer(asking, client)
      if (!answer) continue
      answers.push(answer)
      if (factsOnly && answer.recording) break
      const track = chooseTrack(answer.tracks, answer.spoken)
      captions = track && (await fetchCaptions(asking, track.url))
      if (captions) break
      // One player may be shown no captions though there are some; two are not.
      if (answers.filter((each) => isPlayable(each) && each.tracks.length === 0).length > 1) break
    } catch (error) {
      unreachable = passOver(error, signal)
    }
  }
  // Reachable at all, and nothing but that: another try may go better.
  if (answers.length === 0 && unreachable && unreachable.code !== 'page_refused') throw unreachable
  const recording = await completed(asking, answers, asked)
  return { recording, captions: captions ?? whyNone(answers) }
}

interface Asking {
  pages: Pages
  id: string
  signal: AbortSignal
  origin: string
}

const isPlayable = ({ status, recording }: PlayerAnswer): boolean =>
  status === 'OK' && recording !== undefined

function passOver(error: unknown, signal: AbortSignal): Failure {
  signal.throwIfAborted()
  if (error instanceof Failure) return error
  throw error
}

async function askPlayer(
  { pages, id, signal, origin }: Asking,
  { name, version }: { name: YouTubeClient; version?: string },
): Promise<PlayerAnswer | undefined> {
  const { number, client, userAgent, ...ours } = PLAYERS[name]
  const clientVersion = version ?? ours.version
  const agent = userAgent.replace('{version}', clientVersion)
  const context = { client: { clientName: name, clientVersion, hl: 'en', userAgent: agent, ...client } }
  const page = await pages.fetch(`${origin}/youtubei/v1/player?prettyPrint=false`, {
    signal,
    deadlineMs: DEADLINE_MS,
    maxBytes: MOST_ANSWER,
    accept: 'application/json',
    headers: {
      'user-agent': agent,
      'x-youtube-client-name': String(number),
      'x-youtube-client-version': clientVersion,
      origin: ORIGIN,
    },
    json: { context, videoId: id, contentCheckOk: true, racyCheckOk: true },
  })
  return readPlayerAnswer(page.bytes, id)
}

/** The captions of a track; undefined where the answer is empty, which is how YouTube says no. */
async function fetchCaptions(asking: Asking, track: string): Promise<Uint8Array | undefined> {
  if (!URL.canParse(track, asking.origin)) return undefined
  const url = new URL(track, asking.origin)
  if (url.origin === ORIGIN) url.host = new URL(asking.origin).host
  if (url.host === new URL(asking.origin).host) url.protocol = new URL(asking.origin).protocol
  // json3 has the times without what only shows; where it is not given, the form that comes without asking is.
  for (const form of ['json3', undefined]) {
    if (form === undefined) url.searchParams.delete('fmt')
    else url.searchParams.set('fmt', form)
    const { bytes } = await fetchQuietly(asking, url.href, { maxBytes: MOST_CAPTIONS })
    if (hasCues(bytes)) return bytes
  }
  return undefined
}

const fetchQuietly = ({ pages, signal }: Asking, url: string, options: FetchOptions) =>
  pages.fetch(url, { signal, deadlineMs: DEADLINE_MS, accept: '*/*', ...options })

function hasCues(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.subarray(0, 1000))
    .toString('utf8')
    .replace(/^\uFEFF/u, '')
    .trimStart()
  return head.startsWith('{') || head.startsWith('WEBVTT') || /^<(?:\?xml|timedtext|transcript)/u.test(head)
}

/** What all answers together say; the date is told to the web player alone, names also by oEmbed. */
async function completed(
  asking: Asking,
  answers: readonly PlayerAnswer[],
  asked: ReadonlySet<YouTubeClient>,
): Promise<Recording> {
  const told = answers.flatMap(({ recording }) => recording ?? [])
  const date = await dateOf(asking, told, asked)
  const known = told[0]
  const first = known?.title ? undefined : await fromOembed(asking)
  return {
    kind: 'video',
    ...UNKNOWN_RECORDING,
    site: 'YouTube',
    canonicalUrl: youtubeAddress(asking.id),
    ...first,
    ...known,
    published: date,
  }
}

async function dateOf(
  asking: Asking,
  told: readonly Recording[],
  asked: ReadonlySet<YouTubeClient>,
): Promise<string | null> {
  const date = told.find(({ published }) => published !== null)?.published
  if (date) return date
  if (told.length === 0 || asked.has('WEB')) return null
  try {
    return (await askPlayer(asking, { name: 'WEB' }))?.recording?.published ?? null
  } catch (error) {
    passOver(error, asking.signal)
    return null
  }
}

async function fromOembed(asking: Asking): Promise<Partial<Recording>> {
  try {
    const of = encodeURIComponent(youtubeAddress(asking.id))
    const { bytes } = await fetchQuietly(asking, `${asking.origin}/oembed?format=json&url=${of}`, {
      maxBytes: 2 ** 20,
    })
    const answer: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (typeof answer !== 'object' || answer === null) return {}
    const { title, author_name, thumbnail_url }: Partial<Record<string, unknown>> = { ...answer }
    return {
      ...(typeof title === 'string' && { title: title.trim() }),
      ...(typeof author_name === 'string' && author_name !== '' && { authors: [author_name] }),
      ...(typeof thumbnail_url === 'string' && { coverUrl: thumbnail_url }),
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) passOver(error, asking.signal)
    return {}
  }
}

const GIVE_CAPTIONS =
  'If you can get its captions, add them as a file with the video’s address: `commonplace add talk.vtt --url ADDRESS`.'

/** Why there are no captions, in our words, from what the players said. */
function whyNone(answers: readonly PlayerAnswer[]): Failure {
  const said = (test: (answer: PlayerAnswer) => boolean): boolean => answers.some(test)
  const refused = (what: string, hint = GIVE_CAPTIONS) => new Failure('page_refused', what, { hint })
  if (said((answer) => answer.isLive || answer.status === 'LIVE_STREAM_OFFLINE')) {
    return new Failure('no_text', 'The video is live, or has not begun: it has no captions yet.', {
      hint: `Add it again when it is over. ${GIVE_CAPTIONS}`,
    })
  }
  if (said((answer) => isPlayable(answer) && answer.tracks.length === 0)) {
    return new Failure('no_text', 'The video has no captions.', { hint: GIVE_CAPTIONS })
  }
  // The players answered well and their captions came back empty, or in no form of captions.
  if (said((answer) => answer.tracks.length > 0)) {
    return refused('YouTube keeps the captions of this video back.', `Try again later. ${GIVE_CAPTIONS}`)
  }
  if (said(({ reason }) => /\bprivate\b/iu.test(reason))) {
    return new Failure('login_required', 'The video is private.', { hint: GIVE_CAPTIONS })
  }
  if (said(({ status, reason }) => /AGE/u.test(status) || /\bage\b/iu.test(reason))) {
    return new Failure('login_required', 'YouTube shows this video to grown-ups who are signed in only.', {
      hint: GIVE_CAPTIONS,
    })
  }
  if (said(({ status }) => status === 'ERROR')) {
    return new Failure('page_not_found', 'YouTube has no such video: it was deleted, or never was.', {
      hint: `Check the address. ${GIVE_CAPTIONS}`,
    })
  }
  if (said(({ status, reason }) => status === 'LOGIN_REQUIRED' && !/\bbot\b/iu.test(reason))) {
    return new Failure('login_required', 'YouTube shows this video to people who are signed in only.', {
      hint: GIVE_CAPTIONS,
    })
  }
  if (said(({ status }) => status === 'UNPLAYABLE')) {
    return refused('YouTube does not show this video here: to members or in other countries only.')
  }
  return refused('YouTube does not answer us about this video now.', `Try again later. ${GIVE_CAPTIONS}`)
}
