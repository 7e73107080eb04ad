/** What the core sends, held against the SDKs' schemas, in both eras. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveHttp, type HttpServer } from '../../src/mcp/protocol/http.ts'
import { isObject } from '../../src/mcp/protocol/messages.ts'
import { fixture } from '../conformance/fixture.ts'
import { problemsOfNotification, problemsOfResult } from './spec-schemas.ts'
import { LOG_LEVEL, events, meta, modernHeaders, post, rpc } from './wire.ts'

let server: HttpServer
beforeAll(async () => {
  server = await serveHttp(fixture)
})
afterAll(() => server.close())

/** The messages that answer a request, the last of them its response. */
async function answersTo(method: string, params: object, modern: boolean): Promise<unknown[]> {
  const given = isObject(params) ? (params['name'] ?? params['uri']) : undefined
  const _meta = { progressToken: 1, ...(modern && { ...meta, [LOG_LEVEL]: 'debug' }) }
  const name = typeof given === 'string' ? given : undefined
  const headers = modern ? modernHeaders(method, name) : {}
  const { type, body } = await post(server.url, rpc(method, { ...params, _meta }), headers)
  return type === 'text/event-stream' ? events(body) : [body]
}

const REQUESTS: [method: string, params: object][] = [
  ['tools/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'test://static-text' }],
  ['resources/read', { uri: 'test://static-binary' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'test_prompt_with_image' }],
  ['prompts/get', { name: 'test_prompt_with_embedded_resource', arguments: { resourceUri: 'test://x' } }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'test_simple_prompt' }, argument: { name: 'a', value: '' } },
  ],
  ...fixture.tools
    .filter(({ name }) => !/input_required|missing_capability/.test(name))
    .map(({ name }): [string, object] => ['tools/call', { name, arguments: {} }]),
]

describe.each([
  ['2026-07-28', true, [['server/discover', {}] as const]],
  ['before', false, [['initialize', { protocolVersion: '2025-11-25', capabilities: {} }] as const]],
] as const)('%s', (_era, modern, first) => {
  it.each([...first, ...REQUESTS])('%s %o', async (method, params) => {
    const messages = await answersTo(method, params, modern)
    const response = messages.at(-1)
    const result = isObject(response) ? response['result'] : undefined
    expect(result).toBeDefined()
    expect(problemsOfResult(method, modern, result)).toEqual([])
    for (const sent of messages.slice(0, -1)) expect(problemsOfNotification(modern, sent)).toEqual([])
  })
})

it('the schemas do find what is wrong', () => {
  expect(problemsOfResult('tools/list', true, { tools: [{}], resultType: 'complete', ttlMs: 0 })).not.toEqual(
    [],
  )
  expect(problemsOfResult('tools/call', false, { content: [{ type: 'text' }] })).not.toEqual([])
  expect(problemsOfResult('tools/call', true, { content: [] })).toEqual(['resultType is missing'])
  expect(problemsOfNotification(true, { method: 'notifications/progress', params: {} })).not.toEqual([])
})
