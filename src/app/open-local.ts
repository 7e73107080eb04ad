import { statSync } from 'node:fs'
import { sql } from 'kysely'
import { join } from 'node:path'
import { Failure } from '../core/failure.ts'
import { createLibrary, type Library, type LibraryParts } from '../core/library.ts'
import type { BackupWriter, Embedder, Outside, Pages } from '../core/outside.ts'
import { NewerLibrary } from '../db/newer-library.ts'
import { migrate, queriesOn } from '../db/open.ts'
import { ensureReplica } from '../db/replica.ts'
import { SCHEMA_VERSION, schemaVersionOf } from '../db/sqlite/connect.ts'
import type { LocalConfig } from '../config/local.ts'
import { createBuiltInEmbedder } from '../outside/embeddings.ts'
import { createRemoteEmbedder } from '../outside/embeddings/remote-embedder.ts'
import { openMediaFolder } from '../outside/media-folder.ts'
import { createPages } from '../outside/pages.ts'
import { modelFor } from './configured-model.ts'
import { queueEmbedding } from '../features/search/jobs/embed-passages.ts'
import { keepSchedule } from '../jobs/schedule.ts'
import { startWorker, type Worker } from '../jobs/worker.ts'
import { JOBS } from '../jobs/registry.ts'
import { backupPath, fileMark, openFile, snapshot, type OpenFile } from './open-file.ts'

export interface LocalLibrary {
  library: Library
  file: OpenFile
  /** Does queued work in this process from now on. */
  work(): Worker
  close(): Promise<void>
}

export interface LocalOptions {
  readOnly?: boolean
  /** A file that was opened already. */
  opened?: OpenFile
  /** Takes the place of the real world in tests. */
  outside?: Outside
  now?: () => Date
  onError?: (error: unknown, where: string) => void
  /** Told before and after the commit of a change that queues jobs, for whoever does the work apart from `work`. */
  queueing?: LibraryParts['queueing']
  wake?: () => void
}

/**
 * Opens a reader's own library and everything it is wired to. Makes it where there is none. Throws what SQLite throws,
 * `NewerLibrary`, and `Failure` for a configuration that cannot be followed.
 */
export async function openLocal(config: LocalConfig, options: LocalOptions = {}): Promise<LocalLibrary> {
  const { readOnly = false, now = () => new Date(), onError = () => {}, queueing } = options
  const outside = options.outside ?? realOutside(config)
  const file = options.opened ?? openFile(config.library, { readOnly })
  const db = queriesOn(file.database)
  try {
    if (readOnly) checkVersion(schemaVersionOf(file.database))
    else {
      await migrate(file.database, db, (version) => {
        snapshot(file, backupPath(file.folder, `before-version-${version + 1}`, now()))
      })
      await ensureReplica(db, fileMark(file.file))
    }
  } catch (error) {
    await db.destroy()
    throw error
  }
  let worker: Worker | undefined
  let endSchedule = (): void => {}
  const library = createLibrary({
    db,
    outside: { ...outside, backups: backupsOf(file) },
    readOnly,
    now,
    guard: () => checkStillThere(file),
    ...(queueing && { queueing }),
    wake: () => (worker ? worker.wake() : options.wake?.()),
  })
  return {
    library,
    file,
    work() {
      if (!worker) {
        worker = startWorker(library, JOBS, { onError })
        endSchedule = keepSchedule(library, { onError: (error) => onError(error, 'schedule') })
        // The embedder may have been changed since the last time.
        queueEmbedding(library).catch((error: unknown) => onError(error, 'schedule'))
      }
      return worker
    },
    async close() {
      endSchedule()
      await worker?.stop()
      await outside.embedder?.close()
      // Cached statements keep the closed connection half open, and what it wrote in the -wal file. Passive: waits for nobody.
      if (!readOnly)
        await sql`pragma wal_checkpoint(passive)`
          .execute(db)
          .catch((error: unknown) => onError(error, 'close'))
      await db.destroy()
    },
  }
}

/** Loaded when the first one is made. */
function backupsOf(file: OpenFile): BackupWriter {
  const writer = async () => (await import('./backup-writer.ts')).backupsOf(file)
  return {
    make: async (...given) => (await writer()).make(...given),
    remove: async (...given) => (await writer()).remove(...given),
  }
}

/** For a library that may not be brought to this program's layout. Throws `NewerLibrary`, `read_only`. */
function checkVersion(found: number): void {
  if (found > SCHEMA_VERSION) throw new NewerLibrary(found)
  if (found === SCHEMA_VERSION) return
  throw new Failure('read_only', 'The library has an older layout, which cannot be read as it is.', {
    hint: 'Run any command once without --read-only: that brings the library up to date, after a copy of it was made.',
  })
}

function realOutside(config: LocalConfig): Outside {
  const embedder = embedderFor(config.embedder)
  const model = modelFor(config.model)
  return {
    pages: pagesFor(config),
    media: openMediaFolder(join(config.library, 'media')),
    ...(embedder && { embedder }),
    ...(model && { model }),
  }
}

/** A file that was removed or replaced still takes writes on some systems: they would go with the last program that has it. */
function checkStillThere({ file, inode }: OpenFile): void {
  if (statSync(file, { throwIfNoEntry: false })?.ino === inode) return
  throw new Failure('unavailable', `The library was removed or replaced while it was open: ${file}`, {
    hint: 'Nothing was written. Start again to use what lies there now, or put the library back from a backup.',
  })
}

const pagesFor = ({ allowHosts, youtube }: LocalConfig): Pages =>
  createPages({ allow: allowHosts, ...(youtube && { youtube }) })

/** The embedder that the configuration names; undefined where it is switched off. */
export function embedderFor(config: LocalConfig['embedder']): Embedder | undefined {
  if (config.kind === 'off') return undefined
  if (config.kind === 'builtin') return createBuiltInEmbedder()
  const { kind, url, model, apiKey } = config
  return createRemoteEmbedder({ kind, url, model, ...(apiKey !== undefined && { apiKey }) })
}
