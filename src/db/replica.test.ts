import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { migrate, queriesOn } from './open.ts'
import { ensureReplica } from './replica.ts'

async function emptyLibrary() {
  const database = new DatabaseSync(':memory:')
  const db = queriesOn(database)
  await migrate(database, db, () => {})
  return db
}

const current = async (db: Awaited<ReturnType<typeof emptyLibrary>>) =>
  (await db.selectFrom('replica').select('number').where('current', '=', 1).execute()).map(
    ({ number }) => number,
  )

it('a file keeps its number', async () => {
  const db = await emptyLibrary()
  await ensureReplica(db, { inode: '1', born: '7' })
  const [first] = await current(db)
  await ensureReplica(db, { inode: '1', born: '7' })
  expect(await current(db)).toEqual([first])
  expect(first).toBeGreaterThanOrEqual(1)
  expect(first).toBeLessThanOrEqual(8191)
})

it('a copy draws a number that the file never had', async () => {
  const db = await emptyLibrary()
  for (let copy = 0; copy < 20; copy++) await ensureReplica(db, { inode: String(copy) })
  const rows = await db.selectFrom('replica').select('number').execute()
  expect(new Set(rows.map(({ number }) => number)).size).toBe(20)
  expect(await current(db)).toHaveLength(1)
})

it('an inode that was given away and made anew is another file', async () => {
  const db = await emptyLibrary()
  await ensureReplica(db, { inode: '1', born: '7' })
  const [first] = await current(db)
  await ensureReplica(db, { inode: '1', born: '8' })
  expect(await current(db)).not.toEqual([first])
})

it('a birth that becomes known later, or is no longer known, makes no other file of it', async () => {
  const db = await emptyLibrary()
  await ensureReplica(db, { inode: '1' })
  const [first] = await current(db)
  await ensureReplica(db, { inode: '1', born: '7' })
  await ensureReplica(db, { inode: '1' })
  expect(await current(db)).toEqual([first])
  // It was remembered meanwhile.
  await ensureReplica(db, { inode: '1', born: '8' })
  expect(await current(db)).not.toEqual([first])
})
