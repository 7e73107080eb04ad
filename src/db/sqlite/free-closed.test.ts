import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { queriesOn } from '../open.ts'
import { connect } from './connect.ts'

const FILES = '/proc/self/fd'

it.skipIf(!existsSync(FILES))('lets go of the files of connections that are closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-closed-'))
  const before = readdirSync(FILES).length
  let most = 0
  for (let n = 0; n < 600; n++) {
    const db = queriesOn(connect(join(folder, 'one.db')))
    await sql`create table if not exists a (b)`.execute(db)
    await sql`select * from a`.execute(db)
    await db.destroy()
    await turn()
    most = Math.max(most, readdirSync(FILES).length - before)
  }
  rmSync(folder, { recursive: true, force: true })
  // Each has two or three; without help all 600 stay.
  expect(most).toBeLessThan(800)
})
