import { codePointLength } from '../../core/text.ts'

/** Letters that have to agree for a place to be the same, and how few do where a link or a picture comes so soon. */
const LETTERS = 60
const FEW_LETTERS = 20

/**
 * The same places with `at`, the code point of the Markdown at which each begins: found by the letters that follow, since
 * Markdown only adds marks to them. A place that is not found has none. Places are in the order of the text.
 */
export function placesInMarkdown<P extends { start: number }>(
  markdown: string,
  plain: string,
  places: readonly P[],
): (P & { at?: number })[] {
  if (places.length === 0) return []
  const written = lettersOf(markdown, markdown.replaceAll(UNSHOWN, blank))
  const shown = lettersOf(plain)
  let from = 0
  let last = 0
  return places.map((place) => {
    const first = lowerBound(shown.at, place.start)
    const key = shown.letters.slice(first, first + LETTERS)
    let found = key === '' ? -1 : written.letters.indexOf(key, from)
    if (found < 0 && key.length > FEW_LETTERS)
      found = written.letters.indexOf(key.slice(0, FEW_LETTERS), from)
    if (found < 0) return place
    from = found
    last = Math.max(last, lineStart(markdown, written, found))
    return { ...place, at: last }
  })
}

interface Letters {
  /** UTF-16 units of letters and digits alone. */
  letters: string
  /** Code point of the text at which each unit stands, and its index in UTF-16. */
  at: Uint32Array
  index: Uint32Array
}

/** Where links lead to, and the numbers of footnotes. */
const UNSHOWN =
  /\]\((?:[^()\s\\]|\\.|\([^()\s]{0,500}\)){0,2000}(?:\s+"[^"\n]{0,500}")?\)|\[\^[^\]\n]{1,80}\]/gu

const blank = (text: string): string => text.replaceAll(LETTER, (letter) => ' '.repeat(letter.length))

const LETTER = /[\p{L}\p{N}]/gu

/** `shown`: the same text, unit by unit, with blanks for what is not to be found in it. */
function lettersOf(text: string, shown = text): Letters {
  const at = new Uint32Array(text.length)
  const index = new Uint32Array(text.length)
  const letters: string[] = []
  let count = 0
  let points = 0
  let before = 0
  for (const match of shown.matchAll(LETTER)) {
    points += codePointLength(text.slice(before, match.index))
    before = match.index
    for (let unit = 0; unit < match[0].length; unit++) {
      at[count] = points
      index[count++] = match.index
    }
    letters.push(match[0])
  }
  return { letters: letters.join(''), at: at.subarray(0, count), index: index.subarray(0, count) }
}

/** Marks before the first letter of a line belong to it. */
function lineStart(markdown: string, { at, index }: Letters, found: number): number {
  const here = index[found] ?? 0
  const line = markdown.lastIndexOf('\n', here) + 1
  const marks = markdown.slice(line, here)
  const points = at[found] ?? 0
  return /[\p{L}\p{N}]/u.test(marks) ? points : points - codePointLength(marks)
}

function lowerBound(sorted: Uint32Array, value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}
