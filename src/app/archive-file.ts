import { open } from 'node:fs/promises'
import type { ArchiveBytes } from '../features/exports/read-zip.ts'

/** A file that is read in pieces, wherever in it they lie. Throws what the file system throws. */
export async function openArchiveFile(path: string): Promise<ArchiveBytes & { close(): Promise<void> }> {
  const handle = await open(path)
  const { size } = await handle.stat()
  return {
    size,
    async read(start, end) {
      const length = Math.max(0, Math.min(end, size) - start)
      const piece = Buffer.alloc(length)
      let read = 0
      while (read < length) {
        const { bytesRead } = await handle.read(piece, read, length - read, start + read)
        if (bytesRead === 0) break
        read += bytesRead
      }
      return piece.subarray(0, read)
    },
    close: () => handle.close(),
  }
}
