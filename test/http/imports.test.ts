/** Exports of other programs over HTTP: sent in, followed, reported and undone. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { startServer, type TestServer } from './serve.ts'

let at: TestServer
let token: string
beforeAll(async () => {
  at = await startServer({ env: { COMMONPLACE_UPLOAD_MB: '1' } })
  token = await at.tokenFor(at.server.first.reader.id)
})
afterAll(async () => {
  await at.close()
  expect(at.errors).toEqual([])
})

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${at.base}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } })

const json = async (path: string, init?: RequestInit): Promise<Json> =>
  (await (await ask(path, init)).json()) as Json

const CSV = `Highlight,Book Title,Book Author,Amazon Book ID,Note,Color,Tags,Location Type,Location,Highlighted at,Document tags
=1+1 is a formula,Bees,Ann,,,,,page,1,2024-01-01 10:00:00+00:00,
,Bees,Ann,,,,,page,2,2024-01-01 10:00:00+00:00,
`

async function completed(id: unknown): Promise<Json> {
  let told: Json = {}
  await expect
    .poll(async () => (told = await json(`/api/imports/${String(id)}`))['status'], { timeout: 20_000 })
    .toBe('completed')
  return told
}

it('imports a file that is sent in, says what became of each row, and undoes it', async () => {
  const sent = await ask('/api/imports?name=readwise.csv', { method: 'POST', body: CSV })
  expect(sent.status).toBe(202)
  const { import_id: id } = (await sent.json()) as Json
  expect(sent.headers.get('location')).toBe(`/api/imports/${String(id)}`)
  expect(await completed(id)).toMatchObject({
    format: 'readwise-csv',
    name: 'readwise.csv',
    counts: { rows: 2, highlights: 1, sources: 1, skipped: 1 },
  })
  const report = await (await ask(`/api/imports/${String(id)}/report.csv`)).text()
  expect(report.split('\r\n')).toHaveLength(4)
  expect(report).toContain("'=1+1 is a formula")
  expect(report).toContain('refused,no_words')

  const again = (await (await ask('/api/imports', { method: 'POST', body: CSV })).json()) as Json
  expect(await completed(again['import_id'])).toMatchObject({ counts: { highlights: 0, unchanged: 2 } })

  expect(await json(`/api/imports/${String(id)}`, { method: 'DELETE' })).toMatchObject({
    removed: { source: 1, highlight: 1 },
    kept: { source: 0 },
  })
  expect(await json(`/api/imports/${String(id)}`)).toMatchObject({ undone_at: expect.any(String) })
})

it.each([
  ['nothing', '', 422],
  ['a page', '<html><p>Hello</p></html>', 422],
  ['more than is taken', 'x'.repeat(1_100_000), 413],
])('refuses %s, and keeps nothing', async (_what, body, status) => {
  const sent = await ask('/api/imports', { method: 'POST', body })
  expect(sent.headers.get('content-type')).toBe('application/problem+json')
  expect(sent.status).toBe(status)
})

it('is only for those who may write', async () => {
  const reading = await at.tokenFor(at.server.first.reader.id, ['sources:read', 'sources:write'])
  const sent = await fetch(`${at.base}/api/imports`, {
    method: 'POST',
    body: CSV,
    headers: { authorization: `Bearer ${reading}` },
  })
  expect(sent.status).toBe(403)
})

it('says so where there is no such import', async () => {
  expect((await ask('/api/imports/12345')).status).toBe(404)
  expect((await ask('/api/imports/12345', { method: 'DELETE' })).status).toBe(404)
  expect((await ask('/api/imports/12345/report.csv')).status).toBe(404)
})
