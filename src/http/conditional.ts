import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Names a text by what it says: the same in every process. 132 bits. */
export const contentTag = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22)

/** Entity tags compared weakly, as `If-None-Match` does (RFC 9110 §8.8.3.2, §13.1.2). */
export function isUnchanged(req: IncomingMessage, etag: string): boolean {
  const given = req.headers['if-none-match']
  if (given === undefined) return false
  if (given.trim() === '*') return true
  const opaque = opaqueOf(etag)
  return (given.match(/(?:W\/)?"[^"]*"/g) ?? []).some((one) => opaqueOf(one) === opaque)
}

const opaqueOf = (etag: string): string => etag.replace(/^W\//, '')

/** A stretch of bytes, both ends included; `whole` where the request wants all; `none` where there is no such stretch. */
export type Range = { start: number; end: number } | 'whole' | 'none'

/**
 * The range that a GET asks for (RFC 9110 §14.2). Several at once are a way to make a server send a file many times over: they
 * get the whole, as does what cannot be read and a range of another version.
 */
export function rangeOf(req: IncomingMessage, size: number, etag: string): Range {
  const { range, 'if-range': condition } = req.headers
  if (req.method !== 'GET' || range === undefined) return 'whole'
  // A date would do where the file's were told; only a strong tag tells the same bytes.
  if (condition !== undefined && (condition !== etag || etag.startsWith('W/'))) return 'whole'
  const found = /^bytes\s*=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range)
  if (!found) return 'whole'
  const [, first = '', last = ''] = found
  if (first === '' && last === '') return 'whole'
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'none' : { start: size - length, end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= size ? 'none' : { start, end }
}
