import { z } from 'zod'
import { defineJob } from '../../../core/define-job.ts'
import { Failure } from '../../../core/failure.ts'
import type { Library } from '../../../core/library.ts'
import { toFailure } from '../../../core/to-failure.ts'
import { backupRecord, backupSettings, isBackupDue, noteBackup } from '../backup-settings.ts'

/** A backup that is made by itself; those that it made before and that are too many by then go. */
export const backUpJob = defineJob({
  kind: 'back-up',
  input: z.object({}),
  attempts: 3,
  // A disk that is not there will not be there in a minute.
  givesUpOn: ['unavailable'],
  async run(library, _input, { signal, progress }) {
    const { backups } = library.outside
    if (!backups) return
    const { folder, keep } = await backupSettings(library.db)
    await progress(0, undefined, 'Making a backup')
    const made = await backups.make(folder, library.now(), signal)
    const { written } = await backupRecord(library.db)
    const all = [...written, made]
    const left = await backups.remove(all.slice(0, Math.max(0, all.length - keep)))
    await library.change(({ db, at }) =>
      noteBackup(db, { madeAt: at, failure: null, written: [...left, ...all.slice(-keep)] }),
    )
  },
  async failed(library, _input, failure) {
    const { message, hint, code } = toFailure(failure)
    const said = code === 'internal_error' ? 'The backup could not be written.' : message
    await library.change(({ db, at }) => noteBackup(db, { failure: { at, message: said, hint } }))
  },
})

/** Queues a backup where the settings want one by now, whichever process gets to it first. */
export async function queueBackup(library: Library): Promise<void> {
  if (!library.outside.backups || library.readOnly) return
  const isDue = async (db: Library['db'] | Parameters<typeof backupSettings>[0]): Promise<boolean> =>
    isBackupDue(await backupSettings(db), await backupRecord(db), library.now())
  if (!(await isDue(library.db))) return
  await library.change(async (change) => {
    if (!(await isDue(change.db))) return
    await noteBackup(change.db, { triedAt: change.at })
    await change.later(backUpJob, {}, { key: 'backup' })
  })
}

/** A folder that was named and is not there, as that of a disk which is not plugged in. */
export const folderGone = (folder: string, cause: unknown): Failure =>
  new Failure('unavailable', `The folder for backups is not there: ${folder}.`, {
    hint: 'Plug in the disk that it lies on, or name another with `commonplace config backup.folder FOLDER`.',
    cause,
  })
