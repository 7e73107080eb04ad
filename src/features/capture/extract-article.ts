import type { Article, GivenPage } from './article.ts'
import { readInWorker, tooLarge } from './reading-worker.ts'

export interface ExtractOptions {
  signal?: AbortSignal
  /** Milliseconds for the page itself; waiting for pages before it does not count. 10,000 unless told. */
  deadlineMs?: number
  /** Milliseconds for a rough reading where that time was not enough; 5,000 unless told. */
  roughDeadlineMs?: number
}

/** Larger pages are refused unread: with scripts and styles gone, 12 million characters may be left (see `limitSource`). */
const MAX_HTML = 32_000_000
const MAX_BYTES = 2 * MAX_HTML

/**
 * Reads the article of a page in the worker. A page that took too long or too much memory, or broke the worker, is read once
 * more, roughly, which its `warnings` say.
 *
 * Throws `too_large` (more than 12 million characters without scripts and styles, or more memory than a page may take),
 * `timed_out`, `cancelled`, `damaged_file`, and where `asked` is given, what `recogniseWall` finds. A page without an article
 * is no failure: its `words` are 0.
 */
export async function extractArticle(page: GivenPage, options: ExtractOptions = {}): Promise<Article> {
  const { signal, deadlineMs = 10_000, roughDeadlineMs = 5_000 } = options
  if (page.html === undefined ? page.bytes.byteLength > MAX_BYTES : page.html.length > MAX_HTML)
    throw tooLarge('page')
  return readInWorker({ page }, { signal, deadlineMs, roughDeadlineMs, what: 'page' })
}
