import { createHash } from 'node:crypto'
import { sliceCodePoints } from './text.ts'

/** Longest key in UTF-16 units: an entry of PostgreSQL's indexes has room for 2,700 bytes. */
const LONGEST = 800
const KEPT = 400

/** A key for an index: one that is too long keeps its beginning, and its digest for the rest. */
export function boundKey(key: string): string {
  if (key.length <= LONGEST) return key
  return `${sliceCodePoints(key, 0, KEPT)}#${createHash('sha256').update(key).digest('base64url')}`
}
