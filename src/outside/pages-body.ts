import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliDecompress, constants, gunzip, inflate, inflateRaw } from 'node:zlib'
import { Failure } from '../core/failure.ts'

/**
 * The body of a response, decompressed, at most `maxBytes`. What is larger is refused, never returned in part. Bytes on
 * the wire count as well: a compressed stream can be endless and yet hold nothing. Throws `too_large`, `fetch_failed`.
 */
export async function readBody(
  body: Readable,
  headers: Record<string, string>,
  maxBytes: number,
): Promise<Uint8Array> {
  const decompress = decompressorFor(headers['content-encoding'])
  if (Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    const bytes: Buffer = chunk
    size += bytes.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(bytes)
  }
  const wire = Buffer.concat(chunks, size)
  if (!decompress || size === 0) return wire
  chunks.length = 0
  try {
    return await decompress(wire, maxBytes)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(maxBytes)
    throw new Failure('fetch_failed', 'The page arrived damaged: it cannot be decompressed.', {
      hint: 'Try again later, or save the page from the browser and give the file.',
      cause,
    })
  }
}

type Decompress = (wire: Buffer, maxOutputLength: number) => Promise<Buffer>

/** A body that ends early is shown as far as it goes, as browsers do: hence the lenient last flush. */
const zlibFlush = { finishFlush: constants.Z_SYNC_FLUSH }
const [gunzipAll, inflateAll, inflateRawAll, brotliAll] = [
  promisify(gunzip),
  promisify(inflate),
  promisify(inflateRaw),
  promisify(brotliDecompress),
]
const unzip: Decompress = (wire, maxOutputLength) => gunzipAll(wire, { ...zlibFlush, maxOutputLength })

const DECOMPRESSORS: Record<string, Decompress> = {
  gzip: unzip,
  'x-gzip': unzip,
  br: (wire, maxOutputLength) =>
    brotliAll(wire, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength }),
  // Servers send both what the name says (zlib, RFC 9110 8.4.1.2) and bare deflate; zlib's first byte names method 8.
  deflate: (wire, maxOutputLength) =>
    (((wire[0] ?? 0) & 0x0f) === 8 ? inflateAll : inflateRawAll)(wire, { ...zlibFlush, maxOutputLength }),
}

function decompressorFor(header: string | undefined): Decompress | undefined {
  const encoding = (header ?? '').trim().toLowerCase()
  if (encoding === '' || encoding === 'identity') return undefined
  const known = Object.hasOwn(DECOMPRESSORS, encoding) ? DECOMPRESSORS[encoding] : undefined
  if (known) return known
  throw new Failure(
    'fetch_failed',
    encoding.includes(',')
      ? 'The server compressed the page more than once over, which is refused.'
      : 'The server compressed the page in a way that was not asked for.',
    { hint: 'Save the page from the browser and give the file.' },
  )
}

function tooLarge(maxBytes: number): Failure {
  const megabytes = (maxBytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 })
  return new Failure('too_large', `The page is larger than ${megabytes} MB.`, {
    hint: 'Give a smaller page, or the article’s own address instead of a collection.',
    details: { maxBytes },
  })
}
