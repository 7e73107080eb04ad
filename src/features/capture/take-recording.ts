import { Failure } from '../../core/failure.ts'
import type { Pages } from '../../core/outside.ts'
import { youtubeAddress, youtubeVideoId } from '../sources/youtube-address.ts'
import type { Given } from './read-given.ts'
import type { Recording } from './recording.ts'
import { fetchYouTubeVideo } from './youtube-client.ts'

/** The text of a recording to be read, or what is known of the recording and why there is no text. */
export type Taken = Given | { recording: Recording; failure: Failure }

/** Fetches a video of YouTube: its captions, with what is known of it. */
export async function takeVideo(pages: Pages, url: string, signal: AbortSignal): Promise<Taken> {
  const id = youtubeVideoId(url)
  if (id === undefined) {
    throw new Failure('unsupported_type', 'This address of YouTube leads to no single video.', {
      hint: 'Give the address of one video. Channels and lists are not captured.',
    })
  }
  const { recording, captions } = await fetchYouTubeVideo(pages, id, signal)
  if (captions instanceof Failure) return { recording, failure: captions }
  return { bytes: captions, url, finalUrl: youtubeAddress(id), recording }
}

/** Captions that were given with the address of their video, with what YouTube says of it, if it does. */
export async function knownRecording(pages: Pages, given: Given, signal: AbortSignal): Promise<Given> {
  const id = given.url === undefined ? undefined : youtubeVideoId(given.url)
  if (id === undefined) return given
  try {
    const { recording } = await fetchYouTubeVideo(pages, id, signal, { factsOnly: true })
    return { ...given, recording }
  } catch {
    signal.throwIfAborted()
    return given
  }
}
