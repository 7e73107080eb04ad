/** The official clients, old and new, against the program itself: all tools of one reader in one session. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as NewClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { MAIN } from '../support/mcp-process.ts'
import { failed, good, type Called } from './serve.ts'
import { openSite, type Site } from './site.ts'
import { toolsFor } from '../../src/tools/registry.ts'

// Many programs, one after another: a machine with other work needs longer.
vi.setConfig({ testTimeout: 120_000 })

/** Both clients, said the same way. */
interface Session {
  revision: string | undefined
  listTools(): Promise<{ name: string }[]>
  call(name: string, args?: Json, onprogress?: (progress: unknown) => void): Promise<Called>
  close(): Promise<void>
}

let folder: string
let site: Site
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-clients-'))
  site = await openSite()
})
afterAll(async () => {
  await site.close()
  rmSync(folder, { recursive: true, force: true })
})

const command = (library: string) => ({
  command: process.execPath,
  args: [MAIN, 'mcp', '--library', join(folder, library)],
  env: { ...(process.env as Record<string, string>), COMMONPLACE_EMBEDDER: 'off', ...site.env },
})

async function connectNew(library: string, modern: boolean): Promise<Session> {
  const client = new NewClient(
    { name: 'new', version: '1' },
    { ...(modern && { versionNegotiation: { mode: 'auto' } }) },
  )
  await client.connect(new NewStdio(command(library)))
  return {
    revision: client.getNegotiatedProtocolVersion(),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, onprogress) =>
      (await client.callTool({ name, arguments: args }, onprogress && { onprogress })) as Called,
    close: () => client.close(),
  }
}

async function connectOld(library: string): Promise<Session> {
  const client = new OldClient({ name: 'old', version: '1' })
  await client.connect(new OldStdio(command(library)))
  return {
    revision: undefined,
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, onprogress) =>
      (await client.callTool({ name, arguments: args }, undefined, onprogress && { onprogress })) as Called,
    close: () => client.close(),
  }
}

const CLIENTS = [
  ['client 2 at 2026-07-28', '2026-07-28', () => connectNew('new', true)],
  ['client 2 as an older one', '2025-11-25', () => connectNew('legacy', false)],
  ['client 1', undefined, () => connectOld('old')],
] as const

