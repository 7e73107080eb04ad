import { Failure } from '../../core/failure.ts'
import { runKillable } from './killable-worker.ts'
import { readPlainFileText } from './plain-file-text.ts'
import type { GivenPlainFile, PlainFileText } from './plain-file-text.ts'

export interface ExtractPlainFileOptions {
  signal?: AbortSignal
  /** Milliseconds for the file; 30,000 when absent. A rough reading gets as long again. */
  deadlineMs?: number
}

const LARGEST_FILE = 64 * 2 ** 20
/** Bytes up to which a file is read where it was asked for, in milliseconds; what is larger would keep a server from others. */
const SMALL_FILE = 24 * 1024

/**
 * Reads a Markdown or text file, in a worker of its own unless it is small. What takes too long or too much memory is read
 * once more, roughly, which its `warnings` say.
 *
 * Fails with `too_large`, `timed_out` or `cancelled`. A file without words is no failure: its `words` are 0.
 */
export async function extractPlainFile(
  file: Omit<GivenPlainFile, 'roughly'>,
  options: ExtractPlainFileOptions = {},
): Promise<PlainFileText> {
  if (file.bytes.byteLength > LARGEST_FILE) {
    throw new Failure('too_large', 'The file is larger than 64 MB.', { hint: 'Split it and add the parts.' })
  }
  if (file.bytes.byteLength <= SMALL_FILE) return readPlainFileText(file)
  try {
    return await readInWorker(file, options)
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'cancelled') throw error
    return await readInWorker({ ...file, roughly: true }, options)
  }
}

function readInWorker(file: GivenPlainFile, options: ExtractPlainFileOptions): Promise<PlainFileText> {
  const bytes = Uint8Array.from(file.bytes)
  return runKillable<PlainFileText>('plain-file-worker', { ...file, bytes } satisfies GivenPlainFile, {
    signal: options.signal,
    deadlineMs: options.deadlineMs ?? 30_000,
    heapMb: 384,
    growthMb: 500,
    transfer: [bytes.buffer],
    what: 'file',
  })
}
