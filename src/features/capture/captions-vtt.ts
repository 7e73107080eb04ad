import { clockTime, cueOf, decodeReferences, type Cue } from './caption-cues.ts'

/** A line that says when a cue is shown; what stands behind the times are settings. */
const TIMING = /^\s*(\S{1,40})\s*-->\s*(\S{1,40})(?:\s.*)?$/u
/** Blocks of a WebVTT file that show nothing (WebVTT, 3.1). */
const HIDDEN = /^(?:NOTE|STYLE|REGION)(?:\s|$)/u

/**
 * The cues of a WebVTT file (W3C WebVTT: The Web Video Text Tracks Format), however carelessly it was made: in the order of
 * the file, without identifiers, settings, notes and styles. Text that has lost its times stays with the cue before it.
 */
export const readVtt = (text: string): Cue[] => readTimedBlocks(text, 'vtt')

/** The cues of an SRT (SubRip) file, likewise, without their numbers and the tags that players understand. */
export const readSrt = (text: string): Cue[] => readTimedBlocks(text, 'srt')

interface OpenCue {
  start: number | undefined
  end: number | undefined
  lines: string[]
}

function readTimedBlocks(text: string, format: 'vtt' | 'srt'): Cue[] {
  const lines = text
    .replace(/^\uFEFF/u, '')
    .replaceAll(/\r\n?/gu, '\n')
    .split('\n')
  const cues: Cue[] = []
  let open: OpenCue | undefined
  let hidden = format === 'vtt' && /^WEBVTT(?:\s|$)/u.test(lines[0] ?? '')
  const close = () => {
    if (open) cues.push(...(toCue(open, format) ?? []))
    open = undefined
  }
  for (const [index, line] of lines.entries()) {
    const timing = line.includes('-->') ? TIMING.exec(line) : null
    const start = clockTime(timing?.[1] ?? '')
    const end = clockTime(timing?.[2] ?? '')
    if (timing && (start !== undefined || end !== undefined || looksLikeTimes(timing))) {
      close()
      hidden = false
      open = { start, end, lines: [] }
      continue
    }
    const isBlank = line.trim() === ''
    if (isBlank) {
      hidden = false
      open?.lines.push('')
      continue
    }
    const isBlockStart = index === 0 || (lines[index - 1] ?? '').trim() === ''
    if (format === 'vtt' && isBlockStart && HIDDEN.test(line)) hidden = true
    if (hidden || isName(line, isBlockStart, lines[index + 1], format)) continue
    // Text between cues, or before the first: someone said it.
    open ??= { start: undefined, end: undefined, lines: [] }
    open.lines.push(line)
  }
  close()
  return cues
}

/** Times that cannot be read are times all the same: they are not spoken. */
const looksLikeTimes = ([, from, to]: RegExpExecArray): boolean =>
  /^[-\d:.,]+$/u.test(from ?? '') && /^[-\d:.,]+$/u.test(to ?? '')

/** Whether a line is the number or identifier of the cue whose times come next. */
function isName(
  line: string,
  isBlockStart: boolean,
  next: string | undefined,
  format: 'vtt' | 'srt',
): boolean {
  if (next === undefined || !next.includes('-->') || !TIMING.test(next)) return false
  return /^\s*\d+\s*$/u.test(line) || (format === 'vtt' && isBlockStart)
}

function toCue({ start, end, lines }: OpenCue, format: 'vtt' | 'srt'): Cue[] | undefined {
  const text = lines.join('\n')
  if (format === 'srt') {
    const cue = cueOf(start, end, decodeReferences(withoutTags(text.replaceAll(/\{\\[^{}]{0,200}\}/gu, ''))))
    return cue && [cue]
  }
  // A voice speaks until the next one does.
  const parts = text.split(/<v(?:\.[^\s<>]{0,100})?\s+([^<>]{1,200})>/u)
  const cues: Cue[] = []
  for (let at = 0; at < parts.length; at += 2) {
    const speaker = at === 0 ? undefined : decodeReferences(parts[at - 1] ?? '')
    const cue = cueOf(start, end, decodeReferences(withoutTags(parts[at] ?? '')), speaker)
    if (cue) cues.push(cue)
  }
  return cues
}

/** Only what is a tag goes: `<i>`, `</c>`, `<c.yellow>`, `<font color="…">`, `<00:01.500>`; `a < b` and `<3` stay. */
const withoutTags = (text: string): string =>
  text.replaceAll(
    /<(?:\/?(?:c|i|b|u|s|v|ruby|rt|lang|font|span|em|strong|br)(?:[.\s/][^<>]{0,300})?|\d{1,9}:[\d:.,]{2,20})>/giu,
    (tag) => (/^<br/iu.test(tag) ? '\n' : ''),
  )
