import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Coding = 'br' | 'gzip'

/** Less is never compressed: a packet is sent either way. */
export const LEAST_BYTES = 1024
/** Answers that are made for each request: below this, compressing takes longer than it saves on any line. */
export const LEAST_MADE_BYTES = 8 * 1024

const gzipped = promisify(gzip)
const brotlied = promisify(brotliCompress)

/**
 * The coding that a client takes best, of `order` the first among equals (RFC 9110 §12.5.3). Undefined where it takes none, or
 * wants the text as it is at least as much.
 */
export function codingFor(
  req: IncomingMessage,
  order: readonly Coding[] = ['br', 'gzip'],
): Coding | undefined {
  const accept = req.headers['accept-encoding']
  if (typeof accept !== 'string' || accept === '' || accept === 'identity') return undefined
  const weights = new Map<string, number>()
  for (const part of accept.slice(0, 500).toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight) || 0)
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0
  const best = order.toSorted((a, b) => weightOf(b) - weightOf(a))[0]
  const plain = weights.get('identity') ?? 0
  return best !== undefined && weightOf(best) > 0 && weightOf(best) >= plain ? best : undefined
}

/** Compresses what is made for one request: fast, since the client waits for it. */
export function compress(text: string | Buffer, coding: Coding): Promise<Buffer> {
  return coding === 'gzip'
    ? gzipped(text, { level: 4 })
    : brotlied(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
}

/** Compresses what stays the same for all: well, since it is done once. */
export function compressWell(text: string | Buffer, coding: Coding): Promise<Buffer> {
  return coding === 'gzip'
    ? gzipped(text, { level: 9 })
    : brotlied(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
}
