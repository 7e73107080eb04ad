import { spawn } from 'node:child_process'
import { constants, existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { DatabaseConfig, ServerConfig } from '../config/server.ts'
import { Failure } from '../core/failure.ts'
import { connect, schemaVersionOf } from '../db/sqlite/connect.ts'
import { LOCAL_LIBRARY } from '../features/accounts/reader-store.ts'
import { mediaFiles } from './back-up.ts'
import { LIBRARY_FILE, snapshot } from './open-file.ts'
import { ACCOUNTS_FILE, libraryFolderOf } from './server-on-sqlite.ts'

/** What a backup of a server says of itself; it is written last. */
export const SERVER_BACKUP_FACTS = 'commonplace-server.json'
const FORMAT = 1
const MEDIA_FOLDER = 'media'

export interface ServerBackUp {
  path: string
  bytes: number
  readers: number
  libraries: number
  media: number
  /** Whether the files lie in a store of their own and are not among it. */
  mediaElsewhere: boolean
}

export interface BackUpServerOptions {
  now: Date
  signal?: AbortSignal
  onLibrary?: (done: number, total: number) => void
}

type OnSqlite = Pick<ServerConfig, 'dataFolder' | 'firstLibrary' | 's3'>

/**
 * Copies the accounts and every library of a server on SQLite, each as it is at an instant, with their media, into a new folder
 * that is laid out as a data folder: a server that is started on it goes on from there. Servers and command lines may go on
 * working meanwhile. The folder appears whole or not at all. Accounts are copied first: what was made since then is not among it.
 * Throws what the file system and SQLite throw.
 */
export async function backUpServer(
  config: OnSqlite,
  target: string,
  { now, signal, onLibrary }: BackUpServerOptions,
): Promise<ServerBackUp> {
  checkFree(target)
  const partial = `${target}.partial-${process.pid}`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true, mode: 0o700 })
  try {
    const made: ServerBackUp = {
      path: target,
      bytes: 0,
      readers: 0,
      libraries: 0,
      media: 0,
      mediaElsewhere: config.s3 !== undefined,
    }
    made.bytes += await copyDatabase(join(config.dataFolder, ACCOUNTS_FILE), join(partial, ACCOUNTS_FILE))
    const names = librariesIn(join(partial, ACCOUNTS_FILE))
    made.readers = names.length
    for (const [n, library] of names.entries()) {
      signal?.throwIfAborted()
      onLibrary?.(n, names.length)
      const from = libraryFolderOf(config, library)
      if (!existsSync(join(from, LIBRARY_FILE))) continue
      const to = libraryFolderOf({ dataFolder: partial, firstLibrary: partial }, library)
      await mkdir(to, { recursive: true, mode: 0o700 })
      made.bytes += await copyDatabase(join(from, LIBRARY_FILE), join(to, LIBRARY_FILE))
      made.libraries++
      if (config.s3 && library !== LOCAL_LIBRARY) continue
      const media = await copyMedia(from, to, signal)
      made.media += media.files
      made.bytes += media.bytes
    }
    const facts = { format: FORMAT, madeAt: now.toISOString(), ...made, path: undefined }
    await writeFile(join(partial, SERVER_BACKUP_FACTS), `${JSON.stringify(facts, null, 2)}\n`, {
      mode: 0o600,
    })
    await syncAll(partial)
    checkFree(target)
    await rename(partial, target)
    await syncFolder(dirname(target))
    return made
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

function checkFree(target: string): void {
  if (!existsSync(target)) return
  throw new Failure('invalid_input', `${target} is there already.`, {
    hint: 'Give another name; a backup is never written over.',
  })
}

/** As it is at this instant, with what lies in its log only. Gives the bytes of the copy. */
async function copyDatabase(from: string, to: string): Promise<number> {
  const database = connect(from, { readOnly: true })
  try {
    snapshot({ database }, to)
  } finally {
    database.close()
  }
  return (await stat(to)).size
}

function librariesIn(accounts: string): string[] {
  const database = connect(accounts, { readOnly: true })
  try {
    if (schemaVersionOf(database) < 1) return []
    const rows = database.prepare('select library from reader order by created_at, id').all()
    return (rows as { library: string }[]).map(({ library }) => library)
  } finally {
    database.close()
  }
}

/** Files never change under their names. One that is removed while the others are copied is wanted by nobody. */
async function copyMedia(
  from: string,
  to: string,
  signal: AbortSignal | undefined,
): Promise<{ files: number; bytes: number }> {
  const copied = { files: 0, bytes: 0 }
  for (const { name, path } of await mediaFiles(join(from, MEDIA_FOLDER))) {
    signal?.throwIfAborted()
    const target = join(to, name)
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    try {
      await copyFile(path, target, constants.COPYFILE_FICLONE)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT' && !existsSync(path)) continue
      throw error
    }
    copied.files++
    copied.bytes += (await stat(target)).size
  }
  return copied
}

/** Everything reaches the disk before the name does. */
async function syncAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const handle = await open(join(entry.parentPath, entry.name), 'r+')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined)
  // Windows cannot open folders; there a rename is durable without it.
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}

