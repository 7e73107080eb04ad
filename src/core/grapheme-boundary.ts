const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Furthest that a character of several code points (flags, families, stacked marks) is followed, in UTF-16 units. */
const REACH = 96

/** Below the first combining mark nothing joins, but for CR LF. */
const standsAlone = (unit: number): boolean => unit < 0x300 && unit !== 0x0d && unit !== 0x0a

/** Whether a cut at this UTF-16 index leaves every user-perceived character (UAX #29) whole. */
export function isGraphemeBoundary(text: string, index: number): boolean {
  return graphemeStart(text, index) === index
}

/** Start of the character that the index lies in; the index itself where it is a boundary. */
export function graphemeStart(text: string, index: number): number {
  if (index <= 0) return 0
  if (index >= text.length) return text.length
  if (standsAlone(text.charCodeAt(index - 1)) && standsAlone(text.charCodeAt(index))) return index
  const from = windowStart(text, index)
  const found = graphemes.segment(text.slice(from, index + REACH)).containing(index - from)
  return from + (found?.index ?? index - from)
}

/** End of the character that the index lies in; the index itself where it is a boundary. */
export function graphemeEnd(text: string, index: number): number {
  const start = graphemeStart(text, index)
  if (start === index) return index
  const found = graphemes.segment(text.slice(start, index + REACH)).containing(0)
  return start + (found?.segment.length ?? index - start)
}

/** A boundary at or before the index, near enough to segment from. */
function windowStart(text: string, index: number): number {
  const furthest = Math.max(0, index - REACH)
  for (let at = index - 1; at > furthest; at--) {
    if (standsAlone(text.charCodeAt(at)) && standsAlone(text.charCodeAt(at - 1))) return at
  }
  return furthest
}
