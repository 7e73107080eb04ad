import type { ServerConfig } from '../config/server.ts'
import { Failure } from '../core/failure.ts'
import type { Embedder, MediaStore, Pages } from '../core/outside.ts'
import { openAccounts, type Accounts } from '../features/accounts/accounts.ts'
import { ensureFirstReader, type FirstReader } from '../features/accounts/identity.ts'
import {
  dropRemoval,
  listRemovals,
  removeReader,
  type LibraryRemoval,
} from '../features/accounts/library-removal-store.ts'
import {
  deleteReader,
  findReader,
  listReaders,
  LOCAL_LIBRARY,
  type Reader,
} from '../features/accounts/reader-store.ts'
import { callersOf, dropTracesOf } from '../features/accounts/reader-traces-store.ts'
import { allowanceOf, type Allowance } from '../features/allowances/allowance-store.ts'
import { accountCredits } from '../features/credits/account-credits.ts'
import { textBytes } from '../features/texts/text-size-store.ts'
import { createIdentityProviders } from '../outside/identity-providers.ts'
import { countedThoughFull } from '../db/runtime.ts'
import { createMail } from '../outside/mail.ts'
import { createPages } from '../outside/pages.ts'
import { createRateLimiter, type RateLimiter } from '../tools/rate-limit.ts'
import type { LibraryMedia } from './library-media.ts'
import { openLibraries, type OpenLibraries } from './open-libraries.ts'
import { modelFor } from './configured-model.ts'
import { embedderFor } from './open-local.ts'
import { openServerOnSqlite } from './server-on-sqlite.ts'
import type { LibraryOwner, ServerStore, StoreParts } from './server-store.ts'
import { createStorageRoom, limitMedia, type Storage, type StorageRoom } from './storage-room.ts'
import { workOnLibraries, type LibraryWork } from './work-on-libraries.ts'

/** The readers of a server, their libraries and what they share. */
export interface OpenServer extends Administered {
  /** The reader whose library is that of `config.firstLibrary`, and where they sign in as long as they never did. */
  first: FirstReader
}

/** What can be done with a server's readers and libraries, in the process that serves or in one beside it. */
export interface Administered {
  accounts: Accounts
  libraries: OpenLibraries
  limiter: RateLimiter
  /** The files of a reader's library. Throws `not_logged_in` where there is no such reader. */
  mediaOf(readerId: string): Promise<MediaStore>
  /** What holds for readers for whom the operator set nothing else. */
  configured: Allowance
  /** Bytes that a reader's media and texts take, counted anew where that is long ago. */
  storageOf(readerId: string): Promise<Storage>
  /** Whether a reader's library was ever opened: else there is nothing in it. */
  hasLibrary(reader: Reader): boolean
  /** Whether a reader's library is the one that other programs of this machine open. */
  isLocal(reader: Reader): boolean
  /**
   * Deletes a reader with all that hangs on them, their library and its media; false where there is no such reader. Once the
   * reader is deleted nothing brings any of it back: a process that dies on the way leaves the rest to the next. A library that
   * other programs of this machine open stays theirs, unless `evenLocal`.
   */
  removeLibrary(readerId: string, options?: { evenLocal?: boolean }): Promise<boolean>
  /** Does queued work in this process from now on. */
  work(): LibraryWork
  /** What an operator wants to know of it now. */
  measure(): Promise<ServerMeasures>
  /** Whether the server can look readers up and count calls. */
  ready(): Promise<boolean>
  /** Lets work go, waits for calls that run, and closes all. */
  close(): Promise<void>
}

