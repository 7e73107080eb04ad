import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { ServerConfig } from '../config/server.ts'
import { Failure } from '../core/failure.ts'
import { openRuntime } from '../db/runtime.ts'
import { openServerDb } from '../db/server/open.ts'
import { sqliteTrouble } from '../db/sqlite/trouble.ts'
import { LOCAL_LIBRARY } from '../features/accounts/reader-store.ts'
import { mediaInFolder, mediaInS3 } from './library-media.ts'
import { LIBRARY_FILE, openFile } from './open-file.ts'
import { openLocal } from './open-local.ts'
import type { LibraryOwner, ServerStore, StoreParts } from './server-store.ts'

export const ACCOUNTS_FILE = 'server.db'
const RUNTIME_FILE = 'runtime.db'
const LIBRARIES_FOLDER = 'libraries'
const MEDIA_FOLDER = 'media'
/** One library among many gets less memory than one alone. */
const CACHE_KIB = 2_000
/** While one reader's file is locked by another program, all readers of this process wait. */
const BUSY_MS = 1_000

/** Throws `library_damaged` with what whoever runs the server can do, and what `openServerDb` throws. */
async function openAccounts(file: string): ReturnType<typeof openServerDb> {
  try {
    return await openServerDb(file)
  } catch (cause) {
    if (sqliteTrouble(cause) !== 'damaged') throw cause
    throw new Failure('library_damaged', `The file of the accounts is damaged or is none: ${file}`, {
      hint: 'Stop the server and put its data folder back from a backup. Libraries lie in files of their own and are not concerned.',
      cause,
    })
  }
}

/**
 * A server in one data folder: accounts and counts in a file each, every library in a file of its own. Throws `library_too_new`,
 * `unavailable` where the folder may not be written to, and what SQLite throws.
 */
export async function openServerOnSqlite(config: ServerConfig, parts: StoreParts): Promise<ServerStore> {
  const { dataFolder, local: localConfig, s3 } = config
  const { pages, limited, accountOf, embedder, model, now, onError, wake } = parts
  prepareFolder(dataFolder)
  const accounts = await openAccounts(join(dataFolder, ACCOUNTS_FILE))
  const runtime = openRuntime(join(dataFolder, RUNTIME_FILE))

  const folderOf = ({ library }: LibraryOwner): string => libraryFolderOf(config, library)

  const hasLibrary = (owner: LibraryOwner): boolean => existsSync(join(folderOf(owner), LIBRARY_FILE))

  // The local library is opened by other programs of this machine, which know of no store but its folder.
  const mediaOf = async (owner: LibraryOwner) =>
    s3 && owner.library !== LOCAL_LIBRARY
      ? mediaInS3(s3, safeName(owner.library))
      : mediaInFolder(join(folderOf(owner), MEDIA_FOLDER))

  return {
    accounts,
    runtime,
    hasLocal: true,
    hasLibrary,
    mediaOf,
    async openLibrary(owner) {
      // Before it is there: who opens it later takes it for known.
      if (!hasLibrary(owner)) await runtime.work.introduce([owner.readerId], now().getTime())
      const media = await mediaOf(owner)
      const opened = openFile(folderOf(owner), { busyMs: BUSY_MS, cacheKiB: CACHE_KIB })
      return openLocal(localConfig, {
        opened,
        now,
        outside: {
          pages,
          media: limited(owner, media),
          account: accountOf(owner),
          ...(embedder && { embedder }),
          ...(model && { model }),
        },
        onError,
        // Before the commit: a mark that turns out to be for nothing costs a look, one that is missing a job.
        queueing: (due) => runtime.work.mark(owner.readerId, due.getTime()),
        wake,
      })
    },
    async removeLibrary(owner) {
      await (await mediaOf(owner)).removeAll()
      const folder = folderOf(owner)
      // The folder of the local library may hold all that the server has.
      const mine =
        owner.library === LOCAL_LIBRARY
          ? [LIBRARY_FILE, `${LIBRARY_FILE}-wal`, `${LIBRARY_FILE}-shm`, 'backups'].map((name) =>
              join(folder, name),
            )
          : [folder]
      for (const path of mine) await rm(path, { recursive: true, force: true })
      await runtime.work.forget(owner.readerId)
    },
    async close() {
      await runtime.close()
      // What was written then lies in the one file, for whoever copies it.
      await sql`pragma wal_checkpoint(passive)`.execute(accounts)
      await accounts.destroy()
    },
  }
}

/** Where the library of that name lies. */
export const libraryFolderOf = (
  { dataFolder, firstLibrary }: Pick<ServerConfig, 'dataFolder' | 'firstLibrary'>,
  library: string,
): string =>
  library === LOCAL_LIBRARY ? firstLibrary : join(dataFolder, LIBRARIES_FOLDER, safeName(library))

const SAFE_NAME = /^[\w-]{1,64}$/

/** Names of libraries are our own; that one could never leave the folder is worth a line all the same. */
function safeName(library: string): string {
  if (SAFE_NAME.test(library)) return library
  throw new Failure('internal_error', 'The reader has no library.', { hint: 'Sign in again.' })
}

/** Makes the folder where there is none; what may not be written to is said at the start rather than at the first write. */
function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK | constants.X_OK)
    for (const file of [ACCOUNTS_FILE, RUNTIME_FILE])
      if (existsSync(join(folder, file))) accessSync(join(folder, file), constants.R_OK | constants.W_OK)
  } catch (error) {
    if (isNoSpace(error)) throw error
    throw new Failure('unavailable', `The folder of the server's data cannot be written to: ${folder}.`, {
      hint: 'COMMONPLACE_DATA takes a folder in which the user of the server may write; change whose it is, or name another.',
      cause: error,
    })
  }
}

const isNoSpace = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
