import { wideEncoding } from './wide-encoding.ts'

/**
 * What a fetched or given file is. `vtt`, `srt`, `caption-json` and `caption-xml` are captions, `feed` is RSS or Atom;
 * `unknown` is what nothing here can read.
 */
export type FileKind =
  | 'html'
  | 'pdf'
  | 'epub'
  | 'markdown'
  | 'text'
  | 'image'
  | 'vtt'
  | 'srt'
  | 'caption-json'
  | 'caption-xml'
  | 'feed'
  | 'unknown'

export const CAPTIONS: ReadonlySet<FileKind> = new Set(['vtt', 'srt', 'caption-json', 'caption-xml'])

/** What is known of a file; at least one of the three should be there. */
export interface FileFacts {
  bytes?: Uint8Array
  /** The header, parameters and all. */
  contentType?: string
  /** A file name or the path of an address. */
  fileName?: string
}

const SNIFF_BYTES = 4096

/**
 * The kind of a file: what its first bytes say, then the header, then the ending of its name. Bytes win, because servers
 * send PDFs as HTML and HTML as plain text.
 */
export function detectKind({ bytes, contentType, fileName }: FileFacts): FileKind {
  const declared = kindOfType(contentType) ?? kindOfName(fileName)
  if (!bytes || bytes.length === 0) return declared ?? 'unknown'
  const binary = kindOfMagic(bytes)
  if (binary) return binary === 'zip' ? (declared === 'epub' ? 'epub' : 'unknown') : binary

  const isWide = wideEncoding(bytes) !== undefined
  const head = Buffer.from(bytes.subarray(0, SNIFF_BYTES))
  const text = isWide
    ? head
        .toString('latin1')
        .replaceAll('\0', '')
        .replace(/^[\xfe\xff]{2}/, '')
    : head.toString('utf8')
  const written = kindOfText(text)
  // A stray zero byte in a page is passed over, as browsers do; elsewhere it tells data from text.
  if (head.includes(0) && !isWide && !(written === 'html' && isReadable(text))) return 'unknown'
  if (written) return written === 'html' && declared === 'markdown' ? 'markdown' : written
  if (declared === undefined || declared === 'pdf' || declared === 'epub' || declared === 'image') {
    // Announced as binary, or not at all, yet plainly text: it is taken for what it is.
    if (declared === undefined && isOtherType(contentType)) return 'unknown'
    const named = kindOfName(fileName)
    return named === 'markdown' || named === 'html' ? named : isReadable(text) ? 'text' : 'unknown'
  }
  // A server that knows no better says text/plain for Markdown.
  return declared === 'text' && kindOfName(fileName) === 'markdown' ? 'markdown' : declared
}

function kindOfMagic(bytes: Uint8Array): FileKind | 'zip' | undefined {
  const at = (offset: number, text: string) =>
    Buffer.from(bytes.subarray(offset, offset + text.length)).toString('latin1') === text
  if (Buffer.from(bytes.subarray(0, 1024)).includes('%PDF-')) return 'pdf'
  if (at(0, 'PK\x03\x04')) {
    // The first entry of an EPUB is `mimetype`, stored uncompressed (EPUB 3.3, OCF 4.2.2).
    return Buffer.from(bytes.subarray(30, 120)).includes('application/epub+zip') ? 'epub' : 'zip'
  }
  const isImage =
    at(0, '\x89PNG\r\n\x1a\n') ||
    at(0, '\xff\xd8\xff') ||
    at(0, 'GIF87a') ||
    at(0, 'GIF89a') ||
    (at(0, 'RIFF') && at(8, 'WEBP')) ||
    (at(4, 'ftyp') && /^(?:avi[fs]|hei[cfx]|hev[cx]|mif1|msf1)$/.test(latin1(bytes, 8, 12))) ||
    at(0, 'II*\0') ||
    at(0, 'MM\0*') ||
    (at(0, 'BM') && at(6, '\0\0\0\0'))
  return isImage ? 'image' : undefined
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.subarray(from, to)).toString('latin1')
}

