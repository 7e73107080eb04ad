/** The official clients, old and new, on both transports, against the application of the conformance suite. */
import { fileURLToPath } from 'node:url'
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as OldTransport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveHttp, type HttpServer } from '../../src/mcp/protocol/http.ts'
import { bundle } from '../conformance/bundle.mjs'
import { fixture } from '../conformance/fixture.ts'

const SERVE_STDIO = fileURLToPath(new URL('../conformance/serve-stdio.ts', import.meta.url))
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }
const elicited = { action: 'accept' as const, content: { name: 'Ann', response: 'yes' } }
const sampled = {
  role: 'assistant' as const,
  model: 'm',
  content: { type: 'text' as const, text: 'Paris' },
}

interface CallOptions {
  onprogress?: () => void
  signal?: AbortSignal
}

/** What both clients can do, said the same way. */
interface Session {
  revision(): string | undefined
  callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<unknown>
  listTools(): Promise<unknown[]>
  listResources(): Promise<unknown[]>
  listTemplates(): Promise<unknown[]>
  listPrompts(): Promise<unknown[]>
  readResource(uri: string): Promise<unknown>
  getPrompt(name: string, args: Record<string, string>): Promise<unknown>
  complete(): Promise<unknown>
  ping(): Promise<unknown>
  setLevel(): Promise<unknown>
  logs: unknown[]
  close(): Promise<void>
}

let programs: Awaited<ReturnType<typeof bundle>>
let http: HttpServer
beforeAll(async () => {
  programs = await bundle(SERVE_STDIO)
  http = await serveHttp(fixture)
})
afterAll(async () => {
  await http.close()
  programs.remove()
})

const command = () => ({ command: process.execPath, args: [programs.file(SERVE_STDIO)] })

async function connectNew(transport: 'stdio' | 'http', mode: 'auto' | 'legacy'): Promise<Session> {
  const client = new NewClient(
    { name: 'new', version: '1' },
    { capabilities, ...(mode === 'auto' && { versionNegotiation: { mode } }) },
  )
  const logs: unknown[] = []
  client.setRequestHandler('elicitation/create', () => elicited)
  client.setRequestHandler('sampling/createMessage', () => sampled)
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///tmp' }] }))
  client.setNotificationHandler('notifications/message', (notification) => void logs.push(notification))
  await client.connect(transport === 'http' ? new NewHttp(new URL(http.url)) : new NewStdio(command()))
  return {
    logs,
    revision: () => client.getNegotiatedProtocolVersion(),
    callTool: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options),
    listTools: async () => (await client.listTools()).tools,
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    listPrompts: async () => (await client.listPrompts()).prompts,
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: () =>
      client.complete({
        ref: { type: 'ref/prompt', name: 'test_simple_prompt' },
        argument: { name: 'x', value: '' },
      }),
    ping: () => client.ping(),
    setLevel: () => client.setLoggingLevel('error'),
    close: () => client.close(),
  }
}

async function connectOld(transport: 'stdio' | 'http'): Promise<Session> {
  const client = new OldClient({ name: 'old', version: '1' }, { capabilities })
  const logs: unknown[] = []
  client.setRequestHandler(ElicitRequestSchema, () => elicited)
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled)
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    (notification) => void logs.push(notification),
  )
  const target: OldTransport = transport === 'http' ? new OldHttp(new URL(http.url)) : new OldStdio(command())
  await client.connect(target)
  return {
    logs,
    revision: () => '2025-11-25',
    callTool: (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args }, undefined, options),
    listTools: async () => (await client.listTools()).tools,
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    listPrompts: async () => (await client.listPrompts()).prompts,
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    complete: () =>
      client.complete({
        ref: { type: 'ref/prompt', name: 'test_simple_prompt' },
        argument: { name: 'x', value: '' },
      }),
    ping: () => client.ping(),
    setLevel: () => client.setLoggingLevel('error'),
    close: () => client.close(),
  }
}

const CLIENTS = [
  ['client 2, 2026-07-28', 'stdio', true, () => connectNew('stdio', 'auto')],
  ['client 2, 2026-07-28', 'http', true, () => connectNew('http', 'auto')],
  ['client 2, 2025-11-25', 'stdio', false, () => connectNew('stdio', 'legacy')],
  ['client 2, 2025-11-25', 'http', false, () => connectNew('http', 'legacy')],
  ['client 1', 'stdio', false, () => connectOld('stdio')],
  ['client 1', 'http', false, () => connectOld('http')],
] as const

