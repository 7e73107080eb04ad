import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testOutside } from '../../test/support/library.ts'
import { addSource } from '../../test/support/sources.ts'
import { readLocalConfig } from '../config/local.ts'
import { openLocal } from './open-local.ts'
import { restoreBackup } from './restore-backup.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-restore-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = (name: string) =>
  openLocal(readLocalConfig({}, { library: join(folder, name) }), { outside: testOutside({}) })

it('a bare library file is restored with what a program that was killed had written last', async () => {
  const killed = await open('killed')
  await addSource(killed.library, { title: 'In the file' })
  killed.file.database.exec('pragma wal_checkpoint(truncate)')
  await addSource(killed.library, { title: 'In the log only' })
  // As it lies on the disk when the program ends here and now.
  const file = join(folder, 'saved.db')
  for (const suffix of ['', '-wal']) copyFileSync(killed.file.file + suffix, file + suffix)
  await killed.close()

  expect(await restoreBackup(join(folder, 'new'), file, new Date())).toMatchObject({ items: 2 })
  const restored = await open('new')
  const titles = await restored.library.db.selectFrom('source').select('title').orderBy('title').execute()
  expect(titles.map(({ title }) => title)).toEqual(['In the file', 'In the log only'])
  await restored.close()
})
