import { Readable } from 'node:stream'
import type { MediaStore } from '../core/outside.ts'
import { hashOf } from './hash-of.ts'
import { createS3Requests, elementOf, type Answer, type S3Config, type S3Patience } from './s3-requests.ts'

export interface MediaS3Options extends S3Patience {
  /** Told of an object whose bytes are not those of its name any more; it reads as absent and is replaced when put again. */
  onDamaged?: (hash: string) => void
  /** How many files are listed at once; stores give a thousand at most. */
  pageSize?: number
}

/** What lies under a prefix. */
export interface MediaUsage {
  files: number
  bytes: number
}

export interface MediaS3 extends MediaStore {
  /** Removes everything under the prefix, for an account that goes; gives how many files that were. */
  removeAll(): Promise<number>
  usage(): Promise<MediaUsage>
  /** Asks for nothing but an answer. Throws what keeps the store from being used. */
  check(): Promise<void>
}

/** Requests at once while a prefix is emptied. */
const REMOVALS = 8
const PREFIX = /^[\w-]+(?:\/[\w-]+)*$/

/**
 * Keeps files in an S3-speaking store by the SHA-256 of their bytes, under `prefix/`. The store itself checks that what comes in
 * is what its name says, and an object appears whole or not at all; what comes out is checked here. Any number of processes may
 * use it at once. One object at a time is held in memory.
 * Throws `unavailable` where the store is gone or refuses us.
 */
export function openMediaS3(config: S3Config, prefix: string, options: MediaS3Options = {}): MediaS3 {
  if (!PREFIX.test(prefix)) throw new RangeError('A prefix is names with slashes between')
  const bucket = config.url.replace(/\/+$/, '')
  const { pageSize = 1_000 } = options
  const { ask, stretch } = createS3Requests(config, options)

  const addressOf = (hash: string): string | undefined =>
    /^[0-9a-f]{64}$/.test(hash) ? `${bucket}/${prefix}/${hash}` : undefined

  /** What the store has under an address; undefined where it has nothing. */
  async function look(url: string): Promise<Answer | undefined> {
    const answer = await ask('HEAD', url)
    if (answer.status !== 404) return answer
    // An answer to HEAD has no body to say what there is not: the object, or the bucket.
    const whole = await ask('GET', url)
    return whole.status === 404 ? undefined : whole
  }

  async function* list(): AsyncGenerator<{ key: string; bytes: number }[]> {
    let next: string | undefined
    do {
      const query = new URLSearchParams({
        'list-type': '2',
        'max-keys': String(pageSize),
        prefix: `${prefix}/`,
        ...(next !== undefined && { 'continuation-token': next }),
      })
      const answer = await ask('GET', `${bucket}?${query}`)
      const xml = Buffer.from(answer.bytes).toString('utf8')
      yield [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, one = '']) => ({
        key: elementOf(one, 'Key') ?? '',
        bytes: Number(elementOf(one, 'Size') ?? 0),
      }))
      next = elementOf(xml, 'IsTruncated') === 'true' ? elementOf(xml, 'NextContinuationToken') : undefined
    } while (next !== undefined)
  }

  return {
    async put(bytes) {
      const hash = await hashOf(bytes)
      await ask('PUT', `${bucket}/${prefix}/${hash}`, { body: { bytes, hash } })
      return hash
    },
    async get(hash) {
      const url = addressOf(hash)
      if (url === undefined) return undefined
      // What came broken may only have suffered on the way.
      for (let look = 0; look < 2; look++) {
        const answer = await ask('GET', url)
        if (answer.status === 404) return undefined
        if ((await hashOf(answer.bytes)) === hash) return answer.bytes
      }
      options.onDamaged?.(hash)
      return undefined
    },
    async open(hash) {
      const url = addressOf(hash)
      const found = url === undefined ? undefined : await look(url)
      if (url === undefined || !found) return undefined
      return {
        size: Number(found.headers.get('content-length')),
        read: (start, end) => Readable.from(stretch(url, start, end), { objectMode: false }),
      }
    },
    async has(hash) {
      const url = addressOf(hash)
      return url !== undefined && (await look(url)) !== undefined
    },
    async remove(hash, { putBefore } = {}) {
      const url = addressOf(hash)
      if (url === undefined) return
      if (putBefore) {
        const found = await look(url)
        // The store tells whole seconds: what was put in that second may be later; where it tells none, it may be of just now.
        const put = Date.parse(found?.headers.get('last-modified') ?? '')
        if (!found || !(put + 999 <= putBefore.getTime())) return
      }
      await ask('DELETE', url)
    },
    async removeAll() {
      let removed = 0
      for await (const page of list()) {
        const keys = page.map(({ key }) => key)
        await Promise.all(
          Array.from({ length: REMOVALS }, async () => {
            for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
              await ask('DELETE', `${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`)
              removed++
            }
          }),
        )
      }
      return removed
    },
    async usage() {
      const usage = { files: 0, bytes: 0 }
      for await (const page of list()) {
        usage.files += page.length
        for (const { bytes } of page) usage.bytes += bytes
      }
      return usage
    },
    async check() {
      await ask('GET', `${bucket}?${new URLSearchParams({ 'list-type': '2', 'max-keys': '1' })}`)
    },
  }
}
