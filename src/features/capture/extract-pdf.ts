import { Failure } from '../../core/failure.ts'
import { runKillable } from './killable-worker.ts'
import type { PageMark } from './pdf-text.ts'

/** A PDF as text. `plain` is the plain text of `markdown`. */
export interface PdfText {
  markdown: string
  plain: string
  title: string | null
  authors: string[]
  /** When the work came out, where the file states it: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: string | null
  /** When the file was made, likewise; not the date of the work. */
  created: string | null
  /** BCP 47. */
  language: string | null
  /** Every page with the place in `plain` (in code points) at which it begins. */
  pages: PageMark[]
  pageCount: number
  words: number
  /** Sentences for the reader: pages that could not be read, pages without text. */
  warnings: string[]
}

export interface ExtractPdfOptions {
  signal?: AbortSignal
  /** Milliseconds for the whole file; 120,000 when absent. */
  deadlineMs?: number
}

const LARGEST_PDF = 200 * 2 ** 20

/**
 * Reads a PDF in a worker of its own: columns in order, words joined over line ends, running heads gone, headings from
 * its table of contents or the size of the text.
 *
 * Fails with `encrypted_file` (it needs a password), `damaged_file`, `no_text` (pictures of pages), `timed_out`,
 * `too_large` or `cancelled`.
 */
export async function extractPdf(bytes: Uint8Array, options: ExtractPdfOptions = {}): Promise<PdfText> {
  if (bytes.byteLength > LARGEST_PDF) {
    throw new Failure('too_large', 'The PDF is larger than 200 MB.', {
      hint: 'Split it, or save it with smaller pictures, and add the result.',
    })
  }
  if (!beginsLikePdf(bytes)) {
    throw new Failure('damaged_file', 'The file is not a PDF: it does not begin like one.', {
      hint: 'Download it again: what was saved may be a page about the file instead of the file.',
    })
  }
  const copy = Uint8Array.from(bytes)
  return await runKillable<PdfText>('pdf-worker', copy, {
    signal: options.signal,
    deadlineMs: options.deadlineMs ?? 120_000,
    heapMb: 512,
    // The file is held three times while it is opened; its text takes little.
    growthMb: 500 + (3 * bytes.byteLength) / 2 ** 20,
    transfer: [copy.buffer],
    what: 'PDF',
  })
}

/** `%PDF-` within the first 1024 bytes, as readers accept it (ISO 32000-2, annex I). */
function beginsLikePdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).includes('%PDF-')
}
