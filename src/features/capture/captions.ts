import { Failure } from '../../core/failure.ts'
import type { Cue, TimedCue } from './caption-cues.ts'
import { readJsonCaptions } from './captions-json3.ts'
import { isXmlCaptions, readXmlCaptions } from './captions-srv3.ts'
import { readSrt, readVtt } from './captions-vtt.ts'
import { withoutRepeats } from './caption-repeats.ts'

/**
 * What a caption file says, in the order of its times, nothing twice: WebVTT, SRT, YouTube's json3, srv3 and srv1, or the JSON of
 * podcasts, told apart by what they begin with. Cues without a time that can be have that of the cue before them in the file.
 *
 * Fails with `damaged_file` where it is none of these; a file without words has no cues.
 */
export function readCaptions(text: string): TimedCue[] {
  return withoutRepeats(inOrder(readCues(text)))
}

function readCues(text: string): Cue[] {
  const start = text
    .slice(0, 1000)
    .replace(/^\uFEFF/u, '')
    .trimStart()
  if (start.startsWith('{')) {
    const cues = readJsonCaptions(text)
    if (cues) return cues
  }
  if (isXmlCaptions(start)) return readXmlCaptions(text) ?? []
  if (start.startsWith('WEBVTT')) return readVtt(text)
  if (text.includes('-->')) return readSrt(text)
  throw new Failure('damaged_file', 'The captions are in no form that can be read.', {
    hint: 'WebVTT (.vtt), SubRip (.srt) and the JSON or XML of YouTube can be read.',
  })
}

function inOrder(cues: readonly Cue[]): TimedCue[] {
  let last = 0
  const timed = cues.map((cue): TimedCue => {
    last = cue.start ?? last
    return { ...cue, start: last }
  })
  return timed.toSorted((a, b) => a.start - b.start)
}
