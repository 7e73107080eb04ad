import { Failure } from '../../core/failure.ts'
import { runKillable } from './killable-worker.ts'

/** Where a chapter of a book begins in its plain text. */
export interface ChapterMark {
  title: string
  /** Offset in Unicode code points of the plain text. */
  start: number
  /** The same in the Markdown, where it was found. */
  at?: number
}

/** An EPUB as text. `plain` is the plain text of `markdown`. */
export interface EpubText {
  markdown: string
  plain: string
  html: string | null
  title: string | null
  authors: string[]
  /** Everybody the book names, with the MARC relator code of what they did, where given. */
  contributors: { name: string; role: string | null }[]
  /** BCP 47. */
  language: string | null
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  published: string | null
  publisher: string | null
  description: string | null
  /** ISBN-13. */
  isbns: string[]
  /** The picture as it is in the book: give it to `prepareImage` before showing it. */
  cover?: Uint8Array
  chapters: ChapterMark[]
  words: number
  /** Sentences for the reader. */
  warnings: string[]
}

export interface ExtractEpubOptions {
  signal?: AbortSignal
  /** Milliseconds for the whole book; 120,000 when absent. */
  deadlineMs?: number
}

const LARGEST_EPUB = 500 * 2 ** 20

/**
 * Reads an EPUB (2 or 3) in a worker of its own: its chapters in reading order, its metadata, contents and cover.
 *
 * Fails with `drm_protected`, `damaged_file`, `no_text`, `timed_out`, `too_large` or `cancelled`.
 */
export async function extractEpub(bytes: Uint8Array, options: ExtractEpubOptions = {}): Promise<EpubText> {
  if (bytes.byteLength > LARGEST_EPUB) {
    throw new Failure('too_large', 'The EPUB is larger than 500 MB.', {
      hint: 'Save it with smaller pictures, and add the result.',
    })
  }
  const copy = Uint8Array.from(bytes)
  return await runKillable<EpubText>('epub-worker', copy, {
    signal: options.signal,
    deadlineMs: options.deadlineMs ?? 120_000,
    heapMb: 768,
    growthMb: 900 + (2 * bytes.byteLength) / 2 ** 20,
    transfer: [copy.buffer],
    what: 'EPUB',
  })
}
