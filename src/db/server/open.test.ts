import { DatabaseSync } from '@photostructure/sqlite'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { databaseFailure } from '../../core/database-failure.ts'
import { NewerServerDb, openServerDb } from './open.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-server-db-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('is made once, for its owner’s eyes, and every commit is on disk', async () => {
  const file = join(folder, 'server.db')
  const one = await openServerDb(file)
  const two = await openServerDb(file)
  await one.insertInto('server_secret').values({ name: 'x', value: 'y' }).execute()
  expect(await two.selectFrom('server_secret').selectAll().execute()).toEqual([{ name: 'x', value: 'y' }])
  expect(statSync(file).mode & 0o077).toBe(0)
  const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(one)
  expect(rows[0]?.synchronous).toBe(2)
  await Promise.all([one.destroy(), two.destroy()])
})

it('of a newer program is left alone', async () => {
  const file = join(folder, 'newer.db')
  const database = new DatabaseSync(file)
  database.exec('pragma user_version = 999')
  database.close()
  const refused: unknown = await openServerDb(file).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(NewerServerDb)
  // Whoever runs a server has no --library, and nothing that `commonplace doctor` could see to.
  expect(databaseFailure(refused)).toMatchObject({
    code: 'library_too_new',
    message: expect.stringContaining('server'),
    hint: expect.not.stringMatching(/--library|doctor/),
  })
})

it('lets nothing hang on a reader who is not there', async () => {
  const db = await openServerDb(':memory:')
  const orphan = { hash: 'x', reader_id: 'nobody', created_at: '', expires_at: '' }
  await expect(db.insertInto('session').values(orphan).execute()).rejects.toThrow(/FOREIGN KEY/)
  await db.destroy()
})
