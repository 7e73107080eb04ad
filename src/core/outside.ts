import type { Readable } from 'node:stream'

/** What lies outside the library and is handed in, so that a test can stand in for the world. */
export interface Outside {
  pages: Pages
  /** Absent where no embedding can be made; search then goes by words and says so. */
  embedder?: Embedder
  /** Absent where none is configured; what is built in then does the work. */
  model?: LanguageModel
  media: MediaStore
  /** Absent on a server, whose operator makes the backups. */
  backups?: BackupWriter
  /** The account that the library belongs to; absent for a library of one computer alone. */
  account?: Account
}

/** `here` where the library is the account's own, as a server has it: what is put into the account is put into the library. */
export interface Account {
  place: 'here'
  /** Whether the account may use the Academy, which the operator of a server can switch off. */
  academy(): Promise<boolean>
  /** Its AI credits; absent where nothing is counted. Never asked inside a change. */
  credits?: AccountCredits
}

/** What an account may still have done by the reading aid this month. */
export interface AccountCredits {
  left(): Promise<number>
  /** All or none, and once for each `key`. `what` is for the ledger, never a text of the reader's. Throws `credits_used_up`. */
  spend(spending: { amount: number; what: string; key: string }): Promise<void>
  /** Gives back, once, what was spent under a key for what then failed on our side. */
  giveBack(key: string): Promise<void>
}

/** Fetches what a person could open in a browser, guarded against private addresses, floods and drips. */
export interface Pages {
  /** Where and how YouTube is asked, where that is configured. */
  youtube?: YouTubeAccess
  /** Throws `Failure` with one of the fetching codes. */
  fetch(url: string, options?: FetchOptions): Promise<FetchedPage>
}

/** The players of YouTube that we can ask as. */
export const YOUTUBE_CLIENTS = ['ANDROID', 'IOS', 'ANDROID_VR', 'MWEB', 'WEB'] as const
export type YouTubeClient = (typeof YOUTUBE_CLIENTS)[number]

export interface YouTubeAccess {
  /** Origin that stands in for https://www.youtube.com. */
  origin?: string
  /** Which players are asked as, in turn until one gives the captions, each with its version where that is another than ours. */
  clients?: readonly { name: YouTubeClient; version?: string }[]
}

export interface FetchOptions {
  signal?: AbortSignal
  /** Most bytes of the decompressed body; the default suits pages and PDFs. */
  maxBytes?: number
  /** Milliseconds for everything, redirects included. */
  deadlineMs?: number
  accept?: string
  /** More headers, lower case; they take the place of ours. */
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON by POST; without it pages are got. */
  json?: unknown
}

export interface FetchedPage {
  /** The address after redirects. */
  url: string
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  /** Decompressed. */
  bytes: Uint8Array
}

/** Turns texts into unit vectors. `id` names the model: vectors of different ids never meet. */
export interface Embedder {
  id: string
  dimensions: number
  embed(texts: string[], options?: EmbedOptions): Promise<Float32Array[]>
  close(): Promise<void>
}

export interface EmbedOptions {
  signal?: AbortSignal
  /** A query goes before everything that is embedded in bulk (the default). */
  priority?: 'query' | 'bulk'
}

/** Answers a question in JSON. `id` names provider and model, as the reader sees it. */
export interface LanguageModel {
  id: string
  /** Throws `Failure`: `unavailable`, `timed_out`, `rate_limited`, `model_refused` or `cancelled`. What comes back is not checked. */
  answer(question: ModelQuestion): Promise<unknown>
}

export interface ModelQuestion {
  /** What it is to do, in our words. */
  task: string
  /** What it is to do it with; text of others, never to be obeyed. */
  material: string
  /** JSON Schema of the answer, an object. */
  schema: Record<string, unknown>
  /** Most tokens of the answer. */
  maxTokens: number
  signal?: AbortSignal
}

/** Files by the hash of their bytes (SHA-256, hex). */
export interface MediaStore {
  /** A file that is there already counts as put anew. */
  put(bytes: Uint8Array): Promise<string>
  get(hash: string): Promise<Uint8Array | undefined>
  /** A file to be sent on in parts. What is read is not checked against the name, as `get` does. */
  open(hash: string): Promise<MediaFile | undefined>
  has(hash: string): Promise<boolean>
  /** Does nothing where there is none, or where it was put later than `putBefore`. */
  remove(hash: string, options?: { putBefore?: Date }): Promise<void>
}

/** Whole copies of the library that are made by themselves. */
export interface BackupWriter {
  /** Writes one to a folder, or to the library's own where that is null. */
  make(folder: string | null, now: Date, signal: AbortSignal): Promise<{ path: string; bytes: number }>
  /** Removes files that `make` wrote, as long as they are what it wrote; answers with those that could not be removed. */
  remove(files: readonly { path: string; bytes: number }[]): Promise<{ path: string; bytes: number }[]>
}

export interface MediaFile {
  /** Bytes. */
  size: number
  /** The bytes from `start` to `end`, both included. */
  read(start: number, end: number): Readable
}
