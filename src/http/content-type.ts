import { isUtf8 } from 'node:buffer'
import { detectKind } from '../features/capture/detect-kind.ts'

export interface ContentType {
  type: string
  /** Whether a browser may show it where it stands: a picture of dots and plain text cannot run. */
  inline: boolean
}

/** How much of the beginning of a file tells what it is. */
export const HEAD_BYTES = 4096

const starts = (head: Buffer, text: string, at = 0): boolean =>
  head.subarray(at, at + text.length).toString('latin1') === text

/** What a stored file is, from its first bytes and its name, whatever it was said to be when it came. */
export function contentTypeOf(head: Buffer, name: string | null): ContentType {
  const picture = pictureOf(head)
  if (picture !== undefined) return { type: picture, inline: true }
  if (starts(head, '\x1f\x8b')) return { type: 'application/gzip', inline: false }
  const kind = detectKind({ bytes: head, ...(name !== null && { fileName: name }) })
  switch (kind) {
    case 'pdf':
      return { type: 'application/pdf', inline: false }
    case 'epub':
      return { type: 'application/epub+zip', inline: false }
    case 'html':
      return { type: 'text/html', inline: false }
    case 'image':
      // Of pictures that is left which is markup, or too rare to be shown.
      return /<svg/i.test(head.toString('latin1'))
        ? { type: 'image/svg+xml', inline: false }
        : { type: 'application/octet-stream', inline: false }
    case 'markdown':
      return { type: `text/markdown${charsetOf(head)}`, inline: true }
    case 'vtt':
    case 'srt':
    case 'caption-json':
    case 'caption-xml':
    case 'feed':
    case 'text':
      return { type: `text/plain${charsetOf(head)}`, inline: true }
    default:
      return { type: 'application/octet-stream', inline: false }
  }
}

/** A character may be cut in two at the end of what was read. */
const charsetOf = (head: Buffer): string =>
  [0, 1, 2, 3].some((less) => isUtf8(head.subarray(0, head.length - less))) ? '; charset=utf-8' : ''

function pictureOf(head: Buffer): string | undefined {
  if (starts(head, '\x89PNG\r\n\x1a\n')) return 'image/png'
  if (starts(head, '\xff\xd8\xff')) return 'image/jpeg'
  if (starts(head, 'GIF87a') || starts(head, 'GIF89a')) return 'image/gif'
  if (starts(head, 'RIFF') && starts(head, 'WEBP', 8)) return 'image/webp'
  if (starts(head, 'ftypavif', 4) || starts(head, 'ftypavis', 4)) return 'image/avif'
  return undefined
}
