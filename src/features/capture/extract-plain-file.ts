import { readPlainFileText } from './plain-file-text.ts'
import type { GivenPlainFile, PlainFileText } from './plain-file-text.ts'
import { readInWorker, tooLarge } from './reading-worker.ts'

export interface ExtractPlainFileOptions {
  signal?: AbortSignal
  /** Milliseconds for the file; 30,000 when absent. */
  deadlineMs?: number
  /** Milliseconds for a rough reading where that time was not enough; 10,000 when absent. */
  roughDeadlineMs?: number
}

const LARGEST_FILE = 64 * 2 ** 20
/** Bytes up to which a file is read at once, where it was asked for: no Markdown of that length takes long. */
const SMALL_FILE = 2048

/**
 * Reads a Markdown or text file, in the worker unless it is small. What takes too long or too much memory is read once more,
 * roughly, which its `warnings` say.
 *
 * Fails with `too_large`, `timed_out`, `cancelled` or `damaged_file`. A file without words is no failure: its `words` are 0.
 */
export async function extractPlainFile(
  file: GivenPlainFile,
  options: ExtractPlainFileOptions = {},
): Promise<PlainFileText> {
  const { signal, deadlineMs = 30_000, roughDeadlineMs = 10_000 } = options
  if (file.bytes.byteLength > LARGEST_FILE) throw tooLarge('file')
  if (file.bytes.byteLength <= SMALL_FILE) return readPlainFileText(file)
  return readInWorker({ file }, { signal, deadlineMs, roughDeadlineMs, what: 'file' })
}
