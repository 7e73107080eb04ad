import { UNSPACED } from '../../core/text.ts'
import { graphemeStart } from '../../core/grapheme-boundary.ts'

/** A sentence of a text: its own words, and where they begin (UTF-16 index). */
export interface Sentence {
  text: string
  start: number
}

/** Units of a sentence that says something by itself, and can still be taken in at a glance. */
const SHORTEST = 40
const LONGEST = 400
/** Where each character is about a word. */
const SHORTEST_UNSPACED = 10
/** Length of the pieces that a text without sentence ends is cut into. */
const PIECE = 280

/**
 * Marks that end a sentence with what closes after them; a full stop counts before white space only. Looked for from the
 * first mark of a row alone, or a row of a million would be walked a million times.
 */
const SENTENCE_END = /(?<![.!?…])[.!?…]+["'”’»)\]]*(?=\s|$)|[。！？｡]+[”’」』）]*/gu
/** Before a day: "Dec. 15". */
const MONTH = /(?:^|[\s(])(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)$/u
const ALL_UNSPACED = new RegExp(UNSPACED, 'gu')

/** The sentences of a text that can stand alone, in order; of a text without any, its lines in pieces. */
export function proseSentences(plain: string): Sentence[] {
  const prose: Sentence[] = []
  const rest: Sentence[] = []
  for (const line of linesOf(plain)) {
    for (const sentence of sentencesOf(line)) {
      if (sentence.ended && isProse(sentence.text)) prose.push(sentence)
    }
    if (prose.length === 0) rest.push(...piecesOf(line))
  }
  return prose.length > 0 ? prose : rest
}

/** Every sentence of a line in order, and what is left after the last that ends. */
export function* sentencesOf(line: Sentence): Generator<Sentence & { ended: boolean }> {
  let from = 0
  for (const { index, 0: mark } of line.text.matchAll(SENTENCE_END)) {
    const end = index + mark.length
    if (!endsSentence(line.text, index, end)) continue
    yield { ...trimmed(line.text.slice(from, end), line.start + from), ended: true }
    from = end
  }
  const rest = trimmed(line.text.slice(from), line.start + from)
  if (rest.text !== '') yield { ...rest, ended: false }
}

/** Where the last sentence that ends within the text ends; 0 where none does. */
export function lastSentenceEnd(text: string): number {
  let last = 0
  for (const { index, 0: mark } of text.matchAll(SENTENCE_END)) {
    // At the very end it may be a mark inside a longer sentence that was cut there.
    if (index + mark.length < text.length && endsSentence(text, index, index + mark.length)) {
      last = index + mark.length
    }
  }
  return last
}

export function* linesOf(plain: string): Generator<Sentence> {
  let start = 0
  for (let end = plain.indexOf('\n'); start < plain.length; end = plain.indexOf('\n', start)) {
    const stop = end < 0 ? plain.length : end
    if (stop > start) yield { text: plain.slice(start, stop), start }
    start = stop + 1
  }
}

/** A mark before a small letter, or a full stop after an initial or a short title, ends no sentence: "e.g. so", "J. Verne". */
function endsSentence(text: string, mark: number, end: number): boolean {
  if (/^\s+\p{Ll}/u.test(text.slice(end, end + 4))) return false
  if (text[mark] !== '.') return true
  if (/^\s+\d/u.test(text.slice(end, end + 3)) && MONTH.test(text.slice(Math.max(0, mark - 6), mark)))
    return false
  return !/(?:^|[\s.(])(?:\p{Lu}|Mr|Mrs|Ms|Dr|St|Prof|Rev|Rt|Hon|Gen|Sen|Rep|Gov|Lt|Col|Capt|Sgt|Jr|No|Fig|vs|cf|pp|al|vol|approx)$/u.test(
    text.slice(Math.max(0, mark - 6), mark),
  )
}

function isProse(text: string): boolean {
  if (text.length > LONGEST) return false
  const unspaced = text.match(ALL_UNSPACED)?.length ?? 0
  if (unspaced * 2 > text.length) return text.length >= SHORTEST_UNSPACED
  if (text.length < SHORTEST) return false
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters > text.length * 0.5 && /^["'“‘«([¿¡]*[\p{Lu}\p{Lo}\d]/u.test(text)
}

/** A line without sentences in pieces that can be taken in at a glance, cut between words where it has any. */
export function piecesOf(line: Sentence): Sentence[] {
  const pieces: Sentence[] = []
  for (let from = 0; from < line.text.length;) {
    const window = line.text.slice(from, from + PIECE)
    const space = from + window.length < line.text.length ? window.search(/\s\S*$/u) : -1
    const end = space > 0 ? from + space : graphemeStart(line.text, from + window.length)
    const piece = trimmed(line.text.slice(from, end), line.start + from)
    if (piece.text.length >= SHORTEST_UNSPACED) pieces.push(piece)
    from = Math.max(end, from + 1)
  }
  return pieces
}

function trimmed(text: string, start: number): Sentence {
  return { text: text.trim(), start: start + text.length - text.trimStart().length }
}
