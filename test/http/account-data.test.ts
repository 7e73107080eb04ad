/** What a reader can do with their whole account, in a browser: see what it takes, take it with them, write, and leave. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { setPassword } from '../../src/features/accounts/identity.ts'
import { setEmail } from '../../src/features/accounts/reader-store.ts'
import { startSession } from '../../src/features/accounts/session-store.ts'
import { restoreReader, suspendReader } from '../../src/features/accounts/suspension.ts'
import { setAllowance } from '../../src/features/allowances/allowance-store.ts'
import { closeFeedback, listFeedback } from '../../src/features/feedback/feedback-store.ts'
import { grantCredits } from '../../src/features/credits/credits.ts'
import { databaseEnv, onPostgres } from '../support/server-database.ts'
import { startServer, type TestServer } from './serve.ts'

let at: TestServer
let env: Record<string, string>
let clock: number
beforeEach(async () => {
  clock = 0
  env = await databaseEnv()
  at = await startServer({ env, now: () => new Date(Date.now() + clock) })
})
afterEach(async () => {
  await at.close()
  expect(at.errors).toEqual([])
})

const PASSWORD = 'herons wait in the shallows'

/** A reader with a password, a page in their library, and a browser that is signed in. */
async function member(bird: string, { password = true } = {}) {
  const readerId = await at.newReader()
  const { accounts } = at.server
  await setEmail(accounts.db, readerId, `${bird}@example.org`, null)
  if (password) await setPassword(accounts, readerId, PASSWORD)
  const token = await at.tokenFor(readerId)
  const saved = await at.api(token, 'save_url', { url: `https://birds.example/${bird}`, note: `My ${bird}.` })
  expect(saved.status).toBe(200)
  return {
    readerId,
    token,
    id: (saved.body['item'] as { id: string }).id,
    ...browser(await startSession(accounts, readerId)),
  }
}

function browser(secret: string) {
  const cookie = `commonplace=${secret}`
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(at.base + path, { headers: { cookie, accept: 'text/html', ...headers }, redirect: 'manual' })
  const csrfOf = async (path: string) =>
    /name="csrf" value="([^"]+)"/.exec(await (await get(path)).text())?.[1] ?? ''
  return {
    cookie,
    get,
    csrfOf,
    async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
      const csrf = fields['csrf'] ?? (await csrfOf('/account/data'))
      const answer = await fetch(at.base + path, {
        method: 'POST',
        headers: { cookie, origin: at.base, ...headers },
        body: new URLSearchParams({ ...fields, csrf }),
        redirect: 'manual',
      })
      return { status: answer.status, text: await answer.text() }
    },
  }
}

describe('the page of a reader’s data', () => {
  it('says how much is stored, and how much of that is allowed', async () => {
    const ada = await member('heron')
    expect(await (await ada.get('/account/data')).text()).toMatch(
      /MB of pages and files, [\d.]+ MB of texts\.</,
    )
    await setAllowance(at.server.accounts.db, ada.readerId, { quotaBytes: 500_000_000, credits: 30 })
    await grantCredits(at.server.accounts, ada.readerId, 12)
    const text = await (await ada.get('/account/data')).text()
    expect(text).toContain('of your 500 MB')
    expect(text).toContain('42 left of 42 this month')
  })

  it('is for whoever signed in', async () => {
    for (const path of ['/account/data', '/account/delete', '/account/export']) {
      const answer = await fetch(at.base + path, { redirect: 'manual' })
      expect([path, answer.status, answer.headers.get('location')]).toEqual([
        path,
        303,
        expect.stringMatching(/^\/sign-in\?next=/),
      ])
    }
  })

  it('runs no script, stands in no frame, and takes no other method', async () => {
    const ada = await member('heron')
    const answer = await ada.get('/account/delete')
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(await answer.text()).not.toContain('<script')
    const put = await fetch(`${at.base}/account/delete`, { method: 'PUT', headers: { cookie: ada.cookie } })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST'])
  })
})

