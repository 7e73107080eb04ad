/** A server whose media lies in a store that speaks S3. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { startS3Server, type S3Server } from '../support/s3-server.ts'
import { startServer, type TestServer } from './serve.ts'

const TEXT = `# On Keeping\n\n${'It stands in the shallows at dusk, and nobody ever sees it move. '.repeat(20)}`
const HASH = createHash('sha256').update(TEXT).digest('hex')

let store: S3Server
let at: TestServer
let reader: string
let token: string
beforeAll(async () => {
  store = await startS3Server()
  const { url, region, key, secret } = store.config
  at = await startServer({
    env: {
      COMMONPLACE_S3_URL: url,
      COMMONPLACE_S3_REGION: region,
      COMMONPLACE_S3_KEY: key,
      COMMONPLACE_S3_SECRET: secret,
    },
  })
  reader = await at.newReader()
  token = await at.tokenFor(reader)
})
afterAll(async () => {
  await at.close()
  await store.close()
})

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(at.base + path, { headers: { authorization: `Bearer ${token}`, ...headers } })

const send = (text: string): Promise<Response> =>
  fetch(`${at.base}/api/files?name=keeping.md`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: text,
  })

const names = (): string[] =>
  existsSync(store.folder)
    ? readdirSync(store.folder, { recursive: true })
        .map(String)
        .filter((name) => name.endsWith('_object'))
    : []

it('keeps files in the store alone, and gives them out of it', async () => {
  const sent = await send(TEXT)
  expect(sent.status).toBe(202)
  const { item, job } = (await sent.json()) as { item: { id: string }; job: string }
  for (let state: unknown = 'pending'; state !== 'completed';) {
    const status = (await (await get(`/api/jobs/${job}`)).json()) as Json
    expect(status['state']).not.toBe('failed')
    state = status['state']
  }
  expect(names().filter((name) => name.includes(HASH))).toHaveLength(1)
  expect(names()).toHaveLength(2)
  expect(
    existsSync(join(at.folder, 'libraries'))
      ? readdirSync(join(at.folder, 'libraries'), { recursive: true })
      : [],
  ).not.toContain('media')
  const media = await get(`/api/media/${HASH}`)
  expect(await media.text()).toBe(TEXT)
  const part = await get(`/api/media/${HASH}`, { range: 'bytes=2-11' })
  expect([part.status, await part.text()]).toEqual([206, 'On Keeping'])
  expect((await get(`/api/items/${item.id}/text`)).status).toBe(200)
})

it('says that the store is away, loses nothing, and goes on by itself when it is back', async () => {
  await store.stop()
  const away = await get(`/api/media/${HASH}`)
  expect(away.status).toBe(503)
  expect(await away.json()).toMatchObject({ code: 'unavailable', hint: expect.stringMatching(/\.$/) })
  const refused = await send(`${TEXT} more`)
  expect([refused.status, ((await refused.json()) as Json)['code']]).toEqual([503, 'unavailable'])
  // What needs no media goes on meanwhile.
  expect((await at.api(token, 'list_items')).body).toMatchObject({ total: 1 })
  await store.start()
  expect(await (await get(`/api/media/${HASH}`)).text()).toBe(TEXT)
  expect((await send(`${TEXT} more`)).status).toBe(202)
})

it('never sends the end of a file that is damaged', async () => {
  const [kept = ''] = names().filter((name) => name.includes(HASH))
  const { writeFileSync } = await import('node:fs')
  writeFileSync(join(store.folder, kept), TEXT.replace('On Keeping', 'Of Keeping'))
  await expect(get(`/api/media/${HASH}`).then((response) => response.text())).rejects.toThrow()
})

it('has nothing left of a reader who is gone', async () => {
  expect(names()).not.toEqual([])
  await at.server.removeLibrary(reader)
  expect(names()).toEqual([])
})
