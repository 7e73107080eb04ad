/**
 * The same raw requests to the protocol core and to the SDK's server over the same application. Where the two differ is
 * listed, with the reason; all else is equal, and a difference that goes away fails as a new one does.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveHttp, type HttpServer } from '../../src/mcp/protocol/http.ts'
import { isObject, type Json } from '../../src/mcp/protocol/messages.ts'
import { fixture } from '../conformance/fixture.ts'
import { serveSdk } from './sdk-server.ts'
import {
  CAPABILITIES,
  V,
  callTool,
  era,
  events,
  meta,
  modernHeaders,
  notification,
  post,
  rpc,
} from './wire.ts'

let ours: HttpServer
let sdk: Awaited<ReturnType<typeof serveSdk>>
beforeAll(async () => {
  ours = await serveHttp(fixture)
  sdk = await serveSdk(fixture)
})
afterAll(async () => {
  await ours.close()
  sdk.close()
})

const BOTH = { accept: 'application/json, text/event-stream' }
const TOOL = 'test_simple_text'
const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } }
const now = (method: string, params: object = {}, name?: string): Sent => [
  rpc(method, { ...params, _meta: meta }),
  modernHeaders(method, name),
]

type Sent = readonly [body: unknown, headers?: Record<string, string>, method?: string]

const REQUESTS: Record<string, Sent> = {
  'bad JSON': ['{'],
  'empty body': [''],
  'a number': ['7'],
  'no jsonrpc': [{ id: 1, method: 'ping' }],
  'id null': [rpc('ping', {}, null)],
  'id 1.5': [rpc('ping', {}, 1.5)],
  'params an array': [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
  ping: [rpc('ping')],
  'unknown method': [rpc('nope')],
  'unknown method, 2026': now('nope'),
  'ping, 2026': now('ping'),
  initialize: [rpc('initialize', hello)],
  'initialize, 2026': now('initialize'),
  'initialize with a 2026 header': [rpc('initialize', hello), era('2026-07-28')],
  'initialize without clientInfo': [rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} })],
  'initialize with an unknown version': [rpc('initialize', { ...hello, protocolVersion: '2099-01-01' })],
  'server/discover': now('server/discover'),
  'server/discover before 2026': [rpc('server/discover')],
  'unknown old version in the header': [rpc('ping'), era('1999-01-01')],
  'unknown new version in the header': [rpc('ping'), era('2027-01-01')],
  'the oldest version in the header': [rpc('tools/list'), era('2024-11-05')],
  'metadata without header': [rpc('tools/list', { _meta: meta })],
  'no Mcp-Method': [rpc('tools/list', { _meta: meta }), era('2026-07-28')],
  'no Mcp-Name': now('tools/call', { name: TOOL, arguments: {} }),
  'wrong Mcp-Name': now('tools/call', { name: TOOL, arguments: {} }, 'x'),
  'capabilities that are no object': [
    rpc('tools/list', { _meta: { ...meta, [CAPABILITIES]: 1 } }),
    modernHeaders('tools/list'),
  ],
  'clientInfo that is none': [
    rpc('tools/list', { _meta: { ...meta, 'io.modelcontextprotocol/clientInfo': 5 } }),
    modernHeaders('tools/list'),
  ],
  'a log level that is none': [
    rpc('tools/list', { _meta: { ...meta, 'io.modelcontextprotocol/logLevel': 'x' } }),
    modernHeaders('tools/list'),
  ],
  'metadata of 2025': [
    rpc('tools/list', { _meta: { ...meta, [V]: '2025-11-25' } }),
    { ...modernHeaders('tools/list'), ...era('2025-11-25') },
  ],
  'tools/list': [rpc('tools/list')],
  'tools/list, 2026': now('tools/list'),
  'resources/list': [rpc('resources/list')],
  'resources/list, 2026': now('resources/list'),
  'resources/templates/list, 2026': now('resources/templates/list'),
  'prompts/list': [rpc('prompts/list')],
  'prompts/list, 2026': now('prompts/list'),
  'tools/call': [callTool(TOOL)],
  'tools/call, 2026': now('tools/call', { name: TOOL, arguments: {} }, TOOL),
  'a tool that asks, 2026': now(
    'tools/call',
    { name: 'test_input_required_result_elicitation', arguments: {} },
    'test_input_required_result_elicitation',
  ),
  'no tool name': [rpc('tools/call', {})],
  'arguments an array': [rpc('tools/call', { name: TOOL, arguments: [] })],
  'unknown tool': [callTool('nope')],
  'unknown tool, 2026': now('tools/call', { name: 'nope', arguments: {} }, 'nope'),
  'resources/read': [rpc('resources/read', { uri: 'test://static-text' })],
  'resources/read, 2026': now('resources/read', { uri: 'test://static-text' }, 'test://static-text'),
  'no uri': [rpc('resources/read', {})],
  'missing resource': [rpc('resources/read', { uri: 'test://no' })],
  'missing resource, 2026': now('resources/read', { uri: 'test://no' }, 'test://no'),
  'prompts/get': [rpc('prompts/get', { name: 'test_simple_prompt' })],
  'prompts/get, 2026': now('prompts/get', { name: 'test_simple_prompt' }, 'test_simple_prompt'),
  'a number as prompt argument': [
    rpc('prompts/get', { name: 'test_prompt_with_arguments', arguments: { arg1: 1 } }),
  ],
  'completion/complete': [
    rpc('completion/complete', {
      ref: { type: 'ref/prompt', name: 'test_simple_prompt' },
      argument: { name: 'a', value: '' },
    }),
  ],
  'a bad ref': [rpc('completion/complete', { ref: { type: 'x' }, argument: { name: 'a', value: '' } })],
  'logging/setLevel': [rpc('logging/setLevel', { level: 'error' })],
  'a bad level': [rpc('logging/setLevel', { level: 'loud' })],
  'subscriptions/listen': now('subscriptions/listen', { notifications: {} }),
  'a cursor': [rpc('tools/list', { cursor: 'x' })],
  'a notification': [notification('notifications/initialized')],
  'a notification, 2026': [
    notification('notifications/cancelled', { requestId: 1 }),
    modernHeaders('notifications/cancelled'),
  ],
  'a response': [{ jsonrpc: '2.0', id: 1, result: {} }],
  'a response, 2026': [{ jsonrpc: '2.0', id: 1, result: {} }, era('2026-07-28')],
  'a batch': [[rpc('ping', {}, 1), rpc('ping', {}, 2)]],
  'a batch, 2025-06-18': [[rpc('ping')], era('2025-06-18')],
  'an empty batch': ['[]'],
  'initialize in a batch': [[rpc('initialize', { ...hello, protocolVersion: '2025-03-26' })]],
  'accept */*': [rpc('ping'), { accept: '*/*' }],
  'accept JSON': [rpc('ping'), { accept: 'application/json' }],
  'accept events': [rpc('ping'), { accept: 'text/event-stream' }],
  'text/plain': [rpc('ping'), { 'content-type': 'text/plain' }],
  '7 MB': ['x'.repeat(7e6)],
  'a foreign origin': [rpc('ping'), { origin: 'https://evil.example' }],
  'origin null': [rpc('ping'), { origin: 'null' }],
  GET: [null, {}, 'GET'],
  DELETE: ['', {}, 'DELETE'],
  PUT: ['', {}, 'PUT'],
  OPTIONS: ['', { origin: 'http://localhost:1' }, 'OPTIONS'],
}

type Said = [status: number, says: number | 'result' | 'batch' | undefined]

const RANGE = '-32000 is no code of the protocol'
const NO_BODY = 'it is no request of JSON-RPC, so it gets no answer of JSON-RPC'

interface Outcome {
  status: number
  /** The error's code, `result`, `batch` or nothing. */
  says: Said[1]
  result?: unknown
}