describe.each(CLIENTS)('%s', (_name, revision, connect) => {
  let session: Session
  let id: string
  beforeAll(async () => {
    session = await connect()
  })
  afterAll(() => session.close())

  it('finds all tools', async () => {
    expect(session.revision).toBe(revision)
    // From here on the clients check what the tools give against the schemas that they list.
    expect((await session.listTools()).map(({ name }) => name).toSorted()).toEqual(
      toolsFor('local')
        .map(({ name }) => name)
        .toSorted(),
    )
  })

  it('saves a page and hears how far it is', async () => {
    const heard: unknown[] = []
    const saved = good(
      await session.call('save_url', { url: `${site.origin}/heron`, note: 'For later.' }, (progress) =>
        heard.push(progress),
      ),
    )
    expect(saved).toMatchObject({ state: 'captured', created: true, item: { title: 'Essay heron' } })
    ;({ id } = saved['item'] as { id: string })
    // The last one and the result may come together, and then a client drops it: the server's own words are looked at elsewhere.
    expect(heard[0]).toEqual({ progress: 0, total: 1, message: `Fetching ${site.origin}/heron` })
    expect(heard.slice(1)).toEqual(heard.length > 1 ? [{ progress: 1, total: 1 }] : [])
  })

  it('saves it again, and nothing is added', async () => {
    const again = await session.call('save_url', { url: `${site.origin}/heron`, note: 'For later.' })
    expect(good(again)).toMatchObject({ state: 'captured', created: false, item: { id } })
    const { item, annotationsTotal } = good(await session.call('read_item', { id, format: 'summary' }))
    expect(item).toMatchObject({ id })
    expect(annotationsTotal).toBe(1)
  })

  it('lists and searches', async () => {
    expect(good(await session.call('list_items'))).toMatchObject({ total: 1, items: [{ id }] })
    expect(good(await session.call('list_items', { reading: 'read' }))).toMatchObject({ total: 0, items: [] })
    const found = good(await session.call('search_library', { query: 'minnows forget' }))
    expect(found).toMatchObject({ results: [{ id, matched: 'words' }], nextCursor: null })
    expect(good(await session.call('search_library', { query: 'giraffe' }))['results']).toEqual([])
  })

  it('reads the Markdown in pages that join to the whole, each the text block alone', async () => {
    let joined = ''
    let offset: number | null = 0
    let total = -1
    while (offset !== null) {
      const called: Called = await session.call('read_item', { id, offset, maxChars: 333 })
      const told: Json = good(called)
      expect(called.content).toHaveLength(1)
      expect(told).not.toHaveProperty('markdown')
      joined += called.content![0]!.text
      total = told['totalChars'] as number
      offset = told['nextOffset'] as number | null
    }
    const whole = await session.call('read_item', { id, format: 'markdown' })
    expect(joined).toBe(whole.content![0]!.text)
    expect([...joined]).toHaveLength(total)
    expect(joined).toContain('This is said once only.')
  })

  it('highlights, and is told which words stand there more than once', async () => {
    const ambiguous = await session.call('add_highlight', { id, quote: 'again and again' })
    expect(failed(ambiguous)).toBe('quote-ambiguous')
    expect(ambiguous.structuredContent).toMatchObject({
      matches: 3,
      contexts: [{ occurrence: 0 }, { occurrence: 1 }, { occurrence: 2 }],
      error: { number: -32011 },
    })
    const third = await session.call('add_highlight', { id, quote: 'again and again', occurrence: 2 })
    expect(good(third)).toMatchObject({
      created: true,
      highlight: { quote: 'again and again', matched: 'exact' },
    })
    const more = await session.call('add_highlight', { id, quote: 'again and again', occurrence: 3 })
    expect(failed(more)).toBe('invalid-input')
    const commented = await session.call('add_highlight', {
      id,
      quote: 'said once only',
      comment: 'Is it?',
    })
    expect(good(commented)).toMatchObject({ created: true, comment: { body: 'Is it?' } })
    const absent = await session.call('add_highlight', { id, quote: 'words of another book altogether' })
    expect(failed(absent)).toBe('quote-not-found')
  })

  it('comments, and finds it all in the summary', async () => {
    expect(good(await session.call('add_comment', { id, body: 'A fine essay.' }))).toMatchObject({
      comment: { itemId: id, body: 'A fine essay.', highlightId: null },
    })
    const summary = good(await session.call('read_item', { id, format: 'summary' }))
    expect(summary).toMatchObject({ annotationsTotal: 4 })
    expect(JSON.stringify(summary['annotations'])).toContain('Is it?')
    expect(good(await session.call('list_items'))).toMatchObject({ items: [{ highlights: 2, notes: 3 }] })
  })

  it('is told what to do where an account is needed', async () => {
    for (const [name, args] of [
      ['queue_save', { url: 'https://example.test/a' }],
      ['sync', {}],
    ] as const) {
      const called = await session.call(name, args)
      expect(failed(called)).toBe('not-logged-in')
      expect(called.structuredContent).toMatchObject({ error: { number: -32001 } })
      expect(called.structuredContent!['hint']).toMatch(/save_url/)
    }
  })

  it('gets failures that say what to do, and an error for a tool there is not', async () => {
    expect(failed(await session.call('read_item', { id: '42' }))).toBe('item-not-found')
    expect(failed(await session.call('save_url', { url: `${site.origin}/missing` }))).toBe('page-not-found')
    expect(failed(await session.call('save_url', { url: 'http://127.0.0.1:1/' }))).toBe('private-address')
    await expect(session.call('no_such_tool')).rejects.toMatchObject({ code: -32602 })
  })
})
