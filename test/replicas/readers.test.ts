/** What readers, their assistants and their browsers do, through whichever replica they get to. */
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import {
  approve,
  authorizeUrl,
  Browser,
  CALLBACK,
  connect,
  newClient,
  newReader,
  refresh,
  token as askForTokens,
} from '../oauth/support.ts'
import { freshDatabase } from '../support/postgres.ts'
import { pageOf, queue, startReplicas, type Replica, type Replicas } from './replicas.ts'

// Processes share a machine that may have other work.
vi.setConfig({ testTimeout: 120_000 })

let at: Replicas
beforeAll(async () => {
  at = await startReplicas(await freshDatabase(inject('postgresUrl')), {
    pageOf: (path) => pageOf(path.slice(1)),
  })
})
afterAll(() => at.stop())

const both = (): [Replica, Replica] => [at.one, at.two]
const baseOf = ({ url }: Replica) => ({ base: url })

/** A status of the protected resource at a replica. */
const statusAt = async (replica: Replica, accessToken: string): Promise<number> =>
  (await replica.api(accessToken, 'list_items')).status

describe('two replicas that start at once on an empty database', () => {
  it('make one first reader, and each gives a link that signs them in', async () => {
    const readers = await at.accounts.db
      .selectFrom('reader')
      .select('id')
      .where('library', '=', 'local')
      .execute()
    expect(readers).toHaveLength(1)
    for (const replica of both()) {
      const link = /at (\S+\/sign-in\?link=\S+)/.exec(replica.stdout())?.[1]
      expect(link).toBeDefined()
      const page = await new Browser(at.oauth).page(link!.replace(at.oauth.base, at.one.url))
      expect(page.status).toBe(200)
      expect(page.html).not.toMatch(/does not work|expired/i)
    }
  })

  it('seal what they hand out with one secret', async () => {
    const secrets = await at.accounts.db.selectFrom('server_secret').select('name').execute()
    expect(secrets).toEqual([{ name: 'root' }])
  })
})

