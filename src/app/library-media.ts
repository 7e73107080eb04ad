import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServerConfig } from '../config/server.ts'
import type { MediaStore } from '../core/outside.ts'
import { openMediaFolder } from '../outside/media-folder.ts'

/** The media of one library, and the way to be rid of them. */
export interface LibraryMedia {
  store: MediaStore
  /** Removes every file, for a library that goes; there may be none. */
  removeAll(): Promise<void>
  /** How much they are, counted file by file. */
  bytes(): Promise<number>
}

/** A folder is one library's alone. */
export const mediaInFolder = (folder: string): LibraryMedia => ({
  store: openMediaFolder(folder),
  removeAll: () => rm(folder, { recursive: true, force: true }),
  bytes: () => bytesIn(folder),
})

/** In the one store of all libraries, each under its own name. */
export async function mediaInS3(
  config: NonNullable<ServerConfig['s3']>,
  library: string,
): Promise<LibraryMedia> {
  const { openMediaS3 } = await import('../outside/media-s3.ts')
  const store = openMediaS3(config, `libraries/${library}`)
  return {
    store,
    removeAll: async () => void (await store.removeAll()),
    bytes: async () => (await store.usage()).bytes,
  }
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const found = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined)
    bytes += found?.size ?? 0
  }
  return bytes
}
