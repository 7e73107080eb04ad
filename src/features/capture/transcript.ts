import { UNSPACED, codePointLength } from '../../core/text.ts'
import type { Place } from '../texts/places.ts'
import { countWords } from './count-words.ts'
import type { TimedCue } from './caption-cues.ts'

/** A part of a recording with a name of its own. */
export interface Chapter {
  /** Seconds from the beginning. */
  start: number
  title: string
}

export interface Transcript {
  markdown: string
  /** The plain text of `markdown`. */
  plain: string
  /** Where each piece of what is said begins, to the second; the last stands behind the text and is the length. */
  places: Place[]
  words: number
}

/**
 * What was said as a text to be read: paragraphs that end with a sentence, with a speaker or with a pause, under the titles of
 * the chapters. Times stand beside the text and not in it, so that what is quoted is what was said.
 *
 * `seconds` is the length of the recording, where it is known.
 */
export function transcriptOf(
  cues: readonly TimedCue[],
  { chapters = [], seconds }: { chapters?: readonly Chapter[]; seconds?: number | undefined } = {},
): Transcript {
  const writing = new Writing()
  const waiting = chapters.toSorted((a, b) => a.start - b.start)
  for (const paragraph of paragraphsOf(piecesOf(cues), waiting)) {
    const begins = paragraph[0]?.start ?? 0
    while (waiting[0] && waiting[0].start <= begins + EARLY) writing.heading(waiting.shift()!, begins)
    writing.paragraph(paragraph)
  }
  for (const chapter of waiting) writing.heading(chapter, chapter.start)
  return writing.end(seconds ?? lastSecond(cues))
}

/** Chapters are marked by hand: what is said so little before belongs to them, in seconds. */
const EARLY = 0.5

/** What is said in one breath: at most one sentence, of one cue. */
interface Piece {
  start: number
  end: number
  text: string
  speaker: string | undefined
}

