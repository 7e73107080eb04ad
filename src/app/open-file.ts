import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { SCHEMA_VERSION, connect, schemaVersionOf, type ConnectOptions } from '../db/sqlite/connect.ts'

export const LIBRARY_FILE = 'library.db'

export interface OpenFile {
  folder: string
  file: string
  database: DatabaseSyncInstance
  readOnly: boolean
  /** Whether the file has to be made or brought to a newer layout before it is used. */
  stale: boolean
}

/**
 * Opens the file of the library in `folder`, without loading anything that reads or writes it: a server answers its first
 * request before that. Throws what SQLite throws.
 */
export function openFile(folder: string, options: ConnectOptions = {}): OpenFile {
  const { readOnly = false } = options
  const file = join(folder, LIBRARY_FILE)
  if (!readOnly) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const database = connect(file, options)
  return { folder, file, database, readOnly, stale: schemaVersionOf(database) !== SCHEMA_VERSION }
}

/** What tells this file from a copy of it. */
export const fileMark = (file: string): string => String(statSync(file, { bigint: true }).ino)

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