function kindOfText(head: string): FileKind | undefined {
  const text = head.replace(/^\uFEFF/, '').trimStart()
  if (/^WEBVTT(?:\s|$)/.test(text)) return 'vtt'
  if (/^(?:\d+\s*?(?:\r\n?|\n)\s*)?-?\d{1,2}:\d{2}:\d{2}[,.]\d{1,3}\s*-->/.test(text)) return 'srt'
  if (text.startsWith('{') && isCaptionJson(text)) return 'caption-json'
  const markup = text.replace(/^(?:<\?xml[^>]*>|<!--[^]*?-->|\s+)+/, '')
  if (/^<(?:timedtext|transcript)[\s>]/.test(markup)) return 'caption-xml'
  if (/^<(?:rss|rdf:RDF|feed)[\s>]/.test(markup)) return 'feed'
  if (/^<(?:!doctype\s+svg|svg[\s>])/i.test(markup)) return 'image'
  if (
    /^<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>]|title>|meta\s|link\s|script[\s>]|style[\s>])/i.test(
      markup,
    )
  )
    return 'html'
  // Parts of pages, as a bookmarklet sends them: several block tags near the start.
  const isPart =
    /^<(?:article|main|div|section|p|h[1-6]|table|ul|ol|header|blockquote|figure|a|br|iframe)[\s/>]/i
  return isPart.test(markup) &&
    /<\/(?:article|main|div|section|p|h[1-6]|table|ul|ol|header|blockquote)>/i.test(markup)
    ? 'html'
    : undefined
}

/** What YouTube and podcasts call their captions in JSON; other JSON is none of ours. */
function isCaptionJson(head: string): boolean {
  return /"(?:events|segments)"\s*:\s*\[/.test(head) && /"(?:tStartMs|startTime|wireMagic)"\s*:/.test(head)
}

function kindOfType(contentType: string | undefined): FileKind | undefined {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html'
  if (type === 'application/pdf' || type === 'application/x-pdf') return 'pdf'
  if (type === 'application/epub+zip') return 'epub'
  if (type === 'text/markdown' || type === 'text/x-markdown') return 'markdown'
  if (type === 'text/vtt') return 'vtt'
  if (type === 'application/x-subrip' || type === 'text/srt' || type === 'application/srt') return 'srt'
  if (type === 'application/rss+xml' || type === 'application/atom+xml') return 'feed'
  if (type.startsWith('image/')) return 'image'
  return type === 'text/plain' ? 'text' : undefined
}

/** A type that was named and is none of ours (JSON, feeds, archives), which is not to be read as prose. */
function isOtherType(contentType: string | undefined): boolean {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return type !== '' && !type.startsWith('text/') && type !== 'application/octet-stream'
}

const KIND_OF_ENDING: Record<string, FileKind> = {
  html: 'html',
  htm: 'html',
  xhtml: 'html',
  pdf: 'pdf',
  epub: 'epub',
  md: 'markdown',
  markdown: 'markdown',
  txt: 'text',
  text: 'text',
  vtt: 'vtt',
  srt: 'srt',
  json3: 'caption-json',
  srv3: 'caption-xml',
  srv1: 'caption-xml',
  png: 'image',
  jpg: 'image',
  jpeg: 'image',
  gif: 'image',
  webp: 'image',
  avif: 'image',
  heic: 'image',
  tif: 'image',
  tiff: 'image',
  svg: 'image',
}

function kindOfName(fileName: string | undefined): FileKind | undefined {
  const ending = /\.([a-z0-9]+)$/i.exec(fileName ?? '')?.[1]?.toLowerCase()
  return ending !== undefined && Object.hasOwn(KIND_OF_ENDING, ending) ? KIND_OF_ENDING[ending] : undefined
}

/** True where control characters are the exception. */
function isReadable(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are what is counted
  const controls = text.match(/[\x00-\x08\x0e-\x1f\x7f\uFFFD]/g)?.length ?? 0
  return controls <= text.length / 20
}