const SENTENCE_END = /[.!?…]+["'”’»)\]]*(?=\s)|[。！？｡]+[”’」』）]*/gu
const ENDS_SENTENCE = /(?:[.!?…]+["'”’»)\]]*|[。！？｡]+[”’」』）]*)$/u
/** A full stop after these is none. */
const SHORTENED = /(?:^|\s)(?:\p{Lu}|Mr|Mrs|Ms|Dr|St|Prof|vs|etc|No)\.$/u

function piecesOf(cues: readonly TimedCue[]): Piece[] {
  return cues.flatMap((cue, index): Piece[] => {
    const text = cue.lines.reduce(joined)
    const next = cues[index + 1]?.start ?? Infinity
    const shown = Math.max(cue.start, cue.end ?? cue.start)
    // Where cues overlap, a sentence is said before the next cue begins.
    const over = Math.min(shown, next)
    return sentencesOf(text).map(({ from, to }) => ({
      start: cue.start + ((over - cue.start) * from) / text.length,
      end: to === text.length ? shown : cue.start + ((over - cue.start) * to) / text.length,
      text: text.slice(from, to).trim(),
      speaker: cue.speaker,
    }))
  })
}

function sentencesOf(text: string): { from: number; to: number }[] {
  const parts: { from: number; to: number }[] = []
  let from = 0
  for (const { index, 0: mark } of text.matchAll(SENTENCE_END)) {
    const to = index + mark.length
    if (
      to === text.length ||
      SHORTENED.test(text.slice(from, to)) ||
      /^\s+\p{Ll}/u.test(text.slice(to, to + 4))
    )
      continue
    parts.push({ from, to })
    from = to
  }
  return [...parts, { from, to: text.length }]
}

/** Two stretches of speech as one; scripts without spaces get none. */
function joined(before: string, after: string): string {
  return before + gapBetween(before, after) + after
}

function gapBetween(before: string, after: string): string {
  const isUnspaced = /[\p{P}]$/u.test(before)
    ? UNSPACED.test(before.slice(-3))
    : UNSPACED.test(before.slice(-1))
  return isUnspaced && UNSPACED.test(after.slice(0, 2)) ? '' : ' '
}

/** Characters after which a paragraph ends with the next sentence, and those after which it ends anyway. */
const FULL = 500
const OVERFULL = 1500
/** The same where nobody has put full stops. */
const FULL_WITHOUT_STOPS = 600
/** Seconds of silence that end a paragraph with a sentence, and without one. */
const PAUSE = 2
const LONG_PAUSE = 4

function paragraphsOf(pieces: readonly Piece[], chapters: readonly Chapter[]): Piece[][] {
  const ended = pieces.filter(({ text }) => ENDS_SENTENCE.test(text)).length
  const hasStops = ended >= pieces.length / 10
  const paragraphs: Piece[][] = []
  let length = 0
  let chapter = 0
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1]
    let begins = before === undefined
    for (; (chapters[chapter]?.start ?? Infinity) <= piece.start + EARLY; chapter++) begins = true
    if (begins || (before && parts(before, piece, length, hasStops))) {
      paragraphs.push([])
      length = 0
    }
    paragraphs.at(-1)?.push(piece)
    // A character of such a script says what three do elsewhere.
    length += UNSPACED.test(piece.text) ? 3 * piece.text.length : piece.text.length + 1
  }
  return paragraphs
}

function parts(before: Piece, piece: Piece, length: number, hasStops: boolean): boolean {
  if (piece.speaker !== undefined && piece.speaker !== before.speaker) return true
  if (piece.text.startsWith('>>')) return true
  const pause = piece.start - before.end
  if (ENDS_SENTENCE.test(before.text)) return length >= FULL || (pause >= PAUSE && length >= 80)
  if (length >= OVERFULL) return true
  return !hasStops && (length >= FULL_WITHOUT_STOPS || (pause >= LONG_PAUSE && length >= 200))
}

/** Times after the last cue's beginning that its end can be, in seconds. */
const LONGEST_CUE = 120

function lastSecond(cues: readonly TimedCue[]): number {
  let last = 0
  for (const { start, end = start } of cues) last = Math.max(last, start, Math.min(end, start + LONGEST_CUE))
  return last
}

/** Writes Markdown and its plain text side by side, and notes where in both a second begins. */
class Writing {
  readonly #markdown: string[] = []
  readonly #plain: string[] = []
  readonly #places: Place[] = []
  /** Code points written so far. */
  #at = 0
  #start = 0
  #spoke: string | undefined

  /** `begins`: when the first word after it is said. */
  heading({ start, title }: Chapter, begins: number): void {
    this.#break()
    this.#write('## ', '')
    this.#places.push({
      start: this.#start,
      at: this.#at,
      seconds: Math.floor(Math.min(start, begins)),
      title,
    })
    this.#write(escaped(title, true), title)
    this.#spoke = undefined
  }

  paragraph(pieces: readonly Piece[]): void {
    this.#break()
    const speaker = pieces[0]?.speaker
    let before = ''
    for (const { start, text } of pieces) {
      const gap = before === '' ? '' : gapBetween(before, text)
      this.#write(gap, gap)
      const seconds = Math.floor(start)
      if (before === '' || this.#places.at(-1)?.seconds !== seconds) {
        this.#places.push({ start: this.#start, at: this.#at, seconds })
      }
      if (before === '' && speaker !== undefined && speaker !== this.#spoke) {
        this.#write(`**${escaped(speaker)}:** `, `${speaker}: `)
      }
      this.#write(escaped(text, before === '' && (speaker === undefined || speaker === this.#spoke)), text)
      before = text
    }
    this.#spoke = speaker
  }

  end(seconds: number): Transcript {
    const plain = this.#plain.join('')
    const length = Math.max(Math.ceil(seconds), this.#places.at(-1)?.seconds ?? 0)
    if (plain !== '') this.#places.push({ start: this.#start, at: this.#at, seconds: length })
    const markdown = plain === '' ? '' : `${this.#markdown.join('')}\n`
    return { markdown, plain, places: this.#places, words: countWords(plain) }
  }

  #break(): void {
    if (this.#plain.length > 0) this.#write('\n\n', '\n\n')
  }

  #write(markdown: string, plain: string): void {
    this.#markdown.push(markdown)
    this.#plain.push(plain)
    this.#at += codePointLength(markdown)
    this.#start += codePointLength(plain)
  }
}

/** Every sign that Markdown would take for its own where it stands; `begins` at the beginning of a block. */
function escaped(text: string, begins = false): string {
  const inline = text
    .replaceAll(/[\\`*_[\]<&~$@#]/gu, '\\$&')
    // Addresses are said, not linked: inside a link a backslash would be one.
    .replaceAll(/:(?=\/\/)/gu, '\\:')
    .replaceAll(/(?<=www)\./giu, '\\.')
  return begins ? inline.replace(/^(?:[-+>=|:]|\d{1,9}(?=[.)]))/u, beginning) : inline
}

const beginning = (sign: string): string => (/\d/u.test(sign) ? `${sign}\\` : `\\${sign}`)
