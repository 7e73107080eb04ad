export const LETTER = 1
/** Of a script that is written without spaces: white space beside it carries no meaning. */
export const UNSPACED = 2
export const OTHER = 3
export const SPACE = 4
export const DASH = 5
/** Soft hyphens, zero widths, direction marks, controls: nothing that is read. */
export const INVISIBLE = 6
/** Joins the character before it. */
export const MARK = 7
/** Joiners, variation selectors, tags: join the character before them and are not read themselves. */
export const JOINER = 8

const known = new Uint8Array(0x10000)

/** What folding does with a character: one of the classes above. */
export function classOf(codePoint: number): number {
  if (codePoint > 0xffff) return classify(codePoint)
  return (known[codePoint] ||= classify(codePoint))
}

const WHITE = /[\s\u0085]/
const DASHES = /[\p{Pd}\u2212\u2043\u207b\u208b]/u
const JOINERS = /\p{Variation_Selector}|\u034f|\u200c|\u200d|[\u{e0020}-\u{e007f}]/u
/** Vowels and finals of Hangul and the skin tones of emoji join what they follow, though they are no marks. */
const MARKS = /\p{M}|\p{Emoji_Modifier}|[\u1160-\u11ff\ud7b0-\ud7ff\uffc2-\uffdc]/u
const UNREAD = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/u
const SPACELESS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}\u3001-\u301c\u30a0-\u30ff]/u

function classify(codePoint: number): number {
  const char = String.fromCodePoint(codePoint)
  if (WHITE.test(char) && codePoint !== 0xfeff) return SPACE
  if (DASHES.test(char)) return DASH
  if (JOINERS.test(char)) return JOINER
  if (MARKS.test(char)) return MARK
  if (UNREAD.test(char)) return INVISIBLE
  if (SPACELESS.test(char)) return UNSPACED
  return /\p{L}/u.test(char) ? LETTER : OTHER
}
