import { analyse } from 'chardet'
import iconv from 'iconv-lite'
import { wideEncoding } from './wide-encoding.ts'

export interface DecodedText {
  text: string
  /** The encoding's name in the WHATWG Encoding Standard, lower case. */
  encoding: string
}

/** How far a declaration inside the document is looked for; the standard's 1,024 bytes miss many old pages. */
const PRESCAN_BYTES = 16 * 1024
const DETECT_BYTES = 64 * 1024

/**
 * Turns the bytes of a page or text file into text. In order: byte order mark, 16-bit units, the header's charset, a declaration in the
 * document (`<meta>`, XML), strict UTF-8, statistics over the bytes, windows-1252. A label of UTF-8 or of Western Latin is
 * only believed if the bytes agree, and one of 16-bit units only if they do not read as UTF-8. Never fails: bytes without meaning become U+FFFD.
 */
export function decodeText(bytes: Uint8Array, contentType?: string): DecodedText {
  const mark = byteOrderMark(bytes)
  if (mark) return decode(bytes.subarray(mark.length), mark.encoding)
  const wide = wideEncoding(bytes)
  if (wide) return decode(bytes, wide)

  const labels = [headerLabel(contentType), documentLabel(bytes)].filter((label) => label !== undefined)
  const utf8 = decodeStrictUtf8(bytes)
  for (const label of labels) {
    // In 16-bit units spaces, line ends and markup have zero bytes.
    if (label.startsWith('utf-16') && utf8 !== undefined && !bytes.includes(0)) continue
    if (label === 'utf-8') {
      if (utf8 !== undefined) return { text: utf8, encoding: 'utf-8' }
      continue
    }
    // Text that is no UTF-8 practically never reads as UTF-8 by chance, and Western Latin is what servers label blindly.
    if (isWesternLatin(label) && utf8 !== undefined && /[^\0-\x7f]/.test(utf8)) break
    return decode(bytes, label)
  }
  if (utf8 !== undefined) return { text: utf8, encoding: 'utf-8' }
  if (labels.includes('utf-8') && isNearlyUtf8(bytes)) return decode(bytes, 'utf-8')
  return decode(bytes, guess(bytes) ?? 'windows-1252')
}

function byteOrderMark(bytes: Uint8Array): { encoding: string; length: number } | undefined {
  const [a, b, c] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return { encoding: 'utf-8', length: 3 }
  if (a === 0xff && b === 0xfe) return { encoding: 'utf-16le', length: 2 }
  if (a === 0xfe && b === 0xff) return { encoding: 'utf-16be', length: 2 }
  return undefined
}

function headerLabel(contentType: string | undefined): string | undefined {
  return encodingName(/;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType ?? '')?.[1])
}

function documentLabel(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, PRESCAN_BYTES))
    .toString('latin1')
    .replace(/<!--[^]*?(?:-->|$)/g, '')
  for (const [tag] of head.matchAll(/<(?:meta|\?xml)[\s/][^>]*/gi)) {
    const name = encodingName(/\b(?:charset|encoding)\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(tag)?.[1])
    if (name === undefined) continue
    // A declaration that was read byte by byte cannot be true of 16-bit units (HTML, 13.2.3.2).
    return name.startsWith('utf-16') ? 'utf-8' : name
  }
  return undefined
}

/** The standard's name for a label: `latin1` and `ascii` are windows-1252 there, `gb2312` is gbk. */
function encodingName(label: string | undefined): string | undefined {
  if (!label) return undefined
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

function isWesternLatin(encoding: string): boolean {
  return /^(?:windows-1252|iso-8859-15|macintosh)$/.test(encoding)
}

function decodeStrictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** One broken sequence, as a cut or a stray byte leaves it, does not make a UTF-8 page something else. */
function isNearlyUtf8(bytes: Uint8Array): boolean {
  const sample = Buffer.from(bytes.subarray(0, DETECT_BYTES)).toString('utf8')
  const broken = sample.split('\uFFFD').length - 1
  const sound = sample.match(/[^\0-\x7F\uFFFD]/g)?.length ?? 0
  return broken <= 2 + sound / 20
}

function guess(bytes: Uint8Array): string | undefined {
  const [best] = analyse(bytes.subarray(0, DETECT_BYTES))
  const name = best && best.confidence >= 10 ? encodingName(best.name) : undefined
  return name === 'utf-8' ? undefined : name
}

/**
 * By iconv-lite: `TextDecoder('windows-1252')` of Node 20 gives C1 controls for the quotation marks of 0x80 to 0x9F. It
 * serves only what iconv-lite does not know (ISO-2022-JP).
 */
function decode(bytes: Uint8Array, encoding: string): DecodedText {
  const text = iconv.encodingExists(encoding)
    ? iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), encoding)
    : new TextDecoder(encoding).decode(bytes)
  return { text, encoding }
}
