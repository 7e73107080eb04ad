import { randomUUID } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { Failure } from '../core/failure.ts'
import type { MediaStore } from '../core/outside.ts'
import { hashOf } from './hash-of.ts'

export interface MediaFolderOptions {
  /** Told of a file whose bytes are not those of its name any more; it reads as absent and is replaced when put again. */
  onDamaged?: (hash: string) => void
}

const NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW
const ABANDONED_AFTER_MS = 60 * 60 * 1000

/**
 * Keeps files in a folder by the SHA-256 of their bytes: `ab/cd/abcd…`. Several processes may use it at once: a file
 * appears whole, by a rename, or not at all. Names are hashes and nothing else, and links are not followed.
 *
 * `put` fails with `disk_full` or `write_failed`.
 */
export function openMediaFolder(folder: string, options: MediaFolderOptions = {}): MediaStore {
  const unfinished = join(folder, 'unfinished')
  let swept: Promise<void> | undefined

  const fileOf = (hash: string): string | undefined =>
    /^[0-9a-f]{64}$/u.test(hash) ? join(folder, hash.slice(0, 2), hash.slice(2, 4), hash) : undefined

  const get = async (hash: string): Promise<Uint8Array | undefined> => {
    const file = fileOf(hash)
    const bytes = file === undefined ? undefined : await readOwn(file)
    if (bytes === undefined) return undefined
    if ((await hashOf(bytes)) === hash) return bytes
    options.onDamaged?.(hash)
    return undefined
  }

  return {
    get,
    async put(bytes) {
      const hash = await hashOf(bytes)
      const file = fileOf(hash)
      if (file === undefined || ((await get(hash)) !== undefined && (await touch(file)))) return hash
      try {
        await mkdir(dirname(file), { recursive: true })
        await mkdir(unfinished, { recursive: true })
        swept ??= sweep(unfinished)
        await swept
        await writeWhole(join(unfinished, `${hash}.${randomUUID()}`), file, bytes)
      } catch (error) {
        throw writeFailure(error)
      }
      return hash
    },
    async open(hash) {
      const file = fileOf(hash)
      const found = file === undefined ? undefined : await lstat(file).catch(() => undefined)
      if (file === undefined || !found?.isFile()) return undefined
      return {
        size: found.size,
        read: (start, end) => Readable.from(stretch(file, start, end), { objectMode: false }),
      }
    },
    async has(hash) {
      const file = fileOf(hash)
      if (file === undefined) return false
      const found = await lstat(file).catch(() => undefined)
      return found?.isFile() ?? false
    },
    async remove(hash, { putBefore } = {}) {
      const file = fileOf(hash)
      if (file === undefined) return
      const found = putBefore && (await lstat(file).catch(() => undefined))
      if (found && found.mtimeMs > putBefore.getTime()) return
      await rm(file, { force: true })
    },
  }
}

async function readOwn(file: string): Promise<Uint8Array | undefined> {
  try {
    const handle = await open(file, NO_FOLLOW)
    try {
      return new Uint8Array(await handle.readFile())
    } finally {
      await handle.close()
    }
  } catch (error) {
    // ELOOP: a link stands where the file should.
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR'].includes(codeOf(error))) return undefined
    throw error
  }
}

async function* stretch(file: string, start: number, end: number): AsyncGenerator<Buffer> {
  const handle = await open(file, NO_FOLLOW)
  yield* handle.createReadStream({ start, end })
}

/** Says that a file was put just now; false where it has gone meanwhile. */
async function touch(file: string): Promise<boolean> {
  const now = new Date()
  try {
    await utimes(file, now, now)
    return true
  } catch {
    return existsSync(file)
  }
}

/** The bytes reach the disk before the name does, and the name before anybody is told of it. */
async function writeWhole(temporary: string, file: string, bytes: Uint8Array): Promise<void> {
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  }
  await syncFolder(dirname(file))
}

async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    // Windows cannot open folders; there a rename is durable without it.
    if (!['EPERM', 'EISDIR', 'EACCES', 'EINVAL'].includes(codeOf(error))) throw error
  }
}

/** Removes what a process that was killed left half written. */
async function sweep(unfinished: string): Promise<void> {
  for (const name of await readdir(unfinished)) {
    const file = join(unfinished, name)
    const found = await lstat(file).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) await rm(file, { force: true })
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function writeFailure(error: unknown): Failure {
  if (['ENOSPC', 'EDQUOT'].includes(codeOf(error))) {
    return new Failure('disk_full', 'There is no room left on the disk for a file of the library.', {
      hint: 'Make room on the disk, then try again. Nothing was lost.',
      cause: error,
    })
  }
  return new Failure('write_failed', 'A file of the library could not be written.', {
    hint: 'Check that the library folder exists and that you may write to it.',
    cause: error,
  })
}
