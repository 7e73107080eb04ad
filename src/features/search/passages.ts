import { UNSPACED } from '../../core/text.ts'
import { graphemeStart } from '../../core/grapheme-boundary.ts'

/** A stretch of a text that gets one vector. */
export interface Passage {
  /** Offsets in Unicode code points of the text; `end` is exclusive. */
  start: number
  end: number
  /** The text from `start` to `end`; it neither starts nor ends with white space. */
  text: string
}

/** What the built-in model sees of a text, about 85 words of English (`estimateTokens`). */
const MOST_TOKENS = 128
/** A paragraph of fewer is too little to be found by its meaning and joins the one after it: headings, one-liners. */
const ENOUGH_TOKENS = 40
/** A longer sentence is not repeated at the start of the next passage. */
const MOST_REPEATED = 40

/** Part of a paragraph that is not cut any further; offsets are UTF-16 indexes. */
interface Sentence {
  start: number
  end: number
  tokens: number
  /** Last of its paragraph. */
  closes: boolean
  /** A piece of a sentence that was too long for a passage. */
  piece: boolean
}

/**
 * Cuts a text into passages of at most 128 estimated tokens, at the ends of paragraphs (empty lines) or else of sentences
 * (also line ends); a sentence that is longer is cut at a clause, a space or, at last, between two characters. Where a
 * paragraph goes on in the next passage its last sentence is repeated there. Short paragraphs join the following one. Every
 * character but white space between passages is in at least one of them.
 */
export function cutPassages(plain: string): Passage[] {
  const sentences = findSentences(plain)
  const passages: Passage[] = []
  const place = { index: 0, offset: 0 }
  for (let first = 0; first < sentences.length;) {
    const last = lastThatFits(sentences, first)
    const text = plain.slice(sentences[first]!.start, sentences[last]!.end)
    place.offset += countCodePoints(plain.slice(place.index, sentences[first]!.start))
    place.index = sentences[first]!.start
    passages.push({ start: place.offset, end: place.offset + countCodePoints(text), text })
    first = repeats(sentences, first, last) ? last : last + 1
  }
  return passages
}

function lastThatFits(sentences: Sentence[], first: number): number {
  let last = first
  let tokens = sentences[first]!.tokens
  for (let next = sentences[last + 1]; next; next = sentences[last + 1]) {
    const gap = (next.start - sentences[last]!.end) * MORE_SPACE
    if (tokens + gap + next.tokens > MOST_TOKENS) break
    if (sentences[last]!.closes && tokens >= ENOUGH_TOKENS) break
    tokens += gap + next.tokens
    last++
  }
  return last
}

/** Whether the last sentence of a passage starts the next one as well. */
function repeats(sentences: Sentence[], first: number, last: number): boolean {
  const sentence = sentences[last]!
  const next = sentences[last + 1]
  if (!next || last === first || sentence.closes || sentence.piece) return false
  const gap = (next.start - sentence.end) * MORE_SPACE
  return sentence.tokens <= MOST_REPEATED && sentence.tokens + gap + next.tokens <= MOST_TOKENS
}

/**
 * Marks that end a sentence, with the quotes and brackets that close after them; and every line end. Runs longer than
 * anyone writes are not followed, since looking back from their end would take the square of their length.
 */
