/** Words of a recording with the time at which they are said. */
export interface Cue {
  /** Seconds from the beginning; undefined where the file does not say, or says what cannot be. */
  start: number | undefined
  /** Seconds at which they are over, where that is known. */
  end: number | undefined
  /** Lines as they are shown, without markup. */
  lines: string[]
  speaker?: string
}

/** A cue that has its time. */
export type TimedCue = Cue & { start: number }

/** Later than anything is said: more than a week into a recording. */
const LATEST = 7 * 86_400

/** A time that can be, in seconds: none before the beginning, none that is no number. */
export function possibleTime(seconds: number | undefined): number | undefined {
  if (seconds === undefined || !Number.isFinite(seconds) || seconds > LATEST) return undefined
  return Math.max(0, seconds)
}

/** Seconds of `1:02:03.450`, `02:03,45` or `-00:01.000`; undefined for what is no such time. */
export function clockTime(text: string): number | undefined {
  const parts = /^(-?)(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9})(?:[.,](\d{1,9}))?$/.exec(text.trim())
  if (!parts) return undefined
  const [, sign, hours = '0', minutes = '0', seconds = '0', fraction = '0'] = parts
  const value = Number(hours) * 3600 + Number(minutes) * 60 + Number(`${seconds}.${fraction}`)
  return possibleTime(sign === '-' ? -value : value)
}

/** A cue of shown text, whose lines are cleaned of spaces; undefined where it says nothing. */
export function cueOf(
  start: number | undefined,
  end: number | undefined,
  text: string,
  speaker?: string,
): Cue | undefined {
  const lines = text
    .split('\n')
    .map(shownText)
    .filter((line) => line !== '')
  if (lines.length === 0) return undefined
  const name = speaker === undefined ? '' : shownText(speaker)
  return {
    start: possibleTime(start),
    end: possibleTime(end),
    lines,
    ...(name !== '' && { speaker: name }),
  }
}

/** Spaces of every kind are one; what shows nothing (control signs, marks of direction and order) is gone. */
function shownText(line: string): string {
  return (
    line
      // oxlint-disable-next-line no-control-regex -- control characters are what goes
      .replaceAll(/[\u0000-\u0008\u000E-\u001F\u007F-\u009F\u200B\u200E\u200F\u2060\uFEFF]/gu, '')
      .replaceAll(/\s+/gu, ' ')
      .trim()
      .toWellFormed()
  )
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  lrm: '',
  rlm: '',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
}

/** The characters that character references of captions stand for; what is no reference stays as it is. */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/giu, (all, decimal, hex, name) => {
    if (typeof name === 'string') return NAMED[name.toLowerCase()] ?? all
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16)
    if (code === 0 || code > 0x10ffff) return ''
    // Some writers name the halves of a pair apart; a half that stays alone is mended with the rest of the text.
    return code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code)
  })
}
