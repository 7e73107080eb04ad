/** Deleting an account is killed at any moment: it is there as it was, or it goes entirely, and nobody else is touched. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openServer } from '../../src/app/open-server.ts'
import { readServerConfig } from '../../src/config/server.ts'
import { addReader, findReader } from '../../src/features/accounts/reader-store.ts'
import { PROGRAM } from '../support/run-cli.ts'

const ROUNDS = 8
const FILES = 1_500

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'killed-deletion-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = () =>
  openServer(readServerConfig({ COMMONPLACE_DATA: folder, COMMONPLACE_EMBEDDER: 'off' }), {
    base: 'http://localhost:1',
  })

const countSources = async (server: Awaited<ReturnType<typeof open>>, readerId: string): Promise<number> =>
  server.libraries.use(readerId, async ({ library }) => {
    const rows = await library.db.selectFrom('source').select('id').execute()
    return rows.length
  })

/** Runs `admin users delete` and kills it after so many milliseconds. Gives whether it ended by itself. */
async function deleteAndKill(readerId: string, afterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [PROGRAM, 'admin', 'users', 'delete', readerId, '--yes'], {
    env: { ...process.env, COMMONPLACE_DATA: folder, COMMONPLACE_LIBRARY: '', COMMONPLACE_EMBEDDER: 'off' },
    stdio: 'ignore',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  return code === 0
}

/** How long it takes when nobody kills it, so that the moments are spread over the whole of it. */
async function measured(): Promise<number> {
  const { id } = await newReader()
  const begun = performance.now()
  expect(await deleteAndKill(id, 60_000)).toBe(true)
  return performance.now() - begun
}

async function newReader(): Promise<{ id: string; of: string }> {
  const server = await open()
  try {
    const { id } = await addReader(server.accounts, {})
    await server.libraries.use(id, ({ library }) =>
      library.change((change) =>
        change.insert('source', {
          kind: 'article',
          title: 'On herons',
          match_key: '',
          authors: '[]',
          created_at: change.at,
          updated_at: change.at,
        }),
      ),
    )
    const of = join(folder, 'libraries', id)
    // Many files, so that removing them takes a while.
    for (let n = 0; n < FILES; n++) {
      const hash = n.toString(16).padStart(64, 'a')
      const place = join(of, 'media', hash.slice(0, 2), hash.slice(-2))
      mkdirSync(place, { recursive: true })
      writeFileSync(join(place, hash), 'x')
    }
    return { id, of }
  } finally {
    await server.close()
  }
}

it('leaves all or nothing', async () => {
  const other = await newReader()
  const wholeMs = await measured()
  const outcomes = { untouched: 0, finished: 0, halfway: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const { id, of } = await newReader()
    // Starting the program takes most of the time, and nothing happens meanwhile.
    const ended = await deleteAndKill(id, wholeMs * (0.5 + (0.5 * round) / (ROUNDS - 1)))
    const left = existsSync(of) ? readdirSync(of, { recursive: true }).length : 0
    const server = await open()
    try {
      const reader = await findReader(server.accounts.db, id)
      if (reader) {
        outcomes.untouched++
        expect(ended).toBe(false)
        expect(await countSources(server, id)).toBe(1)
        expect(left).toBeGreaterThan(FILES)
        await server.removeLibrary(id)
      } else if (left > 0) outcomes.halfway++
      else outcomes.finished++
      expect(existsSync(of)).toBe(false)
      const rows = await server.accounts.db.selectFrom('storage_use').select('reader_id').execute()
      expect(rows.map(({ reader_id }) => reader_id)).not.toContain(id)
      expect(await countSources(server, other.id)).toBe(1)
      expect(readdirSync(other.of, { recursive: true }).length).toBeGreaterThan(FILES)
    } finally {
      await server.close()
    }
  }
  // Else the moments were none.
  expect(outcomes.untouched).toBeGreaterThan(0)
  expect(outcomes.untouched + outcomes.halfway + outcomes.finished).toBe(ROUNDS)
}, 240_000)
