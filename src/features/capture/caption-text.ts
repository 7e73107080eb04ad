import { Failure } from '../../core/failure.ts'
import { readCaptions } from './captions.ts'
import { decodeText } from './decode-text.ts'
import { languageTag } from './language-tag.ts'
import { transcriptOf, type Chapter, type Transcript } from './transcript.ts'

/** A caption file as it came, and what is known of the recording that it belongs to. */
export interface GivenCaptions {
  bytes: Uint8Array
  contentType?: string | undefined
  name?: string | undefined
  chapters?: readonly Chapter[]
  seconds?: number | null
}

export interface CaptionText extends Transcript {
  /** BCP 47, where the file or its name says. */
  language: string | null
}

/**
 * Reads a caption file of any form: about 20 MB a second. Fails with `damaged_file` and, where nobody says anything,
 * `no_text`.
 */
export function readCaptionText(given: GivenCaptions): CaptionText {
  const { text } = decodeText(given.bytes, given.contentType)
  const transcript = transcriptOf(readCaptions(text), {
    ...(given.chapters && { chapters: given.chapters }),
    seconds: given.seconds ?? undefined,
  })
  if (transcript.words === 0) {
    throw new Failure('no_text', 'The captions have no words in them.', {
      hint: 'Check that the file is the right one, or download the captions again.',
    })
  }
  return { ...transcript, language: languageIn(text) ?? languageOfName(given.name) }
}

/** `Language: en` in the head of a WebVTT file. */
function languageIn(text: string): string | null {
  const head = /^\uFEFF?WEBVTT[^]*?(?=\r?\n\r?\n|-->|$)/u.exec(text.slice(0, 1000))?.[0] ?? ''
  return languageTag(/^Language:\s*(\S+)/imu.exec(head)?.[1])
}

/** `talk.en.vtt`, as programs that save captions name them. */
const languageOfName = (name: string | undefined): string | null =>
  languageTag(/\.([a-z]{2,3}(?:-[a-z]{2,4})?)(?:-orig)?\.[a-z0-9]+$/iu.exec(name ?? '')?.[1])
