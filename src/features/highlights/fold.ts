import { foldCase } from '../../core/text.ts'
import { classOf, DASH, INVISIBLE, JOINER, LETTER, MARK, SPACE, UNSPACED } from './character-class.ts'
import { isGraphemeBoundary } from '../../core/grapheme-boundary.ts'

/**
 * A text as quotes are compared: without case, variants of white space, quote marks and dashes, compatibility forms
 * (NFKC), invisible characters and line-end hyphens; each unit is mapped back to where it came from.
 */
export interface Folded {
  readonly source: string
  readonly text: string
  /** Of each UTF-16 unit of `text`: where the characters it stands for begin in `source` (UTF-16 index). */
  readonly starts: Uint32Array
  /** And where they end. Units of one character (ﬁ makes two) share both. */
  readonly ends: Uint32Array
  /** The dash between two letters that was left out before a unit: `NO_DASH`, `HARD_DASH` or `BROKEN_DASH`. */
  readonly dashes: Uint8Array
}

const NO_DASH = 0
/** A dash that is part of the words, as in `well-known` or `so — they say`. */
const HARD_DASH = 1
/** A hyphen before white space, as in `exam-↵ple`: may be part of the words or not. */
const BROKEN_DASH = 2

/** Folds in one pass, in time linear to the text. */
export function foldText(source: string): Folded {
  const out = new FoldedUnits(source.length)
  const { length } = source
  let previous = 0
  let spaceStart = -1
  let spaceEnd = 0
  let dashStart = -1
  let dashEnd = 0
  let dashAfterSpace = false
  let dashBeforeSpace = false

  for (let at = 0; at < length;) {
    const codePoint = source.codePointAt(at) ?? 0
    let end = at + (codePoint > 0xffff ? 2 : 1)
    let kind = classOf(codePoint)
    const bare = kind === SPACE || kind === DASH || kind === INVISIBLE || kind === JOINER
    const marked = source.charCodeAt(end) >= 0x300 && joins(source.codePointAt(end) ?? 0, bare)
    if (!marked && bare) {
      if (kind === SPACE) {
        if (dashStart >= 0) dashBeforeSpace = true
        else if (spaceStart < 0) spaceStart = at
        spaceEnd = end
      } else if (kind === DASH) {
        if (dashStart < 0) {
          dashStart = at
          dashAfterSpace = spaceStart >= 0
        }
        dashEnd = end
        dashBeforeSpace = false
      }
      at = end
      continue
    }
    if (kind === MARK) kind = LETTER
    if (marked) end = endOfJoined(source, end)

    let dash = NO_DASH
    if (dashStart >= 0) {
      if (previous === LETTER && kind === LETTER) {
        dash = dashBeforeSpace && !dashAfterSpace ? BROKEN_DASH : HARD_DASH
      } else out.push(HYPHEN, dashStart, dashEnd, NO_DASH)
    } else if (spaceStart >= 0 && out.size > 0 && previous !== UNSPACED && kind !== UNSPACED) {
      out.push(BLANK, spaceStart, spaceEnd, NO_DASH)
    }
    spaceStart = -1
    dashStart = -1
    dashBeforeSpace = false

    const single = !marked && codePoint <= 0xffff ? foldedUnit(codePoint) : MANY
    if (single !== MANY) out.push(single, at, end, dash)
    else {
      const folded = foldCharacter(source.slice(at, end))
      for (let unit = 0; unit < folded.length; unit++) {
        out.push(folded.charCodeAt(unit), at, end, unit === 0 ? dash : NO_DASH)
      }
    }
    previous = kind
    at = end
  }
  if (dashStart >= 0) out.push(HYPHEN, dashStart, dashEnd, NO_DASH)
  return out.finish(source)
}

function endOfJoined(source: string, from: number): number {
  let end = from
  while (end < source.length) {
    const next = source.codePointAt(end) ?? 0
    if (!joins(next, false)) break
    end += next > 0xffff ? 2 : 1
  }
  return end
}

/** Whether a character belongs to the one before it; blanks and dashes take marks only. */
function joins(codePoint: number, marksOnly: boolean): boolean {
  const kind = classOf(codePoint)
  return kind === MARK || (!marksOnly && kind === JOINER)
}

/**
 * Every place where the folded quote stands in the folded text, as ranges of folded units in order, without overlap. Marks
 * that a dash left in the words must agree, and no character of the text is cut.
 */
