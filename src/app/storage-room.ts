import { Failure } from '../core/failure.ts'
import type { MediaStore } from '../core/outside.ts'
import type { Accounts } from '../features/accounts/accounts.ts'
import { allowanceOf, type Allowance } from '../features/allowances/allowance-store.ts'
import {
  countAnew,
  giveRoomBack,
  keepStoredMedia,
  storedMedia,
  takeRoom,
} from '../features/allowances/storage-store.ts'
import { hashOf } from '../outside/hash-of.ts'

/** Bytes that a reader has stored, and may store (0: no limit). */
export interface Storage {
  mediaBytes: number
  textBytes: number
  quotaBytes: number
}

/** The room that one reader has for pages, files and texts. */
export interface StorageRoom {
  storage(): Promise<Storage>
  /** Takes room for a new file. Throws `quota_exceeded`. */
  take(bytes: number): Promise<void>
  /** For what was not stored after all. */
  giveBack(bytes: number): Promise<void>
  /** Something was removed. */
  removed(): Promise<void>
}

export interface StorageRoomParts {
  accounts: Pick<Accounts, 'db' | 'now'>
  readerId: string
  configured: Allowance
  /** Counts all files of the library. */
  mediaBytes(): Promise<number>
  /** Adds up the texts. */
  textBytes(): Promise<number>
}

/** What other programs put into a library beside us is seen after this. */
const COUNTED_FOR_MS = 24 * 3_600_000

/**
 * What is stored counts as it lies there: media once each, texts in all their versions and forms. Media are counted in the
 * accounts as they come, so that replicas know of each other, and counted anew once a day and after something was removed.
 */
export function createStorageRoom(parts: StorageRoomParts): StorageRoom {
  const { accounts, readerId, configured } = parts
  const { db } = accounts

  async function counted(): Promise<number> {
    const known = await storedMedia(db, readerId)
    const now = accounts.now()
    if (known && Date.parse(known.countedAt) > now.getTime() - COUNTED_FOR_MS) return known.bytes
    const bytes = await parts.mediaBytes()
    await keepStoredMedia(db, readerId, { bytes, countedAt: now.toISOString() })
    return bytes
  }

  return {
    async storage() {
      const { quotaBytes } = await allowanceOf(db, readerId, configured)
      return { mediaBytes: await counted(), textBytes: await parts.textBytes(), quotaBytes }
    },
    async take(bytes) {
      const { quotaBytes } = await allowanceOf(db, readerId, configured)
      await counted()
      const most = quotaBytes === 0 ? undefined : quotaBytes - (await parts.textBytes())
      if (await takeRoom(db, readerId, bytes, most)) return
      if (most === undefined) {
        throw new Failure('not_logged_in', 'There is no such reader any more.', { hint: 'Sign in again.' })
      }
      throw new Failure('quota_exceeded', `The library has reached its limit of ${megabytes(quotaBytes)}.`, {
        hint: 'Delete what is no longer wanted and empty the trash, or ask whoever runs this server for more room. Nothing that is there was touched.',
        details: { quotaBytes },
      })
    },
    giveBack: (bytes) => giveRoomBack(db, readerId, bytes),
    removed: () => countAnew(db, readerId),
  }
}

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1_000_000).toLocaleString('en')} MB`

/** The media of a library that takes no more than its reader has room for; a file that is there already takes none. */
export function limitMedia(store: MediaStore, room: StorageRoom): MediaStore {
  return {
    ...store,
    async put(bytes) {
      const hash = await hashOf(bytes)
      if (await store.has(hash)) return store.put(bytes)
      await room.take(bytes.length)
      try {
        return await store.put(bytes)
      } catch (error) {
        await room.giveBack(bytes.length)
        throw error
      }
    },
    async remove(hash, options) {
      await store.remove(hash, options)
      await room.removed()
    },
  }
}
