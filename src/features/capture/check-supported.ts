import { basename } from 'node:path'
import { Failure } from '../../core/failure.ts'
import { CAPTIONS, detectKind, type FileKind } from './detect-kind.ts'

const READABLE: ReadonlySet<FileKind> = new Set(['html', 'pdf', 'epub', 'markdown', 'text', ...CAPTIONS])

const UNREADABLE: Partial<Record<FileKind, string>> = {
  image: 'a picture',
  feed: 'a feed',
}

/** Throws `unsupported_type` or `no_text` for what no capture could come of. */
export function checkSupported(bytes: Uint8Array, name: string, contentType?: string): FileKind {
  if (bytes.length === 0) {
    throw new Failure('no_text', `${name} is empty.`, { hint: 'Add a file that has something in it.' })
  }
  const kind = detectKind({ bytes, fileName: basename(name), ...(contentType && { contentType }) })
  if (READABLE.has(kind)) return kind
  throw new Failure('unsupported_type', `${name} is ${UNREADABLE[kind] ?? 'of no kind that can be read'}.`, {
    hint: 'Web pages, PDF, EPUB, Markdown, plain text and captions (VTT, SRT) can be added.',
  })
}
