/** A library of an earlier program, brought to the layout of a later one. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { backupPath, openFile, snapshot, type OpenFile } from '../../src/app/open-file.ts'
import { NewerLibrary } from '../../src/db/newer-library.ts'
import { MIGRATIONS, migrate, queriesOn, type Migration } from '../../src/db/open.ts'
import { SCHEMA_VERSION, schemaVersionOf } from '../../src/db/sqlite/connect.ts'

let folder: string
const opened: OpenFile[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-migration-'))
})
afterEach(() => {
  for (const { database } of opened.splice(0)) if (database.isOpen) database.close()
  rmSync(folder, { recursive: true, force: true })
})

function open(): OpenFile {
  const file = openFile(folder)
  opened.push(file)
  return file
}

const NOW = new Date('2026-03-01T12:00:00Z')
const bring = (file: OpenFile, migrations?: readonly Migration[]): Promise<void> =>
  migrate(
    file.database,
    queriesOn(file.database),
    (version) => void snapshot(file, backupPath(folder, `before-version-${version + 1}`, NOW)),
    migrations,
  )

/** What a later program would add to the library. */
const later: Migration = {
  up: async (db) => {
    await sql`create table later (n integer)`.execute(db)
    await sql`insert into later select count(*) from local`.execute(db)
  },
}

const tables = (file: OpenFile): number =>
  (file.database.prepare('select count(*) as count from sqlite_schema').get() as { count: number }).count

it('the versions and the migrations are as many', () => {
  expect(MIGRATIONS).toHaveLength(SCHEMA_VERSION)
})

it('makes a new library without a snapshot, and leaves one of its own version alone', async () => {
  const file = open()
  await bring(file)
  expect(schemaVersionOf(file.database)).toBe(SCHEMA_VERSION)
  await bring(file)
  expect(existsSync(join(folder, 'backups'))).toBe(false)
})

it('takes a snapshot of what was there before it changes anything', async () => {
  const file = open()
  await bring(file)
  file.database.exec(`insert into local values ('kept', 'here')`)
  await bring(file, [...MIGRATIONS, later])
  expect(schemaVersionOf(file.database)).toBe(SCHEMA_VERSION + 1)
  expect(file.database.prepare('select n from later').all()).toEqual([{ n: 1 }])
  const [name, ...more] = readdirSync(join(folder, 'backups'))
  expect([name, more]).toEqual([`20260301T120000-before-version-${SCHEMA_VERSION + 1}.db`, []])
  const before = openFile(folder)
  opened.push(before)
  before.database.exec(`attach '${join(folder, 'backups', name!)}' as snapshot`)
  expect(before.database.prepare('pragma snapshot.user_version').get()).toEqual({
    user_version: SCHEMA_VERSION,
  })
  expect(before.database.prepare('select value from snapshot.local').all()).toEqual([{ value: 'here' }])
})

it('that fails leaves the library as it was, and usable', async () => {
  const file = open()
  await bring(file)
  const count = tables(file)
  const broken: Migration = {
    up: async (db) => {
      await later.up(db)
      await sql`insert into nowhere values (1)`.execute(db)
    },
  }
  await expect(bring(file, [...MIGRATIONS, broken])).rejects.toThrow()
  expect(schemaVersionOf(file.database)).toBe(SCHEMA_VERSION)
  expect(tables(file)).toBe(count)
  await bring(file)
  await bring(file, [...MIGRATIONS, later])
  expect(schemaVersionOf(file.database)).toBe(SCHEMA_VERSION + 1)
})

it('does not begin where no snapshot can be taken', async () => {
  const file = open()
  await bring(file)
  const full = () => {
    throw new Error('no room')
  }
  const moved = migrate(file.database, queriesOn(file.database), full, [...MIGRATIONS, later])
  await expect(moved).rejects.toThrow('no room')
  expect(schemaVersionOf(file.database)).toBe(SCHEMA_VERSION)
})

it('runs once when two open the library at the same moment', async () => {
  await bring(open())
  let runs = 0
  const counted: Migration = { up: (db) => (runs++, later.up(db)) }
  await Promise.all([open(), open()].map((file) => bring(file, [...MIGRATIONS, counted])))
  expect(runs).toBe(1)
})

it('never goes back: a library of a later program is refused', async () => {
  const file = open()
  await bring(file, [...MIGRATIONS, later])
  await expect(bring(file)).rejects.toThrow(NewerLibrary)
  expect(schemaVersionOf(file.database)).toBe(SCHEMA_VERSION + 1)
})
