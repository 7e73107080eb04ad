import type { Kysely } from 'kysely'
import type { Library } from '../core/library.ts'
import type { Account, Embedder, LanguageModel, MediaStore, Pages } from '../core/outside.ts'
import type { Runtime } from '../db/runtime.ts'
import type { ServerSchema } from '../db/server/schema.ts'
import type { LibraryMedia } from './library-media.ts'

/** A reader's library while it is open on a server. */
export interface ServedLibrary {
  library: Library
  close(): Promise<void>
}

/** Whose library it is; `library` is its name in the accounts. */
export interface LibraryOwner {
  readerId: string
  library: string
}

/** Where a server keeps its accounts, its counts and its libraries: files of one machine, or a database that several share. */
export interface ServerStore {
  accounts: Kysely<ServerSchema>
  runtime: Runtime
  /** Whether the first reader's library is the one that other programs of this machine open: its name is used again. */
  readonly hasLocal: boolean
  /** Opens a library, and makes it where there is none. */
  openLibrary(owner: LibraryOwner): Promise<ServedLibrary>
  /** Whether the library was ever opened; where it was not, nothing can be due in it. Undefined where due work is never lost. */
  hasLibrary?(owner: LibraryOwner): boolean
  mediaOf(owner: LibraryOwner): Promise<LibraryMedia>
  /** Removes a library that is not open here, media included; does no harm where there is none. */
  removeLibrary(owner: LibraryOwner): Promise<void>
  /** The connections of this process to the database, and who waits for one. Absent for files. */
  connections?(): { open: number; idle: number; waiting: number }
  /** Takes no call any more. */
  close(): Promise<void>
}

/** What both stores put into a library. */
export interface StoreParts {
  pages: Pages
  /** The media of a library as its reader may fill them. */
  limited(owner: LibraryOwner, media: LibraryMedia): MediaStore
  /** The account as its library sees it. */
  accountOf(owner: LibraryOwner): Account
  embedder?: Embedder
  model?: LanguageModel
  now: () => Date
  onError(error: unknown, where: string): void
  /** Told after a commit that queued a job. */
  wake(): void
}
