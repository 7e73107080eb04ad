/** AI credits of a server: spent by add_source, told to the reader, and the nightly taking up of what waits for them. */
import { expect, it, onTestFinished } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { startServer, type TestServer } from './serve.ts'

const PATIENT = { timeout: 30_000, interval: 50 }
const ASKED = { confirm: true, user_intent: 'keep this essay' }

async function served(env: Record<string, string>, now?: () => Date) {
  const at = await startServer({ env, ...(now && { now }) })
  onTestFinished(() => at.close())
  return { at, token: await at.tokenFor(at.server.first.reader.id) }
}

const add = async (at: TestServer, token: string, bird: string): Promise<Json> => {
  const { status, body } = await at.api(token, 'add_source', {
    ...ASKED,
    url: `https://birds.example/${bird}`,
  })
  expect(status).toBe(200)
  return body
}

const look = async (at: TestServer, token: string, id: unknown): Promise<Json> =>
  (await at.api(token, 'get_import', { id })).body

async function ended(at: TestServer, token: string, id: unknown): Promise<Json> {
  await expect.poll(async () => (await look(at, token, id))['status'], PATIENT).toMatch(/completed|failed/)
  return look(at, token, id)
}

const marksOf = async (at: TestServer, token: string, id: unknown): Promise<number> =>
  Number((await at.api(token, 'get_source', { id })).body['highlights_count'])

it('without credits a page is saved and readable; it is read the night after they are back, by itself', async () => {
  const clock = { at: new Date('2026-03-30T12:00:00Z') }
  const { at, token } = await served({ COMMONPLACE_CREDITS: '1' }, () => clock.at)
  const heron = await add(at, token, 'heron')
  expect(heron).toMatchObject({ status: 'pending', credits_left: 1 })
  expect(await ended(at, token, heron['import_id'])).toMatchObject({
    status: 'completed',
    truncated: false,
    credits_left: 0,
  })
  expect(await marksOf(at, token, heron['source_id'])).toBeGreaterThan(0)

  const egret = await add(at, token, 'egret')
  const short = await ended(at, token, egret['import_id'])
  expect(short).toMatchObject({
    status: 'completed',
    truncated: true,
    reason: { code: 'credits_used_up' },
    counts: { stretches_done: 0 },
  })
  expect(await marksOf(at, token, egret['source_id'])).toBe(0)
  const read = await at.api(token, 'read_item', { id: String(egret['source_id']) })
  expect(read.body['markdown']).toContain('in the essay on the egret')

  // Nobody asks for anything any more; the days go by.
  clock.at = new Date('2026-04-01T13:00:00Z')
  await expect.poll(() => marksOf(at, token, egret['source_id']), PATIENT).toBeGreaterThan(0)
  const kept = await look(at, token, egret['import_id'])
  expect(kept).toMatchObject({ truncated: true, reason: { code: 'credits_used_up' } })
  expect(await ended(at, token, kept['resumed_by'])).toMatchObject({
    resumes: egret['import_id'],
    truncated: false,
    credits_left: 0,
  })
  expect(at.errors).toEqual([])
})

it('what waits is taken up a day after the last time, however much the library is used meanwhile', async () => {
  const clock = { at: new Date('2026-03-31T01:30:00Z') }
  const { at, token } = await served({ COMMONPLACE_CREDITS: '1' }, () => clock.at)
  for (const bird of ['heron', 'egret']) await ended(at, token, (await add(at, token, bird))['import_id'])
  // A new month, and work that is no reading: the day is not over.
  clock.at = new Date('2026-04-01T00:30:00Z')
  await at.api(token, 'save_url', { url: 'https://birds.example/curlew' })
  const egret = (await at.api(token, 'list_sources', { q: 'egret' })).body['sources'] as { id: number }[]
  expect(await marksOf(at, token, egret[0]!.id)).toBe(0)
  await at.server.work().drained()
  clock.at = new Date('2026-04-01T01:31:00Z')
  await expect.poll(() => marksOf(at, token, egret[0]!.id), PATIENT).toBeGreaterThan(0)
})

it('readers spend their own, and over MCP as over HTTP', async () => {
  const { at, token } = await served({ COMMONPLACE_CREDITS: '1' })
  const other = await at.tokenFor(await at.newReader())
  const mine = await add(at, token, 'heron')
  await ended(at, token, mine['import_id'])
  const { told } = await at.mcp(other, 'add_source', { ...ASKED, url: 'https://birds.example/heron' })
  expect(told).toMatchObject({ credits_left: 1, created: true })
  expect(await ended(at, other, told['import_id'])).toMatchObject({ truncated: false, credits_left: 0 })
  expect(await look(at, token, mine['import_id'])).toMatchObject({ credits_left: 0 })
})

it('a write without what it takes is refused over HTTP in the documented form', async () => {
  const { at, token } = await served({})
  const { status, body } = await at.api(token, 'add_source', { url: 'https://birds.example/heron' })
  expect(status).toBe(400)
  expect(body).toMatchObject({ code: 'invalid_input' })
  const { isError, told } = await at.mcp(token, 'add_source', {
    url: 'https://birds.example/heron',
    confirm: 'true',
    user_intent: 'x',
  })
  expect(isError).toBe(true)
  expect(told).toMatchObject({ error: { number: -32011 } })
})
