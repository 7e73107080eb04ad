import { DatabaseSync } from '@photostructure/sqlite'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testOutside } from '../../test/support/library.ts'
import { addSource } from '../../test/support/sources.ts'
import { toFailure } from '../core/to-failure.ts'
import { readLocalConfig } from '../config/local.ts'
import { LIBRARY_FILE } from './open-file.ts'
import { openLocal } from './open-local.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-open-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = (options: { readOnly?: boolean } = {}) =>
  openLocal(readLocalConfig({}, { library: folder }), { ...options, outside: testOutside({}) })

const failureOf = async (options: { readOnly?: boolean }) =>
  open(options).then(
    () => undefined,
    (error: unknown) => toFailure(error),
  )

async function libraryOfVersion(version: number): Promise<void> {
  const local = await open()
  await addSource(local.library, { title: 'One' })
  await local.close()
  const database = new DatabaseSync(join(folder, LIBRARY_FILE))
  database.exec(`pragma user_version = ${version}`)
  database.close()
}

describe('opening a library', () => {
  it('of a newer program fails, for reading only as well', async () => {
    await libraryOfVersion(99)
    expect((await failureOf({}))?.code).toBe('library_too_new')
    expect((await failureOf({ readOnly: true }))?.code).toBe('library_too_new')
  })

  it('of an older layout for reading only says what brings it up to date', async () => {
    await libraryOfVersion(0)
    expect(await failureOf({ readOnly: true })).toMatchObject({
      code: 'read_only',
      hint: expect.stringContaining('without --read-only'),
    })
  })

  it('again keeps its range of ids; an older copy put in its place counts from another', async () => {
    const replicaOf = async () => {
      const local = await open()
      const id = await addSource(local.library, { title: 'One' })
      await local.close()
      return Math.floor(id / 2 ** 40)
    }
    const first = await replicaOf()
    expect(await replicaOf()).toBe(first)
    const file = join(folder, LIBRARY_FILE)
    copyFileSync(file, join(folder, 'older.db'))
    rmSync(file)
    // The file system may well give it the inode that has just become free.
    copyFileSync(join(folder, 'older.db'), file)
    expect(await replicaOf()).not.toBe(first)
  })

  it('for reading only changes nothing in it', async () => {
    await libraryOfVersion(1)
    const local = await open({ readOnly: true })
    expect(await local.library.db.selectFrom('source').select('title').execute()).toEqual([{ title: 'One' }])
    await expect(addSource(local.library, { title: 'Two' })).rejects.toMatchObject({ code: 'read_only' })
    await local.close()
  })
})
