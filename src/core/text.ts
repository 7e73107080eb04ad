import { z } from 'zod'

/** How many Unicode code points a string has; that is what every limit of ours counts. */
export function codePointLength(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      length--
      i++
    }
  }
  return length
}

/**
 * A string whose limits count code points (zod's own count UTF-16 units). Lone surrogates are replaced by U+FFFD, so that
 * none is stored or sent on.
 */
export function text({ min = 1, max }: { min?: number; max?: number } = {}) {
  const base = z.string().overwrite((value) => value.toWellFormed())
  const long = min > 0 ? base.min(min) : base
  if (max === undefined) return long
  return long
    .refine((value) => codePointLength(value) <= max, { error: `must have at most ${max} characters` })
    .meta({ maxLength: max })
}

/** The UTF-16 index at which code point number `count` begins, searched from `from`; the string's length if there is none. */
export function indexOfCodePoint(text: string, count: number, from = 0): number {
  let index = from
  for (let left = count; left > 0 && index < text.length; left--) {
    const unit = text.charCodeAt(index)
    const pair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00
    index += pair ? 2 : 1
  }
  return index
}

/** The characters from `start` up to `end`, both counted in code points. */
export function sliceCodePoints(text: string, start: number, end: number): string {
  const from = indexOfCodePoint(text, start)
  return text.slice(from, indexOfCodePoint(text, end - start, from))
}

/** A character of a script that is written without spaces between words. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** At most `max` graphemes, with an ellipsis for the last where something was cut. For previews, not for data. */
export function preview(text: string, max: number): string {
  if (text.length <= max) return text
  let cut = ''
  let last = ''
  let count = 0
  for (const { segment } of graphemes.segment(text.slice(0, max * 4 + 64))) {
    if (count === max) return `${cut.trimEnd()}…`
    cut += last
    last = segment
    count++
  }
  const whole = cut + last
  return whole.length < text.length ? `${cut.trimEnd()}…` : whole
}

/** What makes two names the same: NFKC, invisible characters gone, trimmed, inner space collapsed, case folded. */
export const nameKey = (name: string): string =>
  foldCase(name.normalize('NFKC'))
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/\p{White_Space}+/gu, ' ')
    .trim()

/**
 * Case folding good enough for matching: lower, upper and lower again, so that ẞ and ß meet SS; final sigma meets sigma.
 */
export const foldCase = (value: string): string =>
  value.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')
