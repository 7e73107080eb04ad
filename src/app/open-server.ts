import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { ServerConfig } from '../config/server.ts'
import { Failure } from '../core/failure.ts'
import type { Embedder, Pages } from '../core/outside.ts'
import { openRuntime } from '../db/runtime.ts'
import { openServerDb } from '../db/server/open.ts'
import { openAccounts, type Accounts } from '../features/accounts/accounts.ts'
import { ensureFirstReader, type FirstReader } from '../features/accounts/identity.ts'
import { findReader, listReaders, LOCAL_LIBRARY } from '../features/accounts/reader-store.ts'
import { openMediaFolder } from '../outside/media-folder.ts'
import { createPages } from '../outside/pages.ts'
import { createRateLimiter, type RateLimiter } from '../tools/rate-limit.ts'
import { LIBRARY_FILE, openFile } from './open-file.ts'
import { openLibraries, type OpenLibraries } from './open-libraries.ts'
import { embedderFor, openLocal } from './open-local.ts'
import { workOnLibraries, type LibraryWork } from './work-on-libraries.ts'

/** The readers of a server, their libraries and what they share. */
export interface OpenServer {
  accounts: Accounts
  /** The reader whose library is that of `config.firstLibrary`, and where they sign in as long as they never did. */
  first: FirstReader
  libraries: OpenLibraries
  limiter: RateLimiter
  /** Does queued work in this process from now on. */
  work(): LibraryWork
  /** Whether the server can look readers up and count calls. */
  ready(): Promise<boolean>
  /** Lets work go, waits for calls that run, and closes all. */
  close(): Promise<void>
}

export interface ServerOptions {
  /** The public origin. */
  base: string
  onError?: (error: unknown, where: string) => void
  now?: () => Date
  /** Take the place of the real world in tests. */
  pages?: Pages
  embedder?: Embedder
}

const ACCOUNTS_FILE = 'server.db'
const RUNTIME_FILE = 'runtime.db'
const LIBRARIES_FOLDER = 'libraries'
/** One library among many gets less memory than one alone. */
const CACHE_KIB = 4_000
/** While one reader's file is locked by another program, all readers of this process wait. */
const BUSY_MS = 1_000
const SWEEP_MS = 60 * 60_000

/**
 * Opens what a server keeps, and makes it where there is none; a reader's library is opened only when it is wanted. Throws
 * `library_too_new` and what SQLite throws.
 */
export async function openServer(config: ServerConfig, options: ServerOptions): Promise<OpenServer> {
  const { base, onError = () => {}, now = () => new Date() } = options
  const { dataFolder, firstLibrary, local: localConfig } = config
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  const pages = options.pages ?? createPages({ allow: localConfig.allowHosts })
  const embedder = options.embedder ?? embedderFor(localConfig.embedder)
  const shared = embedder && shareEmbedder(embedder)
  const db = await openServerDb(join(dataFolder, ACCOUNTS_FILE))
  const runtime = openRuntime(join(dataFolder, RUNTIME_FILE))
  const accounts = await openAccounts({ db, base, pages, now, onError })
  const first = await ensureFirstReader(accounts)
  let work: LibraryWork | undefined

  async function folderOf(readerId: string): Promise<string> {
    const reader = await findReader(db, readerId)
    if (reader) return libraryFolderOf(reader.library)
    await runtime.work.forget(readerId)
    throw new Failure('not_logged_in', 'There is no such reader any more.', { hint: 'Sign in again.' })
  }

  const libraryFolderOf = (library: string): string =>
    library === LOCAL_LIBRARY ? firstLibrary : join(dataFolder, LIBRARIES_FOLDER, safeName(library))

  const libraries = openLibraries(
    async (readerId) => {
      const folder = await folderOf(readerId)
      const made = !existsSync(join(folder, LIBRARY_FILE))
      const opened = openFile(folder, { busyMs: BUSY_MS, cacheKiB: CACHE_KIB })
      const local = await openLocal(localConfig, {
        opened,
        now,
        outside: {
          pages,
          media: openMediaFolder(join(folder, 'media')),
          ...(shared && { embedder: shared }),
        },
        onError,
        queueing: (due) => runtime.work.mark(readerId, due.getTime()),
        wake: () => work?.wake(),
      })
      if (made) await runtime.work.introduce([readerId], now().getTime())
      return local
    },
    config.openLibraries,
    onError,
  )

  // What is not known of a library is found out by looking into it.
  for (const reader of await listReaders(db))
    if (existsSync(join(libraryFolderOf(reader.library), LIBRARY_FILE)))
      await runtime.work.introduce([reader.id], now().getTime())

  const sweep = setInterval(() => {
    void forgetOldCalls().catch((error: unknown) => onError(error, 'sweep'))
  }, SWEEP_MS)
  const forgetOldCalls = async (): Promise<void> => runtime.calls.sweep(now().getTime())
  sweep.unref()

  return {
    accounts,
    first,
    libraries,
    limiter: createRateLimiter(runtime.calls, config, () => now().getTime()),
    work() {
      work ??= workOnLibraries({ libraries, due: runtime.work, concurrency: config.workers, now, onError })
      return work
    },
    async ready() {
      try {
        await runtime.calls.sweep(0)
        return (await findReader(db, first.reader.id)) !== undefined
      } catch {
        return false
      }
    },
    async close() {
      clearInterval(sweep)
      await work?.stop()
      await libraries.closeAll()
      await embedder?.close()
      await runtime.close()
      await accounts.close()
      // What was written then lies in the one file, for whoever copies it.
      await sql`pragma wal_checkpoint(passive)`.execute(db)
      await db.destroy()
    },
  }
}

const SAFE_NAME = /^[\w-]{1,64}$/

/** Names of libraries are our own; that one could never leave the folder is worth a line all the same. */
function safeName(library: string): string {
  if (SAFE_NAME.test(library)) return library
  throw new Failure('internal_error', 'The reader has no library.', { hint: 'Sign in again.' })
}

/**
 * The embedder as one library of many has it: a library that is closed does not take it from the others. Asked anew each time,
 * since a remote one learns how many dimensions it has with its first answer.
 */
function shareEmbedder(embedder: Embedder): Embedder {
  return {
    id: embedder.id,
    get dimensions() {
      return embedder.dimensions
    },
    embed: (texts, options) => embedder.embed(texts, options),
    close: async () => {},
  }
}
