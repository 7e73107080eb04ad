/** `commonplace admin` beside two servers on one PostgreSQL: what it changes holds for both with the next request. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { setAllowance } from '../../src/features/allowances/allowance-store.ts'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { PROGRAM } from '../support/run-cli.ts'
import { freshDatabase } from '../support/postgres.ts'
import { pageOf, queue, startReplicas, type Replica, type Replicas } from './replicas.ts'

let at: Replicas
let url: string
let folder: string
beforeAll(async () => {
  url = await freshDatabase(inject('postgresUrl'))
  folder = mkdtempSync(join(tmpdir(), 'commonplace-administration-'))
  at = await startReplicas(url, {
    env: { COMMONPLACE_DATA: folder },
    pageOf: (path) => pageOf(path.slice(1)),
  })
})
afterAll(async () => {
  await at.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function admin<T>(...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'admin', ...args, '--json'], {
    env: {
      ...process.env,
      COMMONPLACE_DATA: folder,
      COMMONPLACE_DATABASE_URL: url,
      COMMONPLACE_EMBEDDER: 'off',
      COMMONPLACE_ALLOW_HOSTS: at.web.host,
    },
  })
  return JSON.parse(stdout) as T
}

/** A status at each replica. */
const statuses = async (token: string): Promise<number[]> => [
  (await at.one.api(token, 'list_items')).status,
  (await at.two.api(token, 'list_items')).status,
]

/** Tables that have a word in any row, past row-level security. */
async function tablesWith(words: readonly string[]): Promise<string[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = current_schema()`,
    )
    const found: string[] = []
    for (const { name } of rows) {
      const held = await client.query<{ row: string }>(`select t::text as row from "${name}" t`)
      if (held.rows.some(({ row }) => words.some((word) => row.includes(word)))) found.push(name)
    }
    return found
  } finally {
    await client.end()
  }
}

it('suspends and restores at both', async () => {
  const token = await at.tokenFor(await at.newReader())
  expect(await statuses(token)).toEqual([200, 200])
  const [reader] = (await admin<{ readers: { id: string }[] }>('users')).readers.slice(-1)
  await admin('users', 'suspend', reader!.id)
  expect(await statuses(token)).toEqual([401, 401])
  await admin('users', 'restore', reader!.id)
  expect(await statuses(token)).toEqual([200, 200])
})

it('keeps one quota at both', async () => {
  const id = await at.newReader()
  const token = await at.tokenFor(id)
  await queue(at, token, ['heron'])
  const { bytes } = await admin<{ bytes: number }>('users', 'show', id)
  expect(bytes).toBeGreaterThan(0)
  const save = async (replica: Replica, bird: string) => {
    const { status, body } = await replica.api(token, 'save_url', { url: `${at.web.origin}/${bird}` })
    return [status, body['code']]
  }
  await setAllowance(at.accounts.db, id, { quotaBytes: bytes })
  expect(await save(at.one, 'stork')).toEqual([403, 'quota_exceeded'])
  expect(await save(at.two, 'egret')).toEqual([403, 'quota_exceeded'])
  await admin('quota', id, 'none')
  expect(await save(at.one, 'egret')).toEqual([200, undefined])
  expect(await save(at.two, 'stork')).toEqual([200, undefined])
})

it('exports what a reader has, through Kysely and row-level security alike', async () => {
  const [id, other] = [await at.newReader(), await at.newReader()]
  await queue(at, await at.tokenFor(id), ['bittern', 'crane'])
  await queue(at, await at.tokenFor(other), ['ibis'])
  const file = join(folder, 'export.zip')
  await admin('users', 'export', id, file)
  const files = Object.entries(unzipSync(readFileSync(file)))
  const text = files.map(([name, bytes]) => name + Buffer.from(bytes).toString('utf8')).join('\n')
  expect(files.filter(([name]) => name.startsWith('texts/'))).toHaveLength(2)
  expect(text).toContain('bittern')
  expect(text).not.toContain('ibis')
  const manifest = JSON.parse(Buffer.from(unzipSync(readFileSync(file))['manifest.json']!).toString()) as {
    tables: Record<string, { rows: number; inLibrary: number }>
  }
  for (const { rows, inLibrary } of Object.values(manifest.tables)) expect(rows).toBe(inLibrary)
})

it('deletes a reader while both have the library open and one is capturing, and leaves no row of theirs', async () => {
  const [id, other] = [await at.newReader(), await at.newReader()]
  const [token, otherToken] = [await at.tokenFor(id), await at.tokenFor(other)]
  await queue(at, token, ['avocet', 'curlew'])
  await queue(at, otherToken, ['pelican'])
  expect(await statuses(token)).toEqual([200, 200])
  const before = (await at.two.api(otherToken, 'list_items')).body
  expect((await tablesWith(['avocet'])).length).toBeGreaterThan(3)
  const late = Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      [at.one, at.two][n % 2]!.api(token, 'queue_save', { url: `${at.web.origin}/curlew${n}` }),
    ),
  )
  expect(await admin('users', 'delete', id, '--yes')).toMatchObject({ deleted: true })
  expect(await statuses(token)).toEqual([401, 401])
  await late
  // What a call had begun to write may come a moment after; the next look takes it away.
  expect(await tablesWith(['avocet', 'curlew'])).toEqual([])
  expect((await at.two.api(otherToken, 'list_items')).body).toEqual(before)
  const listed = await admin<{ readers: Json[] }>('users')
  expect(listed.readers.map((reader) => reader['id'])).not.toContain(id)
})
