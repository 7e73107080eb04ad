import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openAccountsDb } from '../../../test/support/server-database.ts'
import { openAccounts, type Accounts } from './accounts.ts'
import { authenticate } from './authenticate.ts'
import { makePersonalToken, revokePersonalToken } from './personal-token-store.ts'
import { addReader } from './reader-store.ts'
import { restoreReader, suspendReader } from './suspension.ts'

let clock = Date.parse('2026-11-01T00:00:00Z')

/** Two processes of one server, and a token of one reader that the first has just answered. */
async function twoServers({ days }: { days?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'commonplace-authenticate-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const open = async (): Promise<Accounts> => {
    const { db, close } = await openAccountsDb(join(folder, 'server.db'))
    const pages = { fetch: () => Promise.reject(new Error('no web here')) }
    const accounts = await openAccounts({
      db,
      base: 'https://books.example.org',
      pages,
      now: () => new Date(clock),
    })
    onTestFinished(async () => {
      await accounts.close()
      await close()
    })
    return accounts
  }
  const here = await open()
  const there = await open()
  const { id: readerId } = await addReader(here, {})
  const made = await makePersonalToken(here, readerId, {
    name: 'my script',
    scopes: ['sources:read'],
    ...(days !== undefined && { days }),
  })
  const ask = (accounts = here) => authenticate(accounts, `Bearer ${made.token}`)
  expect(await ask()).toMatchObject({ readerId, connection: 'my script', tokenId: made.id })
  expect(await ask()).toMatchObject({ readerId })
  return { here, there, readerId, tokenId: made.id, ask }
}

it('refuses a token from the moment that this process or another revoked it', async () => {
  for (const which of ['here', 'there'] as const) {
    const servers = await twoServers()
    expect(await revokePersonalToken(servers[which], servers.readerId, servers.tokenId)).toBe(true)
    expect(await servers.ask()).toBeUndefined()
    expect(await servers.ask(servers.there)).toBeUndefined()
  }
})

it('refuses the tokens of a reader for as long as they are suspended, whoever suspends them', async () => {
  for (const which of ['here', 'there'] as const) {
    const servers = await twoServers()
    await suspendReader(servers[which], servers.readerId)
    expect(await servers.ask()).toBeUndefined()
    await restoreReader(servers[which], servers.readerId)
    expect(await servers.ask()).toMatchObject({ readerId: servers.readerId })
  }
})

it('refuses a token from the instant that it expires, with nothing else happening', async () => {
  const { ask } = await twoServers({ days: 1 })
  clock += 86_400_000 - 1
  expect(await ask()).toBeDefined()
  clock += 1
  expect(await ask()).toBeUndefined()
})

it('holds nothing of a change that is still going on or was taken back', async () => {
  const { here, readerId, tokenId, ask } = await twoServers()
  const change = here.db.transaction().execute(async (db) => {
    await revokePersonalToken({ ...here, db }, readerId, tokenId)
    await new Promise((resolve) => setTimeout(resolve, 5))
    throw new Error('taken back')
  })
  const [during] = await Promise.all([ask(), expect(change).rejects.toThrow('taken back')])
  expect(during).toBeDefined()
  expect(await ask()).toBeDefined()
})

it('counts every call that it lets through', async () => {
  const { here, ask } = await twoServers()
  for (let n = 0; n < 3; n++) await ask()
  await here.usage.flush()
  const { calls } = await here.db.selectFrom('personal_token').select('calls').executeTakeFirstOrThrow()
  expect(calls).toBe(5)
})
