import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { Failure } from '../core/failure.ts'
import type { FileMark } from '../db/replica.ts'
import { SCHEMA_VERSION, connect, schemaVersionOf, type ConnectOptions } from '../db/sqlite/connect.ts'

export const LIBRARY_FILE = 'library.db'

export interface OpenFile {
  folder: string
  file: string
  database: DatabaseSyncInstance
  readOnly: boolean
  /** What it was known by to the file system when it was opened. */
  inode: number
  /** Whether the file has to be made or brought to a newer layout before it is used. */
  stale: boolean
}

/**
 * Opens the file of the library in `folder`, without loading anything that reads or writes it: a server answers its first
 * request before that. Throws `unavailable` and what SQLite throws.
 */
export function openFile(folder: string, options: ConnectOptions = {}): OpenFile {
  const { readOnly = false } = options
  const file = join(folder, LIBRARY_FILE)
  if (!readOnly) makeFolder(folder)
  const database = connect(file, options)
  return {
    folder,
    file,
    database,
    readOnly,
    inode: statSync(file).ino,
    stale: schemaVersionOf(database) !== SCHEMA_VERSION,
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new Failure('unavailable', `The folder of the library cannot be made: ${folder}.`, {
      hint: 'Name a folder that you may write to with --library or COMMONPLACE_LIBRARY, or change whose it is.',
      cause: error,
    })
  }
}

/**
 * What tells this file from a copy of it: its inode and, where the file system knows it, when that was made. An inode alone is
 * given to the next file when its own is removed.
 */
export function fileMark(file: string): FileMark {
  const { ino, birthtimeNs, ctimeNs } = statSync(file, { bigint: true })
  // Where no birth is recorded, Node gives none or the last change: https://nodejs.org/api/fs.html#stat-time-values
  const isKnown = birthtimeNs > 0n && birthtimeNs < ctimeNs
  return { inode: String(ino), ...(isKnown && { born: String(birthtimeNs) }) }
}

/**
 * Writes a whole copy of the library, as it is at this instant, to a new file. Answers with its path. Throws what SQLite
 * throws; a half-written copy is removed.
 */
export function snapshot({ database }: Pick<OpenFile, 'database'>, target: string): string {
  const partial = `${target}.partial`
  rmSync(partial, { force: true })
  try {
    database.prepare('vacuum into ?').run(partial)
    renameSync(partial, target)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
  return target
}

/** A name in the library's backup folder that is not taken. */
export function backupPath(folder: string, label: string, now: Date): string {
  const backups = join(folder, 'backups')
  mkdirSync(backups, { recursive: true, mode: 0o700 })
  const stamp = now.toISOString().replaceAll(/[-:]/g, '').replace(/\..*/, '')
  for (let n = 1; ; n++) {
    const path = join(backups, `${stamp}-${label}${n > 1 ? `-${n}` : ''}.db`)
    if (!existsSync(path)) return path
  }
}