async function outcome(url: string, [body, headers, method = 'POST']: Sent): Promise<Outcome> {
  const init = { method, ...(method === 'GET' && { body: null }) }
  const answer = await post(url, body, { ...BOTH, ...headers }, init)
  const message = answer.type === 'text/event-stream' ? events(answer.body).at(-1) : answer.body
  if (Array.isArray(message)) return { status: answer.status, says: 'batch' }
  if (!isObject(message)) return { status: answer.status, says: undefined }
  const { error, result } = message
  if (isObject(error)) return { status: answer.status, says: Number(error['code']) }
  return { status: answer.status, says: 'result', result: bare(result) }
}

/** A result without what the server says of itself in each, and how long it may be kept. */
function bare(result: unknown): Json {
  const { _meta, ttlMs: _ttl, cacheScope: _scope, ...rest } = isObject(result) ? result : {}
  return rest
}

/** Where they differ: status and what it says, ours and theirs, and why ours serves clients better or as well. */
const DIFFERENCES: Record<string, { ours: Said; sdk: Said; why: string }> = {
  'initialize with a 2026 header': {
    ours: [400, -32602],
    sdk: [400, -32020],
    why: 'the metadata that the header promises is missing: the same answer as to every other method',
  },
  'initialize without clientInfo': {
    ours: [200, 'result'],
    sdk: [200, -32603],
    why: 'nothing depends on it, so a client is served that does not say who it is',
  },
  'unknown old version in the header': {
    ours: [400, -32022],
    sdk: [400, -32000],
    why: 'the code that 2026-07-28 has for it, with the list of what is served',
  },
  'unknown new version in the header': {
    ours: [400, -32022],
    sdk: [400, -32602],
    why: 'the version comes before the metadata: a client can choose another from the list',
  },
  'clientInfo that is none': {
    ours: [200, 'result'],
    sdk: [400, -32602],
    why: 'it need not be there, so what is none counts as absent',
  },
  'a log level that is none': {
    ours: [200, 'result'],
    sdk: [400, -32602],
    why: 'it need not be there, so what is none counts as absent',
  },
  'no uri': { ours: [200, -32602], sdk: [200, -32603], why: 'wrong parameters are no internal error' },
  'missing resource': {
    ours: [200, -32002],
    sdk: [200, -32602],
    why: 'the code of the revisions before 2026-07-28',
  },
  'a number as prompt argument': {
    ours: [200, -32602],
    sdk: [200, -32603],
    why: 'wrong parameters are no internal error',
  },
  'a bad ref': { ours: [200, -32602], sdk: [200, -32603], why: 'wrong parameters are no internal error' },
  'a bad level': { ours: [200, -32602], sdk: [200, -32603], why: 'wrong parameters are no internal error' },
  'subscriptions/listen': {
    ours: [404, -32601],
    sdk: [200, 'result'],
    why: 'not offered and not declared: the lists never change',
  },
  'a cursor': {
    ours: [200, -32602],
    sdk: [200, 'result'],
    why: 'we never gave one, and the specification wants that code for it',
  },
  'a response, 2026': { ours: [400, -32600], sdk: [400, -32000], why: RANGE },
  'a batch': { ours: [200, 'batch'], sdk: [200, 'result'], why: 'one JSON array, where theirs is a stream' },
  'a batch, 2025-06-18': {
    ours: [400, -32600],
    sdk: [200, 'result'],
    why: 'that revision took batches out again',
  },
  'initialize in a batch': {
    ours: [200, 'batch'],
    sdk: [200, 'result'],
    why: '2025-03-26 forbids it; the entry is answered with an error',
  },
  'accept */*': { ours: [200, 'result'], sdk: [406, -32000], why: 'real clients send it' },
  'accept JSON': { ours: [200, 'result'], sdk: [406, -32000], why: 'real clients send it' },
  'accept events': { ours: [200, 'result'], sdk: [406, -32000], why: 'it takes a stream, so it gets one' },
  'text/plain': { ours: [415, -32600], sdk: [415, -32000], why: RANGE },
  '7 MB': { ours: [413, -32600], sdk: [413, -32000], why: RANGE },
  'a foreign origin': { ours: [403, -32600], sdk: [403, -32000], why: RANGE },
  'origin null': { ours: [403, -32600], sdk: [403, -32000], why: RANGE },
  GET: { ours: [405, undefined], sdk: [405, -32000], why: NO_BODY },
  DELETE: { ours: [405, undefined], sdk: [405, -32000], why: NO_BODY },
  PUT: { ours: [405, undefined], sdk: [405, -32000], why: NO_BODY },
  OPTIONS: { ours: [204, undefined], sdk: [405, -32000], why: 'browsers ask before they post' },
}

describe('the protocol core and the SDK', () => {
  it.each(Object.keys(REQUESTS))('%s', async (name) => {
    const sent = REQUESTS[name] ?? ['']
    const [own, theirs] = await Promise.all([outcome(ours.url, sent), outcome(sdk.url, sent)])
    const known = DIFFERENCES[name]
    if (!known) {
      expect(own).toEqual(theirs)
      return
    }
    expect({ ours: [own.status, own.says], sdk: [theirs.status, theirs.says], why: known.why }).toEqual(known)
  })
})
