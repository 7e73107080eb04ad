/** A reader whom the operator suspended: nothing of theirs is answered, and nothing of it is lost when they are let in again. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeSignInLink } from '../../src/features/accounts/identity.ts'
import { makePersonalToken } from '../../src/features/accounts/personal-token-store.ts'
import { restoreReader, suspendReader } from '../../src/features/accounts/suspension.ts'
import {
  approve,
  authorizeUrl,
  Browser,
  CALLBACK,
  connect,
  newClient,
  newReader,
  refresh,
  startOAuthServer,
  statusOf,
  token,
  type TestServer,
} from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startOAuthServer()
})
afterAll(() => server.stop())

it('keeps tokens from being used, refreshed and redeemed, and all of them work again when restored', async () => {
  const { accounts } = server
  const reader = await newReader(server, 'ada@example.org')
  const client = await newClient(server)
  const browser = await new Browser(server).signIn(reader)
  const { tokens } = await connect(server, client, browser, reader)
  const personal = (await makePersonalToken(accounts, reader.id, { name: 'mine', scopes: ['mcp'] })).token
  const other = await newClient(server)
  const { url, verifier } = await authorizeUrl(server, other)
  const { callback } = await approve(browser, url, reader)
  const redeem = () =>
    token(server, {
      grant_type: 'authorization_code',
      client_id: other.client_id,
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: CALLBACK,
      code_verifier: verifier,
    })

  await suspendReader(accounts, reader.id)
  expect(await statusOf(server, tokens.access_token)).toBe(401)
  expect(await statusOf(server, personal)).toBe(401)
  expect(await refresh(server, client, tokens.refresh_token)).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  })
  expect(await redeem()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })

  await restoreReader(accounts, reader.id)
  expect(await statusOf(server, tokens.access_token)).toBe(200)
  expect(await statusOf(server, personal)).toBe(200)
  expect((await refresh(server, client, tokens.refresh_token)).status).toBe(200)
  expect((await redeem()).status).toBe(200)
})

it('signs browsers out, takes no link, and says why to whoever has the password', async () => {
  const { accounts } = server
  const reader = await newReader(server, 'bea@example.org')
  const browser = await new Browser(server).signIn(reader)
  const link = await makeSignInLink(accounts, reader.id)
  await suspendReader(accounts, reader.id)
  expect((await browser.page(`${server.base}/account`)).url).toContain('/sign-in')
  const after = new Browser(server)
  const page = await after.page(`${server.base}/sign-in`)
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? ''
  const told = await after.postForPage(`${server.base}/sign-in`, [
    ['csrf', csrf],
    ['email', 'bea@example.org'],
    ['password', reader.password],
  ])
  expect([told.status, told.html]).toEqual([403, expect.stringContaining('This account is suspended.')])
  const opened = await after.page(link)
  const field = /name="csrf" value="([^"]+)"/.exec(opened.html)?.[1] ?? ''
  const used = await after.postForPage(`${server.base}/sign-in`, [
    ['csrf', field],
    ['link', new URL(link).searchParams.get('link') ?? ''],
  ])
  expect(used.status).toBe(400)
  await restoreReader(accounts, reader.id)
  const again = await after.postForPage(`${server.base}/sign-in`, [
    ['csrf', field],
    ['email', 'bea@example.org'],
    ['password', reader.password],
  ])
  expect(again.url).toBe(`${server.base}/account`)
  expect(server.errors).toEqual([])
})
