import type { Library } from '../../core/library.ts'
import { detectFormat } from './formats.ts'
import { beginImport, findUnderWayFile } from './import-store.ts'
import { importFileJob } from './jobs/import-file.ts'

/**
 * Takes in a file that was sent, to be imported in the background; gives the id of the import. One that is under way already is
 * not begun twice. Throws `unsupported_type`, `damaged_file`, `too_large`, `quota_exceeded`, and then nothing is kept.
 */
export async function beginFile(library: Library, bytes: Uint8Array, name: string | null): Promise<number> {
  const { id: format } = detectFormat(bytes)
  const file_hash = await library.outside.media.put(bytes)
  return library.change(async (change) => {
    const underWay = await findUnderWayFile(change.db, file_hash)
    if (underWay) return underWay.id
    const importId = await beginImport(change, { kind: 'file', format, name, file_hash })
    await change.later(importFileJob, { importId })
    return importId
  })
}