describe('a quota', () => {
  it('holds before a page is stored, says so, and lets it be captured once there is room', async () => {
    const ada = await member('heron')
    await setAllowance(at.server.accounts.db, ada.readerId, { quotaBytes: 1_000 })
    const refused = await at.api(ada.token, 'save_url', { url: 'https://birds.example/stork' })
    expect([refused.status, refused.body['code']]).toEqual([403, 'quota_exceeded'])
    expect(await (await ada.get('/account/data')).text()).toContain('Nothing new can be captured')
    const media = await at.server.mediaOf(ada.readerId)
    await expect(media.put(Buffer.from('a file'))).rejects.toMatchObject({ code: 'quota_exceeded' })
    expect((await at.api(ada.token, 'read_item', { id: ada.id })).status).toBe(200)
    await setAllowance(at.server.accounts.db, ada.readerId, { quotaBytes: 0 })
    expect((await at.api(ada.token, 'save_url', { url: 'https://birds.example/stork' })).status).toBe(200)
  })

  it('is exact to the byte, also for many files at once, and counts no file twice', async () => {
    const ada = await member('heron')
    const { mediaBytes, textBytes } = await at.server.storageOf(ada.readerId)
    expect([mediaBytes > 0, textBytes > 0]).toEqual([true, true])
    await setAllowance(at.server.accounts.db, ada.readerId, { quotaBytes: mediaBytes + textBytes + 1_000 })
    const media = await at.server.mediaOf(ada.readerId)
    const put = (n: number) => media.put(Buffer.alloc(100, n))
    const ended = await Promise.allSettled(Array.from({ length: 25 }, (_, n) => put(n)))
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    const first = ended.findIndex(({ status }) => status === 'fulfilled')
    await put(first)
    expect((await at.server.storageOf(ada.readerId)).mediaBytes).toBe(mediaBytes + 1_000)
    await media.remove(await put(first))
    expect((await at.server.storageOf(ada.readerId)).mediaBytes).toBe(mediaBytes + 900)
  })
})

describe('an export', () => {
  it('holds the reader’s library and account, and nothing of anybody else', async () => {
    const ada = await member('heron')
    await member('stork')
    const answer = await ada.get('/account/export')
    expect(answer.headers.get('content-type')).toBe('application/zip')
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="commonplace-export-[\d-]+\.zip"$/,
    )
    const files = unzipSync(new Uint8Array(await answer.arrayBuffer()))
    const all = Object.entries(files)
      .map(([name, bytes]) => name + Buffer.from(bytes).toString('utf8'))
      .join('\n')
    expect(Object.keys(files).filter((name) => name.startsWith('texts/'))).toHaveLength(1)
    for (const own of ['heron@example.org', 'My heron.', 'essay on the heron']) expect(all).toContain(own)
    expect(all).not.toContain('stork')
    expect(all).not.toContain(ada.token)
  })

  it('is not begun by another site, and a dozen times a day at most', async () => {
    const ada = await member('heron')
    const foreign = await ada.get('/account/export', { 'sec-fetch-site': 'cross-site' })
    expect([foreign.status, foreign.headers.get('location')]).toEqual([303, '/account/data'])
    for (let n = 0; n < 12; n++) expect((await ada.get('/account/export')).status).toBe(200)
    const refused = await ada.get('/account/export')
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  })
})

