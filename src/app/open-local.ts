import { sql } from 'kysely'
import { join } from 'node:path'
import { createLibrary, type Library } from '../core/library.ts'
import type { Embedder, Outside } from '../core/outside.ts'
import { migrate, queriesOn } from '../db/open.ts'
import { ensureReplica } from '../db/replica.ts'
import type { LocalConfig } from '../config/local.ts'
import { createBuiltInEmbedder } from '../outside/embeddings.ts'
import { createRemoteEmbedder } from '../outside/embeddings/remote-embedder.ts'
import { openMediaFolder } from '../outside/media-folder.ts'
import { createPages } from '../outside/pages.ts'
import { queueEmbedding } from '../features/search/jobs/embed-passages.ts'
import { scheduleDaily } from '../jobs/schedule.ts'
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
  queueing?: (due: Date) => void
  wake?: () => void
}

/** Opens a reader's own library and everything it is wired to. Makes it where there is none. */
export async function openLocal(config: LocalConfig, options: LocalOptions = {}): Promise<LocalLibrary> {
  const { readOnly = false, now = () => new Date(), onError = () => {}, queueing } = options
  const file = options.opened ?? openFile(config.library, { readOnly })
  const db = queriesOn(file.database)
  try {
    if (!readOnly) {
      await migrate(file.database, db, (version) => {
        snapshot(file, backupPath(file.folder, `before-version-${version + 1}`, now()))
      })
      await ensureReplica(db, fileMark(file.file))
    }
  } catch (error) {
    await db.destroy()
    throw error
  }
  const outside = options.outside ?? realOutside(config, file.folder)
  let worker: Worker | undefined
  const library = createLibrary({
    db,
    outside,
    readOnly,
    now,
    ...(queueing && { queueing }),
    wake: () => (worker ? worker.wake() : options.wake?.()),
  })
  return {
    library,
    file,
    work() {
      if (!worker) {
        worker = startWorker(library, JOBS, { onError })
        scheduleDaily(library).catch((error: unknown) => onError(error, 'schedule'))
        // The embedder may have been changed since the last time.
        queueEmbedding(library).catch((error: unknown) => onError(error, 'schedule'))
      }
      return worker
    },
    async close() {
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

function realOutside(config: LocalConfig, folder: string): Outside {
  const embedder = embedderFor(config.embedder)
  return {
    pages: createPages({ allow: config.allowHosts }),
    media: openMediaFolder(join(folder, 'media')),
    ...(embedder && { embedder }),
  }
}

/** The embedder that the configuration names; undefined where it is switched off. */
export function embedderFor(config: LocalConfig['embedder']): Embedder | undefined {
  if (config.kind === 'off') return undefined
  if (config.kind === 'builtin') return createBuiltInEmbedder()
  const { kind, url, model, apiKey } = config
  return createRemoteEmbedder({ kind, url, model, ...(apiKey !== undefined && { apiKey }) })
}
