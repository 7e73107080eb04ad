/** Resources, prompts and completion of the program itself, at an old and at the newest revision and through the official clients. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as NewClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../../src/mcp/protocol/messages.ts'
import { problemsOfResult } from '../protocol/spec-schemas.ts'
import { MAIN } from '../support/mcp-process.ts'
import { REVISIONS, good, serve, type Served } from './serve.ts'
import { openSite, type Site } from './site.ts'

// Many programs, one after another: a machine with other work needs longer.
vi.setConfig({ testTimeout: 120_000 })

let folder: string
let site: Site
let id: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'commonplace-resources-'))
  site = await openSite()
  const server = await serve(folder, { env: site.env })
  const saved = good(await server.call('save_url', { url: `${site.origin}/heron`, note: 'For later.' }))
  ;({ id } = saved['item'] as { id: string })
  good(await server.call('add_highlight', { id, quote: 'said once only', comment: 'Is it?' }))
  await server.close()
})
afterAll(async () => {
  await site.close()
  rmSync(folder, { recursive: true, force: true })
})

describe.each(REVISIONS)('at %s', (revision) => {
  const modern = revision === '2026-07-28'
  let server: Served
  beforeAll(async () => {
    server = await serve(folder, { revision, args: ['--read-only'] })
  })
  afterAll(() => server.close())

  async function ask(method: string, params: Json = {}): Promise<Json> {
    const answer = await server.request(method, params)
    if (!answer?.['result']) throw new Error(JSON.stringify(answer?.['error']))
    expect(problemsOfResult(method, modern, answer['result'])).toEqual([])
    return answer['result'] as Json
  }

  const readAt = async (uri: string): Promise<Json> => {
    const { contents } = (await ask('resources/read', { uri })) as { contents: { text: string }[] }
    return JSON.parse(contents[0]!.text) as Json
  }

  it('says that it has them', () => {
    const first = JSON.parse(server.lines[0]!) as { result: { capabilities: Json } }
    expect(first.result.capabilities).toMatchObject({ resources: {}, prompts: {}, completions: {} })
  })

  it('lists, reads and goes on from one to the other', async () => {
    expect((await ask('resources/list'))['resources']).toHaveLength(3)
    expect((await ask('resources/templates/list'))['resourceTemplates']).toHaveLength(3)
    expect(await readAt('becoming://highlights')).toMatchObject({
      total: 1,
      highlights: [{ content: 'said once only', note_count: 1, source: { id: Number(id) } }],
    })
    expect(await readAt(`commonplace://sources/${id}`)).toMatchObject({ highlights: [{ state: 'anchored' }] })
    const first = await readAt('becoming://notes?limit=1')
    expect(first).toMatchObject({
      total: 2,
      notes: [{ body: 'Is it?', highlight_content: 'said once only' }],
    })
    expect(await readAt(String(first['next']))).toMatchObject({ notes: [{ body: 'For later.' }], next: null })
  })

  it('gives the error of the revision for what is not there', async () => {
    const answer = await server.request('resources/read', { uri: 'becoming://sources/12' })
    expect(answer?.['error']).toMatchObject({
      code: modern ? -32602 : -32002,
      data: { uri: 'becoming://sources/12', code: 'source-not-found', error: { number: -32003 } },
    })
  })

  it('fills in each prompt, and completes what they take', async () => {
    const { prompts } = (await ask('prompts/list')) as { prompts: { name: string }[] }
    expect(prompts).toHaveLength(4)
    for (const { name } of prompts) {
      const named = /recap|quiz/.test(name) ? { source: id } : {}
      const { messages } = (await ask('prompts/get', { name, arguments: named })) as { messages: unknown[] }
      expect(messages).toHaveLength(2)
    }
    const ref = { type: 'ref/prompt', name: 'recap_book' }
    expect(
      await ask('completion/complete', { ref, argument: { name: 'source', value: 'ess' } }),
    ).toMatchObject({
      completion: { values: ['Essay heron'] },
    })
    const template = { type: 'ref/resource', uri: 'becoming://sources/{id}' }
    expect(
      await ask('completion/complete', { ref: template, argument: { name: 'id', value: '' } }),
    ).toMatchObject({
      completion: { values: [id] },
    })
  })

  it('writes nothing but the protocol', () => {
    expect(server.strays).toEqual([])
    expect(server.stderr()).toBe('')
  })
})

describe('the sets that were chosen', () => {
  const listOf = async (args: string[], method: string): Promise<unknown> => {
    const server = await serve(folder, { args })
    const answer = await server.request(method)
    await server.close()
    return answer?.['result'] ?? answer?.['error']
  }

  it('have the resources where highlights are among them, and prompts where their tools are', async () => {
    expect(await listOf(['--tools', 'highlights'], 'resources/list')).toHaveProperty('resources')
    expect(await listOf(['--tools', 'highlights'], 'prompts/list')).toMatchObject({ code: -32601 })
    expect(await listOf(['--tools', 'library'], 'resources/list')).toMatchObject({ code: -32601 })
    expect(await listOf(['--tools', 'library'], 'prompts/list')).toHaveProperty('prompts')
  })
})

const command = () => ({
  command: process.execPath,
  args: [MAIN, 'mcp', '--library', folder],
  env: { ...(process.env as Record<string, string>), COMMONPLACE_EMBEDDER: 'off' },
})

async function connectNew(modern: boolean) {
  const client = new NewClient(
    { name: 'new', version: '1' },
    { ...(modern && { versionNegotiation: { mode: 'auto' } }) },
  )
  await client.connect(new NewStdio(command()))
  return client
}

async function connectOld() {
  const client = new OldClient({ name: 'old', version: '1' })
  await client.connect(new OldStdio(command()))
  return client
}

describe.each([
  ['client 2 at 2026-07-28', () => connectNew(true)],
  ['client 2 as an older one', () => connectNew(false)],
  ['client 1', connectOld],
] as const)('%s', (_name, connect) => {
  it('lists, reads, completes and gets a prompt', async () => {
    const client: Pick<
      OldClient,
      'listResources' | 'listResourceTemplates' | 'readResource' | 'complete' | 'getPrompt' | 'close'
    > = (await connect()) as OldClient
    try {
      expect((await client.listResources()).resources).toHaveLength(3)
      expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(3)
      const { contents } = await client.readResource({ uri: `becoming://sources/${id}` })
      expect(contents).toMatchObject([{ uri: `becoming://sources/${id}`, mimeType: 'application/json' }])
      const completed = await client.complete({
        ref: { type: 'ref/resource', uri: 'becoming://sources/{id}' },
        argument: { name: 'id', value: id.slice(0, 3) },
      })
      expect(completed.completion.values).toEqual([id])
      const prompt = await client.getPrompt({ name: 'review_highlights', arguments: { limit: '5' } })
      expect(prompt.messages).toHaveLength(2)
      // One of them makes an error of its own of it, which keeps the address alone.
      const gone = client.readResource({ uri: 'becoming://sources/12' })
      await expect(gone).rejects.toMatchObject({ data: { uri: 'becoming://sources/12' } })
    } finally {
      await client.close()
    }
  })
})
