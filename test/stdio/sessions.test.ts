/** Every tool at an old and at the newest revision: what is on the wire, checked against the SDKs' own schemas. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { problemsOfNotification, problemsOfResult } from '../protocol/spec-schemas.ts'
import { REVISIONS, failed, good, serve, type Called, type Served } from './serve.ts'
import { openSite, type Site } from './site.ts'

// Many programs, one after another: a machine with other work needs longer.
vi.setConfig({ testTimeout: 120_000 })

let folder: string
let site: Site
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-sessions-'))
  site = await openSite()
})
afterAll(async () => {
  site.release()
  await site.close()
  rmSync(folder, { recursive: true, force: true })
})

describe.each(REVISIONS)('at %s', (revision) => {
  const modern = revision === '2026-07-28'
  let server: Served
  let id: string
  beforeAll(async () => {
    // What is for people to read about what goes on must not get among the lines of the protocol either.
    server = await serve(join(folder, revision), {
      revision,
      env: { ...site.env, COMMONPLACE_DEBUG: '1' },
    })
  })
  afterAll(() => server.close())

  async function call(name: string, args: Json = {}, meta?: Json): Promise<Called> {
    const called = await server.call(name, args, meta)
    if (!called.rpcError) expect(problemsOfResult('tools/call', modern, called)).toEqual([])
    return called
  }

  it('opens as the revision says', async () => {
    const first = JSON.parse(server.lines[0]!) as { result: Json }
    expect(problemsOfResult(modern ? 'server/discover' : 'initialize', modern, first.result)).toEqual([])
    if (!modern) expect(first.result['protocolVersion']).toBe(revision)
    const listed = await server.request('tools/list')
    expect(problemsOfResult('tools/list', modern, listed?.['result'])).toEqual([])
  })

  it('save_url', async () => {
    const saved = good(await call('save_url', { url: `${site.origin}/${revision}`, note: 'a note' }))
    expect(saved).toMatchObject({ state: 'captured', created: true })
    ;({ id } = saved['item'] as { id: string })
    expect(failed(await call('save_url', { url: 'ftp://example.test/' }))).toBe('invalid-url')
    expect(failed(await call('save_url', { url: `${site.origin}/missing` }))).toBe('page-not-found')
  })

  it('list_items', async () => {
    expect(good(await call('list_items', { limit: 1 }))).toMatchObject({ total: 1 })
    expect(failed(await call('list_items', { limit: 0 }))).toBe('invalid-input')
    expect(failed(await call('list_items', { cursor: 'made.up' }))).toBe('invalid-input')
  })

  it('search_library', async () => {
    expect(good(await call('search_library', { query: 'heron' }))).toMatchObject({ results: [{ id }] })
    expect(failed(await call('search_library', { query: '' }))).toBe('invalid-input')
  })

  it('read_item: the text block is the Markdown, verbatim and alone', async () => {
    const read = await call('read_item', { id })
    const { totalChars } = good(read)
    expect(read.content).toEqual([{ type: 'text', text: expect.stringMatching(/^# Essay|^Paragraph 0/) }])
    expect([...read.content![0]!.text]).toHaveLength(totalChars as number)
    expect(read.structuredContent).not.toHaveProperty('markdown')
    const summary = await call('read_item', { id, format: 'summary' })
    expect(JSON.parse(summary.content![0]!.text)).toEqual(good(summary))
    expect(failed(await call('read_item', { id: 'nothing' }))).toBe('item-not-found')
  })

  it('add_highlight', async () => {
    const quote = 'said once only'
    expect(good(await call('add_highlight', { id, quote }))).toMatchObject({ created: true })
    expect(good(await call('add_highlight', { id, quote }))).toMatchObject({ created: false })
    const twice = await call('add_highlight', { id, quote: 'again and again' })
    expect(failed(twice)).toBe('quote-ambiguous')
    expect(twice.structuredContent).toMatchObject({ matches: 3, error: { details: { matches: 3 } } })
  })

  it('add_comment', async () => {
    expect(good(await call('add_comment', { id, body: 'mine' }))).toMatchObject({ comment: { itemId: id } })
    expect(failed(await call('add_comment', { id, body: ' ' }))).toBe('invalid-input')
    expect(failed(await call('add_comment', { id: '7', body: 'mine' }))).toBe('item-not-found')
  })

  it('queue_save and sync', async () => {
    expect(failed(await call('queue_save', { url: 'https://example.test/' }))).toBe('not-logged-in')
    expect(failed(await call('sync'))).toBe('not-logged-in')
  })

  it('a tool there is not is an error of the protocol', async () => {
    expect((await call('delete_everything')).rpcError).toMatchObject({ code: -32602 })
    const unnamed = await server.request('tools/call', { arguments: {} })
    expect(unnamed?.['error']).toMatchObject({ code: -32602 })
  })

  it('tells of progress where a token is given, and nowhere else', async () => {
    expect(server.notifications).toEqual([])
    await call('save_url', { url: `${site.origin}/progress` }, { progressToken: 'a-token' })
    expect(server.notifications.map(({ params }) => params)).toEqual([
      { progressToken: 'a-token', progress: 0, total: 1, message: `Fetching ${site.origin}/progress` },
      { progressToken: 'a-token', progress: 1, total: 1 },
    ])
    for (const told of server.notifications) expect(problemsOfNotification(modern, told)).toEqual([])
  })

  it('a cancelled save_url stops its work, answers nothing and leaves nothing behind', async () => {
    const path = `/slow-${revision}`
    const args = { name: 'save_url', arguments: { url: site.origin + path } }
    const { id: request, answer } = server.begin('tools/call', args)
    await expect.poll(() => site.open(path), { timeout: 30_000 }).toBe(1)
    const answered = server.lines.length
    server.notify('notifications/cancelled', { requestId: request, reason: 'changed my mind' })
    await expect.poll(() => site.open(path), { timeout: 30_000 }).toBe(0)
    site.release(path)
    // The server is well, and the page does not come in later.
    expect(good(await call('list_items'))).toMatchObject({ total: 2 })
    expect(server.lines.slice(answered)).toHaveLength(1)
    expect(site.asked(path)).toBe(1)
    // It can be saved after all.
    expect(good(await call('save_url', args.arguments))).toMatchObject({ state: 'captured' })
    expect(await Promise.race([answer, 'nothing'])).toBe('nothing')
  })

  it('writes nothing but the protocol on standard output, and ends with its input', async () => {
    expect(await server.close()).toBe(0)
    expect(server.strays).toEqual([])
    expect(server.stderr()).not.toBe('')
  })
})
