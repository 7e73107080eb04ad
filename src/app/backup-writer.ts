import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BackupWriter } from '../core/outside.ts'
import { folderGone } from '../features/backups/jobs/back-up.ts'
import { backUp } from './back-up.ts'
import type { OpenFile } from './open-file.ts'

/** Writes the backups of a library file that are made by themselves. */
export const backupsOf = (file: OpenFile): BackupWriter => ({
  async make(folder, now, signal) {
    // A folder that somebody named is never made: on a disk that is not plugged in it would fill up another.
    if (folder !== null)
      await stat(folder).catch((error: unknown) => {
        throw folderGone(folder, error)
      })
    const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
    const target = folder ?? join(file.folder, 'backups')
    const path = await freePath(join(target, `commonplace-auto-${stamp}`))
    const { bytes } = await backUp(file, path, { now, signal })
    return { path, bytes }
  },
  async remove(files) {
    const left: { path: string; bytes: number }[] = []
    for (const { path, bytes } of files) {
      const found = await stat(path).catch(() => undefined)
      // Gone, or another file by now, which is not ours to remove.
      if (found?.size !== bytes) continue
      await rm(path, { force: true }).catch(() => left.push({ path, bytes }))
    }
    return left
  },
})

async function freePath(stem: string): Promise<string> {
  for (let n = 1; ; n++) {
    const path = `${stem}${n > 1 ? `-${n}` : ''}.tar.gz`
    if (!(await stat(path).catch(() => undefined))) return path
  }
}
