import { createHash } from 'node:crypto'
import { setImmediate as othersTurn } from 'node:timers/promises'

/** What is hashed at one go: a few milliseconds. */
const STRETCH = 2 * 1024 * 1024

/** SHA-256 in hex. Long files are hashed in turns: hashing is the one thing about them for which all other requests would wait. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let from = 0; from < bytes.length; from += STRETCH) {
    if (from > 0) await othersTurn()
    hash.update(bytes.subarray(from, from + STRETCH))
  }
  return hash.digest('hex')
}
