/** A database that goes away and comes back, under a server that stays. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import pg from 'pg'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { newClient, token as askForTokens } from '../oauth/support.ts'
import { startOwnPostgres, type OwnPostgres } from '../support/postgres.ts'
import { pageOf, queue, startReplicas, until, type Replicas } from './replicas.ts'

// Processes share a machine that may have other work.
vi.setConfig({ testTimeout: 120_000 })

let database: OwnPostgres
let at: Replicas
let token: string
beforeAll(async () => {
  database = await startOwnPostgres()
  at = await startReplicas(database.url, { pageOf: (path) => pageOf(path.slice(1)) })
  token = await at.tokenFor(await at.newReader())
})
afterAll(async () => {
  await at.stop()
  await database.stop()
})

const mcp = async (name: string): Promise<{ status: number; headers: Headers; body: Json }> => {
  const response = await fetch(`${at.one.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': '2025-06-18',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
}
const statusOf = async (path: string): Promise<number> => (await fetch(at.one.url + path)).status

it('answers that it is unavailable while the database is away, and goes on by itself', async () => {
  const client = await newClient(at.oauth)
  await queue(at, token, ['heron'])
  for (let round = 0; round < 2; round++) {
    await database.halt()
    const refused = await at.one.api(token, 'list_items')
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ status: 503, code: 'unavailable' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)

    const overMcp = await mcp('list_items')
    expect(overMcp.status).toBe(503)
    expect(overMcp.body).toMatchObject({
      jsonrpc: '2.0',
      error: { code: -32603, data: { error: { code: 'unavailable' } } },
    })
    expect(overMcp.headers.has('www-authenticate')).toBe(false)

    const tokens = await askForTokens(at.oauth, {
      grant_type: 'refresh_token',
      client_id: client.client_id,
      refresh_token: 'x'.repeat(43),
    })
    expect(tokens.status).toBe(503)
    expect(tokens.body).toMatchObject({ error: 'temporarily_unavailable' })

    expect(await statusOf('/readyz')).toBe(503)
    expect(await statusOf('/healthz')).toBe(200)
    expect(await statusOf('/oauth/authorize?client_id=abc')).toBe(503)
    // Longer than the workers' own looks.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(at.one.child.exitCode).toBeNull()

    await database.resume()
    await until(async () => (await statusOf('/readyz')) === 200)
    expect((await at.one.api(token, 'list_items')).body['items']).toHaveLength(1)
    expect((await mcp('list_items')).status).toBe(200)
  }
  expect(at.one.stderr()).not.toContain('unhandled')
  // What works on queued jobs is there again as well.
  await queue(at, await at.tokenFor(await at.newReader()), ['egret', 'bittern'])
})

it('says so where the database takes no changes, and changes nothing', async () => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const readOnly = async (on: boolean): Promise<void> => {
    await client.query(`alter database postgres set default_transaction_read_only = ${on}`)
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = 'commonplace'`,
    )
  }
  await readOnly(true)
  try {
    // The connections that were there are found to be broken first.
    await until(async () => (await at.two.api(token, 'list_items')).body['code'] === 'read_only')
    const refused = await at.two.api(token, 'queue_save', { url: `${at.web.origin}/crane` })
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ code: 'read_only' })
    expect(await fetch(`${at.two.url}/readyz`)).toMatchObject({ status: 503 })
  } finally {
    await client.query('set session characteristics as transaction read write')
    await readOnly(false)
    await client.end()
  }
  await until(async () => (await fetch(`${at.two.url}/readyz`)).status === 200)
  expect((await at.two.api(token, 'list_items')).body['items']).toHaveLength(1)
})

it('ends as it should while the database is away', async () => {
  await database.halt()
  at.two.child.kill('SIGTERM')
  expect(await at.two.ended).toBe(0)
  await database.resume()
})
