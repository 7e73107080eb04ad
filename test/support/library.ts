import { Readable } from 'node:stream'
import { randomUUID } from 'node:crypto'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Kysely } from 'kysely'
import { createLibrary, type Library } from '../../src/core/library.ts'
import type { AccountCredits, Embedder, MediaStore, Outside, Pages } from '../../src/core/outside.ts'
import { migrate, queriesOn } from '../../src/db/open.ts'
import { openPostgres, type Postgres } from '../../src/db/postgres/open.ts'
import { ensureReplica } from '../../src/db/replica.ts'
import type { Schema } from '../../src/db/schema.ts'
import type { FetchedPage } from '../../src/core/outside.ts'
import { Failure } from '../../src/core/failure.ts'

export interface TestWorld {
  /** What the web holds, by address: HTML, or a whole answer. */
  pages?: Record<string, string | Partial<FetchedPage> | Failure>
  embedder?: Embedder
  now?: () => Date
  wake?: () => void
  /** Whether it is the library of an account, as a server has it. */
  account?: boolean
  /** Credits of the account; makes it the library of one. */
  credits?: AccountCredits
}

/** An empty library on the database that the test project says, with a world of the test's own around it. */
export async function testLibrary(world: TestWorld = {}): Promise<Library> {
  return libraryOn(await (onPostgres ? postgresDb() : sqliteDb()), world)
}

/** The library of a database. */
export const libraryOn = (db: Kysely<Schema>, world: TestWorld = {}): Library =>
  createLibrary({
    db,
    outside: testOutside(world),
    now: world.now ?? (() => new Date()),
    ...(world.wake && { wake: world.wake }),
  })

/** Whether libraries of this run are kept by PostgreSQL, else by SQLite in memory. */
export const onPostgres = process.env['COMMONPLACE_TEST_DATABASE'] === 'postgres'

/** An empty library in memory. */
export async function sqliteDb(): Promise<Kysely<Schema>> {
  const database = new DatabaseSync(':memory:')
  database.exec('pragma foreign_keys = on')
  const db = queriesOn(database)
  await migrate(database, db, () => {})
  await ensureReplica(db, { inode: 'test' })
  return db
}

/** An empty library on the PostgreSQL of this run. */
export async function postgresDb(): Promise<Kysely<Schema>> {
  const postgres = await testPostgres()
  return postgres.ofLibrary(await postgres.makeLibrary(randomUUID()))
}

let opened: Promise<Postgres> | undefined

/** The PostgreSQL of this run, opened once for the tests of a file. */
export async function testPostgres(): Promise<Postgres> {
  const { inject } = await import('vitest')
  return (opened ??= openPostgres({ url: inject('postgresUrl'), connections: 10 }))
}

export function testOutside(world: TestWorld): Outside {
  return {
    pages: testPages(world.pages ?? {}),
    media: memoryMedia(),
    ...(world.embedder && { embedder: world.embedder }),
    ...((world.account || world.credits) && {
      account: {
        place: 'here',
        academy: async () => true,
        ...(world.credits && { credits: world.credits }),
      },
    }),
  }
}

function testPages(pages: NonNullable<TestWorld['pages']>): Pages {
  return {
    async fetch(url) {
      const page = pages[url]
      if (page instanceof Failure) throw page
      if (page === undefined)
        throw new Failure('page_not_found', `${url} is not there.`, { hint: 'Check the address.' })
      const given = typeof page === 'string' ? { bytes: Buffer.from(page) } : page
      return {
        url,
        status: 200,
        headers: { 'content-type': 'text/html; charset=utf-8' },
        bytes: new Uint8Array(),
        ...given,
      }
    },
  }
}

function memoryMedia(): MediaStore {
  const files = new Map<string, Uint8Array>()
  return {
    async put(bytes) {
      const hash = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
      files.set(hash, bytes)
      return hash
    },
    get: async (hash) => files.get(hash),
    async open(hash) {
      const bytes = files.get(hash)
      return bytes && { size: bytes.length, read: (from, to) => Readable.from([bytes.slice(from, to + 1)]) }
    },
    has: async (hash) => files.has(hash),
    remove: async (hash) => void files.delete(hash),
  }
}
