import { join } from 'node:path'
import { CompiledQuery } from 'kysely'
import type { DatabaseConfig, ServerConfig } from '../config/server.ts'
import { Failure } from '../core/failure.ts'
import { createLibrary } from '../core/library.ts'
import { openPostgres } from '../db/postgres/open.ts'
import { PostgresError } from '../db/postgres/postgres-error.ts'
import { MARK_WORK, openRuntimeOnPostgres } from '../db/runtime-on-postgres.ts'
import { SERVER_TABLES, serverDbOnPostgres } from '../db/server/postgres.ts'
import { mediaInFolder, mediaInS3 } from './library-media.ts'
import type { LibraryOwner, ServerStore, StoreParts } from './server-store.ts'

const MEDIA_FOLDER = 'media'

/**
 * A server whose accounts, counts and libraries lie in one PostgreSQL, which any number of processes share; media in the S3
 * store, or else in the data folder, which those processes must then share too. Throws `NewerLibrary`, `PostgresError`, and
 * `unavailable` where no database answers.
 */
export async function openServerOnPostgres(
  config: ServerConfig,
  database: DatabaseConfig,
  parts: StoreParts,
): Promise<ServerStore> {
  const { dataFolder, s3 } = config
  const { pages, limited, accountOf, embedder, model, now, wake } = parts
  const postgres = await openPostgres(database, [SERVER_TABLES]).catch((error: unknown) => {
    throw whileStarting(error)
  })
  const accounts = serverDbOnPostgres(postgres.pool)
  const runtime = openRuntimeOnPostgres(postgres.pool)

  // A reader's id is never given out again, whatever their library is called.
  const nameOf = ({ readerId }: LibraryOwner): string => readerId

  const mediaOf = async (owner: LibraryOwner) =>
    s3 ? mediaInS3(s3, nameOf(owner)) : mediaInFolder(join(dataFolder, MEDIA_FOLDER, nameOf(owner)))

  return {
    accounts,
    runtime,
    hasLocal: false,
    mediaOf,
    async openLibrary(owner) {
      const media = await mediaOf(owner)
      const db = postgres.ofLibrary(await postgres.makeLibrary(nameOf(owner)))
      await runtime.work.introduce([owner.readerId], now().getTime())
      const library = createLibrary({
        db,
        outside: {
          pages,
          media: limited(owner, media),
          account: accountOf(owner),
          ...(embedder && { embedder }),
          ...(model && { model }),
        },
        now,
        // In the same transaction: the work is known of exactly when it is there.
        queueing: async (due, transaction) => {
          await transaction.executeQuery(CompiledQuery.raw(MARK_WORK, [owner.readerId, due.getTime()]))
        },
        wake,
      })
      return { library, close: () => db.destroy() }
    },
    async removeLibrary(owner) {
      const number = await postgres.findLibrary(nameOf(owner))
      if (number !== undefined) await postgres.removeLibrary(number)
      await (await mediaOf(owner)).removeAll()
      await runtime.work.forget(owner.readerId)
    },
    connections() {
      const { totalCount: open, idleCount: idle, waitingCount: waiting } = postgres.pool
      return { open, idle, waiting }
    },
    async close() {
      await accounts.destroy()
      await postgres.close()
    },
  }
}

/** A server that has not begun ends instead of finding its database again: the address is the first thing to look at. */
function whileStarting(error: unknown): unknown {
  if (!(error instanceof PostgresError) || error.trouble !== 'unreachable') return error
  return new Failure('unavailable', 'The database does not answer.', {
    hint: 'See that PostgreSQL runs and takes connections at the host and port of COMMONPLACE_DATABASE_URL and COMMONPLACE_DATABASE_OWNER_URL, then start again.',
    cause: error,
  })
}