describe('feedback', () => {
  it('comes from the page and from the API, and waits in the inbox until it is done', async () => {
    const ada = await member('heron')
    const { db } = at.server.accounts
    expect(await ada.post('/account/feedback', { text: 'From the <b>page</b>.' })).toMatchObject({
      status: 200,
    })
    const sent = await fetch(`${at.base}/api/feedback`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'From a program.' }),
    })
    expect(sent.status).toBe(201)
    const inbox = await listFeedback(db, { done: false })
    expect(inbox.map(({ from, body }) => [from, body])).toEqual([
      ['heron@example.org', 'From the <b>page</b>.'],
      ['heron@example.org', 'From a program.'],
    ])
    await closeFeedback(db, inbox[0]!.id, new Date().toISOString())
    expect(await listFeedback(db, { done: false })).toHaveLength(1)
    expect(await listFeedback(db, { done: true })).toHaveLength(2)
  })

  it('that is empty, too long, nobody’s, from another site or too much is refused', async () => {
    const ada = await member('heron')
    const known = { authorization: `Bearer ${ada.token}` }
    const send = (body: string, headers: Record<string, string> = known) =>
      fetch(`${at.base}/api/feedback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      })
    const text = (value: unknown) => JSON.stringify({ text: value })
    for (const [body, status] of [
      [text(' '), 400],
      [text('x'.repeat(4_001)), 400],
      [text(7), 400],
      ['[', 400],
      ['x'.repeat(70_000), 413],
    ] as const)
      expect([body.slice(0, 20), (await send(body)).status]).toEqual([body.slice(0, 20), status])
    expect((await send(text('Hello'), {})).status).toBe(401)
    expect((await send(text('Hello'), { cookie: ada.cookie, origin: 'https://evil.example' })).status).toBe(
      403,
    )
    const forged = await ada.post('/account/feedback', { text: 'Hello' }, { origin: 'https://evil.example' })
    expect(forged.status).toBe(403)
    expect(await listFeedback(at.server.accounts.db, { done: true })).toEqual([])
    for (let n = 0; n < 10; n++) expect((await send(text(`${n}`))).status).toBe(201)
    expect((await send(text('one too many'))).status).toBe(429)
    clock += 86_400_000
    expect((await send(text('tomorrow'))).status).toBe(201)
  })
})

describe('a suspended reader', () => {
  it('is refused at once with session, token and API, and has everything back when restored', async () => {
    const ada = await member('heron')
    const { accounts } = at.server
    expect(await suspendReader(accounts, ada.readerId)).toBe(true)
    expect((await at.api(ada.token, 'list_items')).status).toBe(401)
    expect((await at.mcp(ada.token, 'list_items')).status).toBe(401)
    expect((await ada.get('/account/data')).status).toBe(303)
    await expect(startSession(accounts, ada.readerId)).rejects.toMatchObject({ code: 'account_suspended' })
    expect(await restoreReader(accounts, ada.readerId)).toBe(true)
    expect((await at.api(ada.token, 'list_items')).status).toBe(200)
    // Browsers were signed out for good.
    expect((await ada.get('/account/data')).status).toBe(303)
  })
})

describe('deleting an account', () => {
  /** Every file of the server's folder, and every table of its database, that has one of these words in it. */
  async function tracesOf(words: readonly string[]): Promise<string[]> {
    const { db } = at.server.accounts
    if (!onPostgres) await sql`pragma wal_checkpoint(truncate)`.execute(db)
    const files = (readdirSync(at.folder, { recursive: true }) as string[]).filter((name) => {
      const path = join(at.folder, name)
      if (words.some((word) => name.includes(word))) return true
      return statSync(path).isFile() && words.some((word) => readFileSync(path).includes(word))
    })
    return [...files, ...(await tablesWith(words))]
  }

  /** Past row-level security, so that nobody's rows are hidden. */
  async function tablesWith(words: readonly string[]): Promise<string[]> {
    const holds = (rows: unknown) => words.some((word) => JSON.stringify(rows).includes(word))
    if (!onPostgres) {
      const { db } = at.server.accounts
      const { rows } = await sql<{
        name: string
      }>`select name from sqlite_master where type = 'table'`.execute(db)
      const held = await Promise.all(
        rows.map(async ({ name }) => holds((await sql`select * from ${sql.table(name)}`.execute(db)).rows)),
      )
      return rows.filter((_, n) => held[n]).map(({ name }) => name)
    }
    const client = new pg.Client(env['COMMONPLACE_DATABASE_URL'])
    await client.connect()
    try {
      const { rows } = await client.query<{ name: string }>(
        `select tablename as name from pg_tables where schemaname = current_schema()`,
      )
      expect(rows.length).toBeGreaterThan(40)
      const found: string[] = []
      for (const { name } of rows)
        if (holds((await client.query(`select t::text from "${name}" t`)).rows)) found.push(name)
      return found
    } finally {
      await client.end()
    }
  }

  it('leaves no file, row or token of the reader, and touches nobody else', async () => {
    const ada = await member('heron')
    const bea = await member('stork')
    const { db } = at.server.accounts
    await ada.post('/account/feedback', { text: 'A word from the heron.' })
    await setAllowance(db, ada.readerId, { credits: 3 })
    await grantCredits(at.server.accounts, ada.readerId, 1)
    const words = ['My heron', 'A word from the heron', 'heron@example.org', 'essay on the heron']
    expect((await tracesOf(words)).length).toBeGreaterThan(3)
    const before = (await at.api(bea.token, 'list_items')).body
    const ended = await ada.post('/account/delete', { sure: 'yes', password: PASSWORD })
    expect([ended.status, ended.text]).toEqual([200, expect.stringContaining('Your account is deleted')])

    expect((await at.api(ada.token, 'list_items')).status).toBe(401)
    expect((await ada.get('/account/data')).status).toBe(303)
    expect(await tracesOf(words)).toEqual([])
    // What says that the library is to be looked for again goes half an hour later.
    expect(await tablesWith([ada.readerId])).toEqual(['library_removal'])

    expect((await at.api(bea.token, 'list_items')).body).toEqual(before)
    expect((await bea.get('/account/data')).status).toBe(200)
    expect((await at.api(bea.token, 'save_url', { url: 'https://birds.example/crane' })).status).toBe(200)
  })

  it('asks for the password, the tick and our own form, and offers the export first', async () => {
    const ada = await member('heron')
    const page = await (await ada.get('/account/delete')).text()
    expect(page).toContain('href="/account/export"')
    expect(page).toContain('every highlight and note')
    for (const [fields, status] of [
      [{ sure: 'yes', password: 'not the right one' }, 403],
      [{ sure: 'yes' }, 403],
      [{ password: PASSWORD }, 400],
      [{ sure: 'yes', password: PASSWORD, csrf: 'forged' }, 403],
    ] as [Record<string, string>, number][])
      expect([fields, (await ada.post('/account/delete', fields)).status]).toEqual([fields, status])
    const foreign = await ada.post(
      '/account/delete',
      { sure: 'yes', password: PASSWORD },
      { origin: 'https://evil.example' },
    )
    expect(foreign.status).toBe(403)
    expect((await at.api(ada.token, 'list_items')).status).toBe(200)
  })

  it('without a password takes a fresh sign-in, and not one of long ago', async () => {
    const ada = await member('heron', { password: false })
    const csrf = await ada.csrfOf('/account/delete')
    clock += 2 * 3_600_000
    expect(await (await ada.get('/account/delete')).text()).toContain('sign in again')
    expect((await ada.post('/account/delete', { sure: 'yes', csrf })).status).toBe(403)
    const fresh = browser(await startSession(at.server.accounts, ada.readerId))
    expect((await fresh.post('/account/delete', { sure: 'yes' })).status).toBe(200)
    expect((await at.api(ada.token, 'list_items')).status).toBe(401)
  })

  it.skipIf(onPostgres)(
    'of the first reader leaves the library that the command line opens, and says so',
    async () => {
      const { accounts, first } = at.server
      const token = await at.tokenFor(first.reader.id)
      await at.api(token, 'save_url', { url: 'https://birds.example/heron' })
      const own = browser(await startSession(accounts, first.reader.id))
      expect(await (await own.get('/account/delete')).text()).toContain('Your library stays')
      expect((await own.post('/account/delete', { sure: 'yes' })).status).toBe(200)
      expect((await at.api(token, 'list_items')).status).toBe(401)
      expect(existsSync(join(at.folder, 'library.db'))).toBe(true)
      expect(existsSync(join(at.folder, 'media'))).toBe(true)
      expect((await fetch(`${at.base}/readyz`)).status).toBe(200)
    },
  )
})
