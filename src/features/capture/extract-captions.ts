import { readCaptionText, type CaptionText, type GivenCaptions } from './caption-text.ts'
import { readInWorker, tooLarge } from './reading-worker.ts'

const LARGEST_FILE = 32 * 2 ** 20
/** Bytes up to which captions are read at once, where they were asked for: those of some hours take a tenth of a second. */
const SMALL_FILE = 512 * 2 ** 10

/**
 * Reads captions, in the worker where they are many. Fails with `damaged_file` (no captions), `no_text`, `too_large`,
 * `timed_out` or `cancelled`.
 */
export async function extractCaptions(
  captions: GivenCaptions,
  { signal }: { signal?: AbortSignal } = {},
): Promise<CaptionText> {
  if (captions.bytes.byteLength > LARGEST_FILE) throw tooLarge('file')
  if (captions.bytes.byteLength <= SMALL_FILE) return readCaptionText(captions)
  return readInWorker({ captions }, { signal, deadlineMs: 30_000, roughDeadlineMs: 30_000, what: 'file' })
}
