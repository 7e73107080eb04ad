import { z } from 'zod'
import { defineJob } from '../../../core/define-job.ts'
import { Failure } from '../../../core/failure.ts'
import type { Library } from '../../../core/library.ts'
import { toFailure } from '../../../core/to-failure.ts'
import { isMediaNamed } from '../../sources/owned-store.ts'
import { failImport, findImport } from '../import-store.ts'

/** Brings in a file that was sent in: it lies among the media until it is done, and the report on it stays there. */
export const importFileJob = defineJob({
  kind: 'import-file',
  input: z.object({ importId: z.number() }),
  async run(library, { importId }, run) {
    const { status, file_hash, name } = await findImport(library.db, importId)
    if ((status !== 'pending' && status !== 'processing') || file_hash === null) return
    const bytes = await library.outside.media.get(file_hash)
    if (!bytes) {
      throw new Failure('file_not_found', `The file ${name ?? ''} is no longer there.`, {
        hint: 'Send it again.',
      })
    }
    const [{ writeImport }, { reportCsv }, { reportRows }] = await Promise.all([
      import('../write-import.ts'),
      import('../report-csv.ts'),
      import('../row-outcomes.ts'),
    ])
    await writeImport(library, bytes, {
      importId,
      name,
      signal: run.signal,
      keepReport: (report, outcomes) =>
        library.outside.media.put(
          Buffer.from([...reportCsv([{ file: name ?? '', rows: reportRows(report, outcomes) }])].join('')),
        ),
      onProgress: (done) => void run.progress(done).catch(() => {}),
    })
    await dropFile(library, file_hash)
  },
  async failed(library, { importId }, failure) {
    await library.change((change) => failImport(change, importId, toFailure(failure)))
    const { file_hash } = await findImport(library.db, importId)
    if (file_hash !== null) await dropFile(library, file_hash)
  },
})

async function dropFile({ db, outside }: Library, hash: string): Promise<void> {
  if (!(await isMediaNamed(db, hash))) await outside.media.remove(hash)
}
