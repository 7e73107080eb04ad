import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, renameSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Failure } from '../core/failure.ts'
import { toFailure } from '../core/to-failure.ts'
import { SCHEMA_VERSION, connect, schemaVersionOf } from '../db/sqlite/connect.ts'
import { MEDIA_NAME, mediaFiles } from './back-up.ts'
import { LIBRARY_FILE, backupPath } from './open-file.ts'
import { readTar } from './tar.ts'

export interface Restored {
  items: number
  media: number
  /** Where the library that stood here lies now. */
  kept: string | undefined
}

/**
 * Puts a backup (or the bare file of a library) in the place of the library in `folder`. Everything is unpacked and checked
 * first; the library that stands there is moved into its `backups` folder and never written over. The restored library draws
 * a new replica number. Throws `file_not_found`, `damaged_file`, `library_too_new`, `library_locked`.
 */
export async function restoreBackup(folder: string, source: string, now: Date): Promise<Restored> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const staging = await mkdtemp(join(folder, '.restore-'))
  try {
    await unpack(source, staging)
    const incoming = join(staging, LIBRARY_FILE)
    const present = join(folder, LIBRARY_FILE)
    const standing = existsSync(present) ? release(present) : { numbers: [], whole: true }
    const items = prepare(incoming, source, standing.numbers)
    const media = await mediaFiles(join(staging, 'media'))
    for (const { name, path } of media) {
      const target = join(folder, name)
      if (existsSync(target)) continue
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await rename(path, target)
    }
    const kept = existsSync(present)
      ? setAside(present, backupPath(folder, standing.whole ? 'before-restore' : 'damaged', now))
      : undefined
    try {
      renameSync(incoming, present)
    } catch (error) {
      if (kept !== undefined) renameSync(kept, present)
      throw error
    }
    return { items, media: media.length, kept }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function unpack(source: string, staging: string): Promise<void> {
  if ((await firstBytes(source)).startsWith('SQLite format 3\0')) {
    await copyFile(source, join(staging, LIBRARY_FILE))
    // Of a program that was killed: what it committed last is only there.
    if (existsSync(`${source}-wal`)) await copyFile(`${source}-wal`, join(staging, `${LIBRARY_FILE}-wal`))
    return
  }
  try {
    const bytes = createReadStream(source).pipe(createGunzip())
    for await (const { name, content } of readTar(bytes)) {
      const path = placeOf(name)
      if (path === undefined) continue
      const target = join(staging, path)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      const hash = createHash('sha256')
      await pipeline(
        Readable.from(content),
        async function* (chunks: AsyncIterable<Uint8Array>) {
          for await (const chunk of chunks) {
            hash.update(chunk)
            yield chunk
          }
        },
        createWriteStream(target, { mode: 0o600 }),
      )
      const named = path.split('/').at(-1)!
      if (MEDIA_NAME.test(named) && hash.digest('hex') !== named) throw new Error(`${named} is damaged`)
    }
  } catch (cause) {
    throw damaged(source, cause)
  }
  if (!existsSync(join(staging, LIBRARY_FILE))) throw damaged(source, new Error('no library in it'))
}

/** Where an entry of a backup goes; nothing else is ever written. */
function placeOf(name: string): string | undefined {
  if (name === LIBRARY_FILE) return name
  return /^media\/(?:[0-9a-f]{2}\/)*[0-9a-f]{64}$/.test(name) ? name : undefined
}

async function firstBytes(path: string): Promise<string> {
  try {
    const handle = await open(path)
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0)
      return buffer.toString('latin1', 0, bytesRead)
    } finally {
      await handle.close()
    }
  } catch (cause) {
    throw new Failure('file_not_found', `The backup ${path} cannot be read.`, {
      hint: 'Check the path. `commonplace backup` writes one, and the `backups` folder of a library holds older states of it.',
      cause,
    })
  }
}

/**
 * Checks what is to be restored and makes it draw a new replica number, one that neither it nor the library before it ever
 * used: their counters must not be given out twice. Answers with the number of items.
 */
function prepare(incoming: string, source: string, taken: readonly number[]): number {
  try {
    const database = connect(incoming)
    try {
      const version = schemaVersionOf(database)
      if (version > SCHEMA_VERSION) {
        throw new Failure(
          'library_too_new',
          `The backup was made by a newer Commonplace (layout ${version}).`,
          {
            hint: 'Upgrade Commonplace, then restore it. Nothing was changed.',
          },
        )
      }
      const checked = database.prepare('pragma quick_check').get() as { quick_check?: string }
      if (checked.quick_check !== 'ok' || version < 1) throw damaged(source, new Error(checked.quick_check))
      database.exec('pragma journal_mode = delete')
      database.prepare('update replica set current = 0').run()
      const note = database.prepare(
        `insert or ignore into replica (number, counter, current, file_mark) values (?, 0, 0, '')`,
      )
      for (const number of taken) note.run(number)
      const { items } = database
        .prepare('select count(*) as items from source where trashed_at is null')
        .get() as {
        items: number
      }
      return items
    } finally {
      database.close()
    }
  } catch (error) {
    const failure = toFailure(error)
    throw failure.code === 'library_damaged' || failure.code === 'internal_error'
      ? damaged(source, error)
      : failure
  }
}

/**
 * Makes sure that no other process has the library open, which would go on writing to a file that is no longer there, and
 * takes its log into it. Answers with the replica numbers it ever used; a damaged library has none to tell.
 */
function release(present: string): { numbers: number[]; whole: boolean } {
  try {
    const database = connect(present, { busyMs: 2_000 })
    try {
      // Only the sole connection may leave write-ahead logging: https://sqlite.org/wal.html
      const row = database.prepare('pragma journal_mode = delete').get() as { journal_mode?: string }
      if (row.journal_mode !== 'delete') throw inUse(undefined)
      const numbers = database.prepare('select number from replica').all() as { number: number }[]
      return { numbers: numbers.map(({ number }) => number), whole: true }
    } finally {
      database.close()
    }
  } catch (error) {
    const failure = toFailure(error)
    if (failure.code === 'library_locked') throw inUse(error)
    return { numbers: [], whole: false }
  }
}

const inUse = (cause: unknown): Failure =>
  new Failure('library_locked', 'Another program has the library open.', {
    hint: 'Quit the assistants that use it and wait for `commonplace work` to end, then restore again. Nothing was changed.',
    cause,
  })

/** Moves a library file away, with what SQLite keeps beside it. */
function setAside(present: string, target: string): string {
  for (const suffix of ['-wal', '-shm']) {
    if (existsSync(present + suffix)) renameSync(present + suffix, target + suffix)
  }
  renameSync(present, target)
  return target
}

const damaged = (source: string, cause: unknown): Failure =>
  new Failure('damaged_file', `${source} is no whole backup of a library.`, {
    hint: 'Take another one: the `backups` folder of the library holds older states. Nothing was changed.',
    cause,
  })