/** What is looked up when somebody asks, rather than counted. */
export interface ServerMeasures {
  /** Libraries that this process has open, and those whose queued work it does now. */
  openLibraries: number
  workedOn: number
  /** Libraries whose work is due and not begun, and for how long the oldest has been waiting. */
  due: number
  oldestMs: number
  /** Connections of this process to PostgreSQL. */
  database?: { open: number; idle: number; waiting: number }
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

const SWEEP_MS = 10 * 60_000
/** Calls and turns of work that began before a reader was deleted have ended after this, in every process. */
const LATE_WRITES_MS = 30 * 60_000
const READY_MS = 5_000
const READY_KEY = 'ready'
const READY_WINDOW = { ms: 60_000, most: 1_000_000_000 }

/**
 * Opens what a server keeps, and makes it where there is none; a reader's library is opened only when it is wanted. Throws
 * `library_too_new` and what the database throws.
 */
export async function openServer(config: ServerConfig, options: ServerOptions): Promise<OpenServer> {
  const { sweepLibraries, introduce, ...server } = await open(config, options)
  const { onError = () => {} } = options
  await sweepLibraries()
  const first = await ensureFirstReader(server.accounts, { shared: config.database !== undefined })
  await introduce()
  let sweeping: Promise<void> | undefined
  const sweep = setInterval(() => {
    sweeping ??= sweepLibraries()
      .catch((error: unknown) => onError(error, 'sweep'))
      .finally(() => (sweeping = undefined))
  }, SWEEP_MS)
  sweep.unref()
  return {
    ...server,
    first,
    async close() {
      clearInterval(sweep)
      await sweeping
      await server.close()
    },
  }
}

/** The same beside servers that may run: makes no first reader and no link, and does nothing by itself. */
export async function openAdministered(config: ServerConfig, options: ServerOptions): Promise<Administered> {
  const { sweepLibraries: _sweep, introduce: _introduce, ...server } = await open(config, options)
  return server
}

interface Opened extends Administered {
  sweepLibraries(): Promise<void>
  /** What is not known of a library is found out by looking into it. */
  introduce(): Promise<void>
}

async function open(config: ServerConfig, options: ServerOptions): Promise<Opened> {
  const { base, onError = () => {}, now = () => new Date() } = options
  const { allowHosts: allow, youtube } = config.local
  const pages = options.pages ?? createPages({ allow, ...(youtube && { youtube }) })
  const embedder = options.embedder ?? embedderFor(config.local.embedder)
  const model = modelFor(config.local.model)
  const configured: Allowance = {
    quotaBytes: config.quotaBytes ?? 0,
    academy: config.academy,
    credits: config.credits,
  }
  let work: LibraryWork | undefined
  const roomOf = ({ readerId }: LibraryOwner, media: LibraryMedia): StorageRoom =>
    createStorageRoom({
      accounts,
      readerId,
      configured,
      mediaBytes: () => media.bytes(),
      textBytes: () => libraries.use(readerId, ({ library }) => textBytes(library.db)),
    })
  const store = await openStore(config, {
    pages,
    limited: (owner, media) => limitMedia(media.store, roomOf(owner, media)),
    accountOf: ({ readerId }) => ({
      place: 'here',
      academy: async () => (await allowanceOf(db, readerId, configured)).academy,
      credits: accountCredits({ db, now }, readerId, configured),
    }),
    ...(embedder && { embedder: shareEmbedder(embedder) }),
    ...(model && { model }),
    now,
    onError,
    wake: () => work?.wake(),
  })
  const { accounts: db, runtime } = store
  const { secret, mail, signUp, operators } = config
  const accounts = await openAccounts({
    db,
    base,
    pages,
    signUp,
    operators,
    ...(mail && { mail: createMail({ url: mail.smtpUrl, from: mail.from }) }),
    providers: createIdentityProviders(config.providers),
    ...(secret !== undefined && { secret }),
    now,
    onError,
  })

  async function ownerOf(readerId: string): Promise<LibraryOwner> {
    const reader = await findReader(db, readerId)
    if (reader) return { readerId, library: reader.library }
    await runtime.work.forget(readerId)
    throw new Failure('not_logged_in', 'There is no such reader any more.', { hint: 'Sign in again.' })
  }

  const libraries = openLibraries(
    async (readerId) => store.openLibrary(await ownerOf(readerId)),
    config.openLibraries,
    onError,
  )

  async function finishRemoval(removal: LibraryRemoval): Promise<void> {
    const { readerId, library, askedAt } = removal
    await libraries.close(readerId)
    await store.removeLibrary({ readerId, library })
    // Others may not know yet: what they still write goes with a later sweep.
    if (isUsedAgain(library) || now().getTime() - Date.parse(askedAt) > LATE_WRITES_MS)
      await dropRemoval(db, readerId)
  }

  /** One that cannot be removed yet keeps no other from it, and is tried again with every sweep. */
  async function finishRemovals(): Promise<void> {
    for (const removal of await listRemovals(db)) {
      try {
        await finishRemoval(removal)
      } catch (error) {
        // Else the next first reader would have what is still to be removed.
        if (isUsedAgain(removal.library)) throw error
        onError(error, 'removal')
      }
    }
  }

  const calls = countedThoughFull(runtime.calls)
  const limiter = createRateLimiter(calls, config, () => now().getTime())
  const isUsedAgain = (library: string): boolean => store.hasLocal && library === LOCAL_LIBRARY

  return {
    accounts,
    libraries,
    configured,
    hasLibrary: ({ id, library }) => store.hasLibrary?.({ readerId: id, library }) ?? true,
    isLocal: ({ library }) => isUsedAgain(library),
    async storageOf(readerId) {
      const owner = await ownerOf(readerId)
      return roomOf(owner, await store.mediaOf(owner)).storage()
    },
    async sweepLibraries() {
      await calls.sweep(now().getTime())
      await finishRemovals()
    },
    async introduce() {
      if (!store.hasLibrary) return
      for (const { id, library } of await listReaders(db))
        if (store.hasLibrary({ readerId: id, library })) await runtime.work.introduce([id], now().getTime())
    },
    limiter,
    async mediaOf(readerId) {
      const owner = await ownerOf(readerId)
      const media = await store.mediaOf(owner)
      return limitMedia(media.store, roomOf(owner, media))
    },
    async removeLibrary(readerId, { evenLocal = false } = {}) {
      const askedAt = now()
      const known = await findReader(db, readerId)
      if (!known) return false
      const callers = await callersOf(db, readerId)
      const keeps = isUsedAgain(known.library) && !evenLocal
      const reader = await db.transaction().execute(async (transaction) => {
        await dropTracesOf(transaction, known)
        if (!keeps) return removeReader(transaction, readerId, askedAt)
        return (await deleteReader(transaction, readerId)) ? known : undefined
      })
      if (!reader) return false
      await limiter.forget(callers)
      if (keeps) {
        await libraries.close(readerId)
        await runtime.work.forget(readerId)
        return true
      }
      await finishRemoval({ readerId, library: reader.library, askedAt: askedAt.toISOString() })
      return true
    },
    work() {
      work ??= workOnLibraries({ libraries, due: runtime.work, concurrency: config.workers, now, onError })
      return work
    },
    async measure() {
      const at = now().getTime()
      const { count, since = at } = await runtime.work.overdue(at)
      const connections = store.connections?.()
      return {
        openLibraries: libraries.size,
        workedOn: work?.size ?? 0,
        due: count,
        oldestMs: at - since,
        ...(connections && { database: connections }),
      }
    },
    async ready() {
      const asked = (async () => {
        // Both that it can be read and that it can be written: only a row that changes needs room on the disk.
        await runtime.calls.take(READY_KEY, [READY_WINDOW, READY_WINDOW], now().getTime())
        await db.selectFrom('reader').select('id').limit(1).execute()
        return true
      })()
      return Promise.race([asked.catch(() => false), late(READY_MS)])
    },
    async close() {
      const steps = [
        () => work?.stop(),
        () => libraries.closeAll(),
        () => embedder?.close(),
        () => accounts.close(),
        () => store.close(),
      ]
      // What a database that is away keeps from being written down keeps nothing else from being closed.
      for (const step of steps) {
        try {
          await step()
        } catch (error) {
          onError(error, 'close')
        }
      }
    },
  }
}

async function openStore(config: ServerConfig, parts: StoreParts): Promise<ServerStore> {
  if (!config.database) return openServerOnSqlite(config, parts)
  const { openServerOnPostgres } = await import('./server-on-postgres.ts')
  return openServerOnPostgres(config, config.database, parts)
}

const late = (ms: number): Promise<false> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref()
  })

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
