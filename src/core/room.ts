import { graphemeStart } from './grapheme-boundary.ts'

/** Most bytes of JSON that one reading gives, whatever the library holds: about 10,000 tokens, of Chinese as of English. */
export const ROOM = 32_000

/** Bytes that a value takes as JSON in UTF-8. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** The beginning of a text that takes at most so many bytes as JSON, its quotes not counted; no character is cut in two. */
export function cutText(text: string, bytes: number): string {
  // No UTF-16 unit takes more than six.
  if (text.length * 6 <= bytes) return text
  let left = bytes
  for (let at = 0; at < text.length;) {
    const [units, size] = nextCharacter(text, at)
    left -= size
    if (left < 0) return text.slice(0, wholeUntil(text, at))
    at += units
  }
  return text
}

/** A character of more code points than a reader would ever see as one is cut inside rather than left out. */
function wholeUntil(text: string, end: number): number {
  const start = graphemeStart(text, end)
  return start > 0 ? start : end
}

/** UTF-16 units of the code point there, and its bytes in JSON. */
function nextCharacter(text: string, at: number): [units: number, bytes: number] {
  const code = text.codePointAt(at)!
  if (code < 0x20) return [1, '\b\t\n\f\r'.includes(text[at]!) ? 2 : 6]
  if (code === 0x22 || code === 0x5c) return [1, 2]
  if (code < 0x80) return [1, 1]
  if (code < 0x800) return [1, 2]
  if (code >= 0xd800 && code <= 0xdfff) return [1, 6]
  return code < 0x10000 ? [1, 3] : [2, 4]
}

/** As many of the first values as fit into so many bytes of JSON, the first in any case. */
export function takeFitting<T>(values: readonly T[], bytes: number): T[] {
  const taken: T[] = []
  let left = bytes
  for (const value of values) {
    // With the comma that stands before the next.
    left -= jsonBytes(value) + 1
    if (left < 0 && taken.length > 0) break
    taken.push(value)
  }
  return taken
}
