/**
 * The encoding of text in 16-bit units: by its mark or, without one, by its first characters (pages and texts begin in ASCII,
 * as JSON does: RFC 4627, 3).
 */
export function wideEncoding(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [a, b] = bytes
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (bytes.length < 8) return undefined
  const alternates = (zero: 0 | 1): boolean =>
    [0, 2, 4, 6].every((at) => bytes[at + zero] === 0 && isAscii(bytes[at + 1 - zero] ?? 0))
  return alternates(1) ? 'utf-16le' : alternates(0) ? 'utf-16be' : undefined
}

const isAscii = (byte: number): boolean => byte >= 0x09 && byte < 0x7f