describe('a connection', () => {
  it('is made once from one code, though both replicas are given it at the same moment', async () => {
    const client = await newClient(at.oauth)
    for (let round = 0; round < 5; round++) {
      const reader = await newReader(at.oauth, `code-${round}@example.org`)
      const browser = await new Browser(at.oauth).signIn(reader)
      const { url, verifier } = await authorizeUrl(at.oauth, client)
      const { callback } = await approve(browser, url, reader)
      const fields = {
        grant_type: 'authorization_code',
        client_id: client.client_id,
        code: callback.searchParams.get('code')!,
        redirect_uri: CALLBACK,
        code_verifier: verifier,
      }
      const answers = await Promise.all(
        [...both(), ...both()].map((replica) => askForTokens(baseOf(replica), fields)),
      )
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400])
      // Whoever has the code twice has stolen it: the connection is over, for the one who came first too.
      const given = answers.find(({ status }) => status === 200)!
      for (const replica of both()) expect(await statusAt(replica, given.body['access_token']!)).toBe(401)
    }
  })

  it('survives four refreshes at once, spread over both', async () => {
    const reader = await newReader(at.oauth, 'refresh@example.org')
    const client = await newClient(at.oauth)
    const { tokens } = await connect(at.oauth, client, await new Browser(at.oauth).signIn(reader), reader, {
      grant: ['sources:read', 'mcp'],
    })
    let last = tokens.refresh_token
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        [...both(), ...both()].map((replica) => refresh(baseOf(replica), client, last)),
      )
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      const next = new Set(answers.map(({ body }) => body['refresh_token']))
      expect(next.size).toBe(1)
      for (const { body } of answers)
        for (const replica of both()) expect(await statusAt(replica, body['access_token']!)).toBe(200)
      last = [...next][0]!
    }
  })

  it('that is ended at one is ended at the other with the next request', async () => {
    const reader = await newReader(at.oauth, 'revoke@example.org')
    const client = await newClient(at.oauth)
    const { tokens } = await connect(at.oauth, client, await new Browser(at.oauth).signIn(reader), reader, {
      grant: ['sources:read', 'mcp'],
    })
    for (const replica of both()) expect(await statusAt(replica, tokens.access_token)).toBe(200)
    const revoked = await fetch(`${at.one.url}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: tokens.refresh_token, client_id: client.client_id }),
    })
    expect(revoked.status).toBe(200)
    for (const replica of both()) expect(await statusAt(replica, tokens.access_token)).toBe(401)
    expect((await refresh(baseOf(at.two), client, tokens.refresh_token)).status).toBe(400)
  })

  it('is asked for at one replica, allowed at the other and redeemed at the first', async () => {
    const reader = await newReader(at.oauth, 'between@example.org')
    const client = await newClient(at.oauth)
    const browser = await new Browser(at.oauth).signIn(reader)
    const { url, verifier } = await authorizeUrl(at.oauth, client)
    const asked = await browser.request(url)
    const consent = new URL(asked.headers.get('location') ?? url, url)
    const page = await (await browser.request(consent.href.replace(at.one.url, at.two.url))).text()
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)![1]!
    const action = new URL(/<form[^>]*action="([^"]+)"/.exec(page)![1]!, at.two.url)
    const allowed = await browser.request(`${at.two.url}${action.pathname}${action.search}`, {
      method: 'POST',
      headers: { origin: at.oauth.base },
      body: new URLSearchParams([
        ['csrf', csrf],
        ['decision', 'allow'],
        ['scope', 'mcp'],
      ]),
    })
    const code = new URL(allowed.headers.get('location')!).searchParams.get('code')!
    const answer = await askForTokens(baseOf(at.one), {
      grant_type: 'authorization_code',
      client_id: client.client_id,
      code,
      redirect_uri: CALLBACK,
      code_verifier: verifier,
    })
    expect(answer.status).toBe(200)
  })
})

describe('what a reader has', () => {
  it('is nobody else’s at either', async () => {
    const [mine, yours] = [await at.newReader(), await at.newReader()]
    const [myToken, yourToken] = [await at.tokenFor(mine), await at.tokenFor(yours)]
    const saved = await at.one.api(myToken, 'save_url', { url: `${at.web.origin}/heron` })
    expect(saved.status).toBe(200)
    const id = (saved.body['item'] as Json | undefined)?.['id'] ?? saved.body['id']
    expect((await at.two.api(myToken, 'read_item', { id })).status).toBe(200)
    for (const replica of both()) {
      expect((await replica.api(yourToken, 'read_item', { id })).status).toBe(404)
      expect((await replica.api(yourToken, 'list_items')).body['items']).toEqual([])
    }
  })

  it('is shown page by page in the order that one replica found, by the other too, though it changes meanwhile', async () => {
    const token = await at.tokenFor(await at.newReader())
    await queue(
      at,
      token,
      Array.from({ length: 12 }, (_, n) => `heron-${n}`),
    )
    const query = { query: 'heron shallows', limit: 5 }
    const titles = (body: Json): unknown[] => (body['results'] as Json[]).map(({ title }) => title)
    const first = await at.one.api(token, 'search_library', query)
    expect(first.status).toBe(200)
    await at.two.api(token, 'save_url', { url: `${at.web.origin}/heron-shallows-heron-shallows` })
    const seen = titles(first.body)
    let cursor = first.body['nextCursor']
    for (let page = 0; cursor !== undefined && cursor !== null; page++) {
      const next = await both()[page % 2 === 0 ? 1 : 0]!.api(token, 'search_library', { ...query, cursor })
      expect(next.status).toBe(200)
      seen.push(...titles(next.body))
      cursor = next.body['nextCursor']
    }
    expect(seen).toHaveLength(12)
    expect(new Set(seen).size).toBe(12)
  })

  it('is written once for one requestId, whichever replica it reaches twice', async () => {
    const token = await at.tokenFor(await at.newReader())
    const args = { url: `${at.web.origin}/once`, requestId: 'the same call' }
    const answers = await Promise.all(
      [...both(), ...both()].map((replica) => replica.api(token, 'save_url', args)),
    )
    // One does it; who comes meanwhile is told so, and who comes later gets its answer.
    expect(answers.map(({ status }) => status).filter((status) => status !== 409)).toContain(200)
    const later = await Promise.all(both().map((replica) => replica.api(token, 'save_url', args)))
    expect(later.map(({ status }) => status)).toEqual([200, 200])
    expect(later[1]!.body).toEqual(later[0]!.body)
    expect((await at.one.api(token, 'list_items')).body['items']).toHaveLength(1)
  })
})