export function findFolded(text: Folded, quote: Folded): { from: number; to: number }[] {
  const [first, last] = wordsOf(quote.text)
  const key = quote.text.slice(first, last)
  const found: { from: number; to: number }[] = []
  if (key === '') return found
  for (let from = text.text.indexOf(key); from >= 0;) {
    const to = from + key.length
    const fits = isWhole(text, from, to) && dashesAgree(text, from, quote, first, key.length)
    if (fits) found.push({ from, to })
    from = text.text.indexOf(key, fits ? to : from + 1)
  }
  return found
}

/** Whether two folded texts have the same words. */
export const sameWords = (a: string, b: string): boolean => {
  const one = foldText(a)
  const other = foldText(b)
  return one.text === other.text && dashesAgree(one, 0, other, 0, one.text.length)
}

/** What stays of a folded quote once dashes and blanks at its ends are gone: a dash needs its neighbours to be judged. */
function wordsOf(folded: string): [from: number, to: number] {
  let from = 0
  let to = folded.length
  const isEdge = (unit: number) => unit === BLANK || unit === HYPHEN
  while (from < to && isEdge(folded.charCodeAt(from))) from++
  while (to > from && isEdge(folded.charCodeAt(to - 1))) to--
  return from < to ? [from, to] : [0, folded.length]
}

function isWhole({ source, starts, ends }: Folded, from: number, to: number): boolean {
  const start = starts[from] ?? 0
  const end = ends[to - 1] ?? 0
  return (
    start !== starts[from - 1] &&
    end !== ends[to] &&
    isGraphemeBoundary(source, start) &&
    isGraphemeBoundary(source, end)
  )
}

function dashesAgree(text: Folded, from: number, quote: Folded, first: number, length: number): boolean {
  for (let unit = 1; unit < length; unit++) {
    const there = text.dashes[from + unit]
    const here = quote.dashes[first + unit]
    if (there !== here && there !== BROKEN_DASH && here !== BROKEN_DASH) return false
  }
  return true
}

const BLANK = 0x20
const HYPHEN = 0x2d
const MANY = 0xffff

const units = new Uint16Array(0x10000)

/** The one unit that a character of the basic plane folds to, or `MANY`. */
function foldedUnit(codePoint: number): number {
  return (units[codePoint] ||= ((folded) => (folded.length === 1 ? folded.charCodeAt(0) : MANY))(
    foldCharacter(String.fromCodePoint(codePoint)),
  ))
}

function foldCharacter(character: string): string {
  const read = character.replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '').normalize('NFC')
  // Before NFKC, which takes some quote marks apart, and after it, as it makes some.
  const plain = straighten(straighten(read).normalize('NFKC'))
    // A spacing accent becomes a blank with a mark on it; the blank is none.
    .replace(/^ (?=\p{M})/u, '')
  return foldCase(plain).normalize('NFKC')
}

const straighten = (text: string): string =>
  text.replaceAll(/[‘’‚‛′‵ʼʹ´΄`＇｀‹›]| \u0301/gu, "'").replaceAll(/[“”„‟″‶«»〝〞〟＂]/gu, '"')

/** Folded units as they are collected. */
class FoldedUnits {
  size = 0
  #units: Uint16Array
  #starts: Uint32Array
  #ends: Uint32Array
  #dashes: Uint8Array

  constructor(expected: number) {
    this.#units = new Uint16Array(expected)
    this.#starts = new Uint32Array(expected)
    this.#ends = new Uint32Array(expected)
    this.#dashes = new Uint8Array(expected)
  }

  push(unit: number, start: number, end: number, dash: number): void {
    if (this.size === this.#units.length) this.#resize(Math.ceil(this.size * 1.5) + 16)
    this.#units[this.size] = unit
    this.#starts[this.size] = start
    this.#ends[this.size] = end
    this.#dashes[this.size] = dash
    this.size++
  }

  finish(source: string): Folded {
    const { buffer, byteOffset } = this.#units
    return {
      source,
      text: Buffer.from(buffer, byteOffset, this.size * 2).toString('utf16le'),
      starts: this.#starts.subarray(0, this.size),
      ends: this.#ends.subarray(0, this.size),
      dashes: this.#dashes.subarray(0, this.size),
    }
  }

  #resize(capacity: number): void {
    const grown = <T extends Uint8Array | Uint16Array | Uint32Array>(to: T, from: T): T => {
      to.set(from)
      return to
    }
    this.#units = grown(new Uint16Array(capacity), this.#units)
    this.#starts = grown(new Uint32Array(capacity), this.#starts)
    this.#ends = grown(new Uint32Array(capacity), this.#ends)
    this.#dashes = grown(new Uint8Array(capacity), this.#dashes)
  }
}
