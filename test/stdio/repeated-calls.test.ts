/** Calls as models send them: numbers as text, and the same call again under one requestId. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { failed, good, serve, type Called, type Served } from './serve.ts'
import { openSite, type Site } from './site.ts'

// Many programs, one after another: a machine with other work needs longer.
vi.setConfig({ testTimeout: 120_000 })

let folder: string
let site: Site
let server: Served
/** A second assistant on the same library. */
let other: Served
let id: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-repeated-'))
  site = await openSite()
  server = await serve(folder, { env: site.env })
  other = await serve(folder, { env: site.env })
  const saved = good(await server.call('save_url', { url: `${site.origin}/page` }))
  ;({ id } = saved['item'] as { id: string })
})
afterAll(async () => {
  site.release()
  await Promise.all([server.close(), other.close()])
  await site.close()
  rmSync(folder, { recursive: true, force: true })
})

function rows(sql: string): Json[] {
  const database = new DatabaseSync(join(folder, 'library.db'), { readOnly: true })
  try {
    return database.prepare(sql).all() as Json[]
  } finally {
    database.close()
  }
}
const comments = (body: string): number => rows(`select id from note where body = '${body}'`).length

const results = (called: Called[]): Set<string> =>
  new Set(called.map(({ structuredContent }) => JSON.stringify(structuredContent)))

describe('arguments', () => {
  it('that are numbers sent as text are read', async () => {
    expect(good(await server.call('list_items', { limit: '10' }))).toMatchObject({ total: 1 })
    expect(good(await server.call('read_item', { id, offset: '5', maxChars: '20' }))).toMatchObject({
      offset: 5,
    })
    expect(good(await server.call('read_item', { id: Number(id) }))).toMatchObject({ item: { id } })
  })

  it('that are text stay what they are', async () => {
    const marked = good(await server.call('add_comment', { id, body: '00713' }))
    expect(marked).toMatchObject({ comment: { body: '00713' } })
    expect(
      good(await server.call('search_library', { query: '00713', mode: 'words' }))['results'],
    ).toHaveLength(1)
    expect(
      good(await server.call('search_library', { query: '713', mode: 'words' }))['results'],
    ).toHaveLength(0)
  })

  it.each<[string, Json, string]>([
    ['list_items', { limit: 'ten' }, 'limit'],
    ['list_items', { limit: '1e1' }, 'limit'],
    ['list_items', { limit: ' 10' }, 'limit'],
    ['search_library', { query: 713 }, 'query'],
    ['list_items', { confirm: 'true' }, 'confirm'],
    ['add_comment', { id: '1', body: 'x', colour: 'red' }, 'colour'],
    ['read_item', { id: '1', fromat: 'summary' }, 'fromat'],
  ])('%s %j are refused with the name of the field', async (name, args, field) => {
    const called = await server.call(name, args)
    expect(failed(called)).toBe('invalid-input')
    const error = called.structuredContent!['error'] as { message: string }
    expect(error.message).toContain(field)
  })
})

describe('one requestId', () => {
  it('twice at once is one effect and one answer', async () => {
    const args = { id, body: 'at once', requestId: 'at-once' }
    const called = await Promise.all(
      [server, server, other, other].map((each) => each.call('add_comment', args)),
    )
    for (const each of called) good(each)
    expect(results(called).size).toBe(1)
    expect(comments('at once')).toBe(1)
  })

  it('again and later is the same answer, from whichever server', async () => {
    const args = { id, quote: 'said once only', comment: 'why', requestId: 'again' }
    const first = await server.call('add_highlight', args)
    expect(good(first)).toMatchObject({ created: true })
    expect(await server.call('add_highlight', args)).toEqual(first)
    expect(await other.call('add_highlight', args)).toEqual(first)
    // Without it the call is made, and finds what is there.
    const { requestId: _id, ...bare } = args
    expect(good(await server.call('add_highlight', bare))).toMatchObject({ created: false })
  })

  it('with other arguments is refused, and nothing is done', async () => {
    good(await server.call('add_comment', { id, body: 'the first', requestId: 'other' }))
    for (const each of [server, other]) {
      const called = await each.call('add_comment', { id, body: 'the second', requestId: 'other' })
      expect(failed(called)).toBe('invalid-input')
      expect(called.structuredContent!['error']).toMatchObject({
        message: expect.stringContaining('other arguments'),
      })
    }
    expect(comments('the second')).toBe(0)
    // The same id of another tool is another call.
    good(await server.call('add_highlight', { id, quote: 'the shallows', occurrence: 0, requestId: 'other' }))
  })

  it('is free after a failure, for the same arguments and for others', async () => {
    expect(failed(await server.call('add_comment', { id: '42', body: 'x', requestId: 'failed' }))).toBe(
      'item-not-found',
    )
    good(await server.call('add_comment', { id, body: 'mended', requestId: 'failed' }))
    expect(comments('mended')).toBe(1)
    const url = `${site.origin}/missing-first`
    expect(failed(await server.call('save_url', { url, requestId: 'failed' }))).toBe('page-not-found')
    expect(failed(await other.call('save_url', { url, requestId: 'failed' }))).toBe('page-not-found')
    expect(site.asked('/missing-first')).toBe(2)
  })

  it('of a page that is being fetched is told to wait, and then has the first answer', async () => {
    const path = '/slow-page'
    const args = { url: site.origin + path, requestId: 'slow' }
    const first = server.call('save_url', args)
    await expect.poll(() => site.open(path), { timeout: 30_000 }).toBe(1)
    for (const each of [server, other]) {
      const called = await each.call('save_url', args)
      expect(failed(called)).toBe('in-progress')
      expect(called.structuredContent!['error']).toMatchObject({ retryAfterSeconds: expect.any(Number) })
      const changed = await each.call('save_url', { ...args, note: 'changed' })
      expect(failed(changed)).toBe('invalid-input')
    }
    site.release(path)
    expect(good(await first)).toMatchObject({ state: 'captured', created: true })
    expect(await server.call('save_url', args)).toEqual(await first)
    expect(await other.call('save_url', args)).toEqual(await first)
    expect(site.asked(path)).toBe(1)
  })

  it('of a call that was cancelled is free', async () => {
    const path = '/slow-cancelled'
    const args = { url: site.origin + path, requestId: 'cancelled' }
    const { id: request } = server.begin('tools/call', { name: 'save_url', arguments: args })
    await expect.poll(() => site.open(path), { timeout: 30_000 }).toBe(1)
    server.notify('notifications/cancelled', { requestId: request })
    await expect.poll(() => site.open(path), { timeout: 30_000 }).toBe(0)
    site.release(path)
    expect(good(await server.call('save_url', args))).toMatchObject({ state: 'captured' })
  })

  it('of a server that died in the middle is told to wait: nothing is done twice', async () => {
    const doomed = await serve(folder, { env: site.env })
    const path = '/slow-doomed'
    const args = { url: site.origin + path, requestId: 'doomed' }
    doomed.begin('tools/call', { name: 'save_url', arguments: args })
    await expect.poll(() => site.asked(path), { timeout: 30_000 }).toBe(1)
    doomed.child.kill('SIGKILL')
    await doomed.ended
    const called = await server.call('save_url', args)
    expect(failed(called)).toBe('in-progress')
  })
})
