import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { MediaFile } from '../core/outside.ts'
import { isUnchanged, rangeOf } from './conditional.ts'
import { httpProblem, sendProblem } from './problem.ts'

/** Whatever a stored file is: it cannot run here, nor reach anything, nor be a part of another site's page. */
export const HARMLESS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
} as const

/** What is one reader's is no other's, though they sit at the same browser. */
export const OWN = { vary: 'Authorization, Cookie' } as const

export interface SentFile {
  file: MediaFile
  /** SHA-256 of its bytes, which is its entity tag as well. */
  hash: string
  headers: Record<string, string>
}

/** Sends a file, or the stretch of it that is asked for (RFC 9110 §14). Of a file that is damaged the end never comes. */
export async function sendFile(
  req: IncomingMessage,
  res: ServerResponse,
  { file, hash, headers }: SentFile,
): Promise<void> {
  const etag = `"${hash}"`
  const common = { ...HARMLESS, ...headers, etag, 'accept-ranges': 'bytes' }
  if (isUnchanged(req, etag)) {
    res.writeHead(304, { ...OWN, etag, 'cache-control': headers['cache-control'] }).end()
    return
  }
  const { size } = file
  const range = rangeOf(req, size, etag)
  if (range === 'none') {
    return sendProblem(res, httpProblem(416, `The file has ${size} bytes.`, 'Ask for a part that it has.'), {
      'content-range': `bytes */${size}`,
    })
  }
  const whole = range === 'whole'
  const { start, end } = whole ? { start: 0, end: size - 1 } : range
  res.writeHead(whole ? 200 : 206, {
    ...common,
    'content-length': end - start + 1,
    ...(!whole && { 'content-range': `bytes ${start}-${end}/${size}` }),
  })
  if (req.method === 'HEAD' || size === 0) {
    res.end()
    return
  }
  const parts = file.read(start, end)
  await sendParts(res, whole ? Readable.from(checked(parts, hash), { objectMode: false }) : parts)
}

/** Gives the parts of an answer on. A client that leaves is no failure; a source that fails ends the connection. */
export async function sendParts(
  res: ServerResponse,
  ...parts: [Readable, ...NodeJS.ReadWriteStream[]]
): Promise<void> {
  try {
    await pipeline([...parts, res])
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE') return
    res.destroy()
    throw error
  }
}

/** The last part is held back until all of them are what their name says. */
async function* checked(parts: AsyncIterable<Buffer>, hash: string): AsyncGenerator<Buffer> {
  const sum = createHash('sha256')
  let held: Buffer | undefined
  for await (const part of parts) {
    sum.update(part)
    if (held) yield held
    held = part
  }
  if (sum.digest('hex') !== hash) throw new Error('A media file is damaged')
  if (held) yield held
}