/** What writes a dump of a server's PostgreSQL, for whoever has to run it elsewhere. The password stands in no word of it. */
export function dumpCommand(
  { url, ownerUrl }: DatabaseConfig,
  target: string,
): { words: string[]; env: Record<string, string> } {
  const { hostname, port, username, password, pathname, searchParams } = new URL(ownerUrl ?? url)
  const env: Record<string, string> = {
    PGHOST: decodeURIComponent(searchParams.get('host') ?? hostname.replace(/^\[|\]$/g, '')),
    PGPORT: port || '5432',
    PGUSER: decodeURIComponent(username),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    ...(password !== '' && { PGPASSWORD: decodeURIComponent(password) }),
    ...(searchParams.get('sslmode') && { PGSSLMODE: searchParams.get('sslmode') ?? '' }),
  }
  return { words: ['pg_dump', '--format=custom', '--no-owner', `--file=${target}`], env }
}

/**
 * Dumps a server's PostgreSQL with the `pg_dump` of this machine into a file that appears whole or not at all. Throws
 * `unavailable` with the command to run where there is no such program, and where it fails.
 */
export async function dumpServer(
  database: DatabaseConfig,
  target: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<{ path: string; bytes: number }> {
  checkFree(target)
  const partial = `${target}.partial-${process.pid}`
  const { words, env } = dumpCommand(database, partial)
  await mkdir(dirname(target), { recursive: true })
  try {
    await run(words, env, dumpCommand(database, target), signal)
    const handle = await open(partial, 'r+')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
    checkFree(target)
    await rename(partial, target)
  } finally {
    await rm(partial, { force: true })
  }
  return { path: target, bytes: (await stat(target)).size }
}

function run(
  [program = '', ...args]: string[],
  env: Record<string, string>,
  instead: ReturnType<typeof dumpCommand>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const hint = `On a machine that has it, run: ${shellLine(instead)}`
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(signal && { signal }),
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)))
    child.on('error', (cause) =>
      reject(new Failure('unavailable', 'There is no pg_dump on this machine.', { hint, cause })),
    )
    child.on('close', (code) => {
      if (code === 0) return resolve()
      // It says so itself, and nothing of what is in the database.
      const why = said.trim().split('\n').at(-1) ?? ''
      reject(
        new Failure('unavailable', `pg_dump failed${why === '' ? '.' : `: ${why}`}`, {
          hint: `It must be at least as new as the server, and its role must own the tables. ${hint}`,
        }),
      )
    })
  })
}

/** A line for a shell, without the password. */
const shellLine = ({ words, env }: { words: string[]; env: Record<string, string> }): string =>
  [
    ...Object.entries(env)
      .filter(([name]) => name !== 'PGPASSWORD')
      .map(([name, value]) => `${name}=${quoted(value)}`),
    ...words.map(quoted),
  ].join(' ')

const quoted = (word: string): string =>
  /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