const text = (value: string | RegExp) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : expect.stringMatching(value) }],
})

describe.each(CLIENTS)('%s over %s', (name, transport, modern, connect) => {
  let session: Session
  beforeAll(async () => {
    session = await connect()
  })
  afterAll(() => session.close())

  /** Where a server can put a question to the client. */
  const canBeAsked = modern || transport === 'stdio'

  it('agrees on a revision', () => {
    expect(session.revision()).toBe(modern ? '2026-07-28' : '2025-11-25')
  })

  it('finds what there is', async () => {
    expect(await session.listTools()).toHaveLength(fixture.tools.length)
    expect(await session.listResources()).toHaveLength(3)
    expect(await session.listTemplates()).toHaveLength(1)
    expect(await session.listPrompts()).toHaveLength(5)
  })

  it('calls tools, in every kind of content', async () => {
    expect(await session.callTool('test_simple_text')).toMatchObject(
      text('This is a simple text response for testing.'),
    )
    expect(await session.callTool('test_multiple_content_types')).toMatchObject({
      content: [{ type: 'text' }, { type: 'image' }, { type: 'resource' }],
    })
    expect(await session.callTool('test_error_handling')).toMatchObject({ isError: true })
  })

  it('hears of progress', async () => {
    let heard = 0
    await session.callTool('test_tool_with_progress', {}, { onprogress: () => heard++ })
    expect(heard).toBe(3)
  })

  it('can stop a call', async () => {
    const controller = new AbortController()
    const call = session.callTool('test_tool_with_progress', {}, { signal: controller.signal })
    setTimeout(() => controller.abort(), 15)
    await expect(call).rejects.toThrow()
    expect(await session.callTool('test_simple_text')).toMatchObject(text(/simple/))
  })

  it('gets errors of the protocol with their codes', async () => {
    await expect(session.callTool('nope')).rejects.toMatchObject({ code: -32602 })
    // The new client says the new code for the old.
    await expect(session.readResource('test://nope')).rejects.toMatchObject({
      code: name === 'client 1' ? -32002 : -32602,
    })
    await expect(session.getPrompt('nope', {})).rejects.toMatchObject({ code: -32602 })
  })

  it('is asked where it can be, and told where it cannot', async () => {
    const asked = await session.callTool('test_elicitation', { message: 'Who?' })
    expect(asked).toMatchObject(
      canBeAsked ? text(/^User response: action=accept.*"response":"yes"/) : { isError: true },
    )
    expect(await session.callTool('test_sampling', { prompt: 'Capital?' })).toMatchObject(
      canBeAsked ? text('LLM response: Paris') : { isError: true },
    )
  })

  it.runIf(modern)('answers several questions of one call, over several rounds', async () => {
    expect(await session.callTool('test_input_required_result_multiple_inputs')).toMatchObject(
      text('Name: Ann; Greeting: Paris; Roots: 1'),
    )
  })

  it('reads resources', async () => {
    expect(await session.readResource('test://static-text')).toMatchObject({
      contents: [{ text: 'This is the content of the static text resource.' }],
    })
    expect(await session.readResource('test://template/7/data')).toMatchObject({
      contents: [{ text: expect.stringContaining('"id":"7"') }],
    })
  })

  it('gets prompts and completions', async () => {
    expect(await session.getPrompt('test_prompt_with_arguments', { arg1: 'a', arg2: 'é' })).toMatchObject({
      messages: [{ content: { text: "Prompt with arguments: arg1='a', arg2='é'" } }],
    })
    expect(await session.complete()).toMatchObject({ completion: { values: [], total: 0 } })
  })

  it.runIf(!modern)('pings, and chooses what is logged to it', async () => {
    expect(await session.ping()).toEqual({})
    await session.callTool('test_tool_with_logging')
    expect(session.logs).toHaveLength(3)
    await session.setLevel()
    // Without a session the choice is forgotten with the answer.
    await session.callTool('test_tool_with_logging')
    expect(session.logs).toHaveLength(transport === 'stdio' ? 3 : 6)
  })
})
