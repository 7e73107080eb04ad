import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { schemaVersionOf } from '../db/sqlite/connect.ts'
import { LIBRARY_FILE, snapshot, type OpenFile } from './open-file.ts'
import { writeTar, type TarEntry } from './tar.ts'

/** What a backup says of itself. */
const BACKUP_FACTS = 'commonplace.json'
const BACKUP_FORMAT = 1
const MEDIA_FOLDER = 'media'
/** A media file is named by the SHA-256 of its bytes. */
export const MEDIA_NAME = /^[0-9a-f]{64}$/

export interface BackedUp {
  path: string
  /** Bytes of the backup. */
  bytes: number
  media: number
}

/**
 * Writes the library as it is at this instant, with its media, to one `.tar.gz` that appears whole or not at all. Other
 * processes may go on reading and writing meanwhile. Throws what the file system and SQLite throw.
 */
export async function backUp(
  file: OpenFile,
  target: string,
  {
    now,
    signal,
    onFile,
  }: { now: Date; signal?: AbortSignal; onFile?: (done: number, total: number) => void },
): Promise<BackedUp> {
  await mkdir(dirname(target), { recursive: true })
  const staging = await mkdtemp(join(dirname(target), '.commonplace-backup-'))
  try {
    const copy = snapshot(file, join(staging, LIBRARY_FILE))
    const media = await mediaFiles(join(file.folder, MEDIA_FOLDER))
    const facts = Buffer.from(
      `${JSON.stringify({ format: BACKUP_FORMAT, schema: schemaVersionOf(file.database), madeAt: now.toISOString() })}\n`,
    )
    async function* entries(): AsyncGenerator<TarEntry> {
      yield { name: BACKUP_FACTS, size: facts.length, content: Readable.from([facts]) }
      yield await entryOf(LIBRARY_FILE, copy)
      for (const [at, { name, path }] of media.entries()) {
        onFile?.(at, media.length)
        yield await entryOf(name, path)
      }
    }
    const partial = join(staging, 'backup')
    await pipeline(
      Readable.from(writeTar(entries(), now)),
      createGzip(),
      createWriteStream(partial, { mode: 0o600, flush: true }),
      ...(signal ? [{ signal }] : []),
    )
    const { size } = await stat(partial)
    await rename(partial, target)
    return { path: target, bytes: size, media: media.length }
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function entryOf(name: string, path: string): Promise<TarEntry> {
  return { name, size: (await stat(path)).size, content: createReadStream(path) }
}

/** Every file of the media folder, with its name in a backup. */
export async function mediaFiles(folder: string): Promise<{ name: string; hash: string; path: string }[]> {
  const files: { name: string; hash: string; path: string }[] = []
  let entries: string[]
  try {
    entries = await readdir(folder, { recursive: true })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
  for (const entry of entries.toSorted()) {
    const parts = entry.split(/[\\/]/)
    const hash = parts.at(-1) ?? ''
    if (MEDIA_NAME.test(hash))
      files.push({ name: [MEDIA_FOLDER, ...parts].join('/'), hash, path: join(folder, entry) })
  }
  return files
}
