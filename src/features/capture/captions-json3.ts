import { cueOf, type Cue } from './caption-cues.ts'

/**
 * The cues of captions in JSON: what YouTube calls json3 (`events` with `tStartMs`, `dDurationMs` and `segs`), and the form
 * of podcasts (`segments` with `startTime`, `endTime`, `speaker` and `body`). Undefined where it is neither.
 */
export function readJsonCaptions(text: string): Cue[] | undefined {
  let file: unknown
  try {
    file = JSON.parse(text.replace(/^\uFEFF/u, ''))
  } catch {
    return undefined
  }
  if (!isRecord(file)) return undefined
  if (Array.isArray(file['events'])) return file['events'].flatMap((event: unknown) => eventCue(event) ?? [])
  if (Array.isArray(file['segments'])) {
    return file['segments'].flatMap((segment: unknown) => segmentCue(segment) ?? [])
  }
  return undefined
}

/** Events without words set up windows or end a line. */
function eventCue(event: unknown): Cue | undefined {
  if (!isRecord(event) || !Array.isArray(event['segs'])) return undefined
  const words = event['segs'].map((seg: unknown) =>
    isRecord(seg) && typeof seg['utf8'] === 'string' ? seg['utf8'] : '',
  )
  const start = seconds(event['tStartMs'], 1000)
  const length = seconds(event['dDurationMs'], 1000)
  return cueOf(
    start,
    start === undefined || length === undefined ? undefined : start + length,
    words.join(''),
  )
}

function segmentCue(segment: unknown): Cue | undefined {
  if (!isRecord(segment)) return undefined
  const { body, text, speaker } = segment
  const words = typeof body === 'string' ? body : typeof text === 'string' ? text : ''
  const start = seconds(segment['startTime'] ?? segment['start'], 1)
  const end = seconds(segment['endTime'] ?? segment['end'], 1)
  return cueOf(start, end, words, typeof speaker === 'string' ? speaker : undefined)
}

/** A number that may stand in quotes. */
function seconds(value: unknown, perSecond: number): number | undefined {
  const number = typeof value === 'string' && /^-?\d+(?:\.\d+)?$/u.test(value.trim()) ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number / perSecond : undefined
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