const SENTENCE_END = /[.!?…]{1,8}["'”’»)\]]{0,4}(?=\s)|[。！？｡]{1,8}[”’」』）]{0,4}|\n/gu
const PARAGRAPH_END = /\n[^\S\n]*\n\s*|$/gu

function findSentences(plain: string): Sentence[] {
  const sentences: Sentence[] = []
  let start = 0
  for (const gap of plain.matchAll(PARAGRAPH_END)) {
    const before = sentences.length
    let from = start
    for (const { index, 0: mark } of plain.slice(start, gap.index).matchAll(SENTENCE_END)) {
      const end = start + index + mark.length
      if (mark.startsWith('.') && !endsSentence(plain, start + index, end)) continue
      addSentence(plain, from, end, sentences)
      from = end
    }
    addSentence(plain, from, gap.index, sentences)
    if (sentences.length > before) sentences.at(-1)!.closes = true
    start = gap.index + gap[0].length
  }
  return sentences
}

/** A full stop before a small letter or after an initial ends no sentence: "e.g. this", "J. Verne". */
function endsSentence(plain: string, dot: number, end: number): boolean {
  if (/^\s+\p{Ll}/u.test(plain.slice(end, end + 8))) return false
  return !/(?:^|[\s.(])\p{Lu}$/u.test(plain.slice(Math.max(0, dot - 3), dot))
}

/** Adds a sentence without the white space around it, in pieces where it is too long. */
function addSentence(plain: string, from: number, to: number, sentences: Sentence[]): void {
  const text = plain.slice(from, to)
  const end = from + text.trimEnd().length
  let start = from + text.length - text.trimStart().length
  for (let piece = false; start < end; piece = true) {
    const fits = measure(plain, start, end)
    if (fits.end === end) {
      sentences.push({ start, end, tokens: fits.tokens, closes: false, piece })
      return
    }
    const cut = cutInside(plain, start, fits.end)
    const kept = start + plain.slice(start, cut).trimEnd().length
    sentences.push({
      start,
      end: kept,
      tokens: measure(plain, start, kept).tokens,
      closes: false,
      piece: true,
    })
    start = cut + /^\s*/u.exec(plain.slice(cut, end))![0].length
  }
}

/** The best place for a cut after `start` and up to `limit`: after a clause, after a space, between two characters. */
function cutInside(plain: string, start: number, limit: number): number {
  const text = plain.slice(start, limit)
  const clause = /^.*(?:[,;:—–](?=\s)|[，、；：])/su.exec(text)?.[0].length ?? 0
  if (clause > text.length / 2) return whole(plain, start, start + clause)
  const words = /^.*\S(?=\s)/su.exec(text)?.[0].length ?? 0
  return whole(plain, start, words > 0 ? start + words : limit)
}

/** The index, or the start of the character that it lies in: but a single endless one is cut between its code points. */
function whole(plain: string, start: number, index: number): number {
  const boundary = graphemeStart(plain, index)
  if (boundary > start) return boundary
  const inPair = isHigh(plain.charCodeAt(index - 1)) && isLow(plain.charCodeAt(index))
  return inPair && index - 1 > start ? index - 1 : inPair ? index + 1 : index
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

/** A letter counts a third, which fits the built-in vocabulary on words of every length (1,000 glosses of WordNet). */
const LETTER = 1 / 3
const DIGIT = 2 / 3
/** White space is free, but for what follows the first of a run, so that a passage has an end. */
const MORE_SPACE = 1 / 16

/**
 * About how many tokens a language model makes of a text: a third of the letters of a word but at least one, one for each
 * mark and each character of a script without spaces.
 */
export function estimateTokens(text: string): number {
  return measure(text, 0, text.length, Infinity).tokens
}

/** Tokens from one UTF-16 index to another, or to the last one before which they stay within the limit. */
function measure(
  plain: string,
  from: number,
  to: number,
  limit = MOST_TOKENS,
): { end: number; tokens: number } {
  let tokens = 0
  let word = 0
  let spaces = 0
  for (let at = from; at < to;) {
    const codePoint = plain.codePointAt(at)!
    const kind = kindOf(codePoint)
    const before = tokens
    if (kind === SPACE) {
      tokens += spaces++ > 0 ? MORE_SPACE : 0
      word = 0
    } else {
      spaces = 0
      const weight = kind === LETTER_KIND ? LETTER : kind === DIGIT_KIND ? DIGIT : 1
      if (kind === OTHER) word = 0
      // The first letters of a word make up one token together.
      tokens += kind === OTHER ? 1 : Math.max(1, word + weight) - (word === 0 ? 0 : Math.max(1, word))
      if (kind !== OTHER) word += weight
    }
    if (tokens > limit + 1e-9) return { end: at, tokens: before }
    at += codePoint > 0xffff ? 2 : 1
  }
  return { end: to, tokens }
}

const LETTER_KIND = 1
const DIGIT_KIND = 2
const SPACE = 3
const OTHER = 4
const kinds = new Uint8Array(0x10000)

function kindOf(codePoint: number): number {
  return codePoint > 0xffff ? classify(codePoint) : (kinds[codePoint] ||= classify(codePoint))
}

function classify(codePoint: number): number {
  const character = String.fromCodePoint(codePoint)
  if (/\s/u.test(character)) return SPACE
  if (UNSPACED.test(character)) return OTHER
  if (/[\p{L}\p{M}]/u.test(character)) return LETTER_KIND
  return /\p{N}/u.test(character) ? DIGIT_KIND : OTHER
}

function countCodePoints(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++) {
    if (isLow(text.charCodeAt(i)) && isHigh(text.charCodeAt(i - 1))) count--
  }
  return count
}
