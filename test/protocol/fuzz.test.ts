/**
 * Mutated messages at both transports: every request gets exactly one answer, nothing crashes, nothing internal shows.
 * `FUZZ_SEED` and `FUZZ_TIMES` (a factor) run others and more of them.
 */
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveHttp, type HttpServer } from '../../src/mcp/protocol/http.ts'
import { isObject, type Json } from '../../src/mcp/protocol/messages.ts'
import { serveStdio } from '../../src/mcp/protocol/stdio.ts'
import { fixture } from '../conformance/fixture.ts'
import { CAPABILITIES, V } from './wire.ts'

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_728)
const TIMES = Number(process.env['FUZZ_TIMES'] ?? 1)

const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'resources/subscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'server/discover',
  'subscriptions/listen',
  'nope',
  'constructor',
  '__proto__',
  'toString',
]
const NAMES = [
  'test_simple_text',
  'test_input_required_result_multi_round',
  'test_input_required_result_capabilities',
  'test_missing_capability',
  'test_simple_prompt',
  'test_prompt_with_arguments',
  'nope',
  '__proto__',
]
const ODD: unknown[] = [
  null,
  0,
  -1,
  1.5,
  '',
  'x',
  'é',
  '\uD800',
  '__proto__',
  'constructor',
  [],
  {},
  true,
  [[]],
  { a: { b: [1] } },
  '2026-07-28',
  'x'.repeat(5000),
]

interface Fuzz {
  below(n: number): number
  pick<T>(list: readonly T[]): T
  message(id: number): Json
}

/** Messages of one seed: valid ones with up to two of their values replaced. */
function createFuzz(seed: number): Fuzz {
  let state = seed % 2_147_483_646 || 1
  /** A linear congruence (Lehmer, 16807); its low bits hardly vary, so the high ones are used. */
  const below = (n: number): number => {
    state = (state * 16_807) % 2_147_483_647
    return (state >>> 8) % n
  }
  function pick<T>(list: readonly T[]): T {
    const picked = list[below(list.length)]
    if (picked === undefined) throw new Error('There is nothing to pick')
    return picked
  }
  function message(id: number): Json {
    const args: Json = {}
    const meta: Json = { [V]: '2026-07-28', [CAPABILITIES]: { elicitation: {} } }
    const params: Json = {
      name: pick(NAMES),
      uri: pick(['test://static-text', 'test://no', 'x']),
      arguments: args,
      ref: { type: 'ref/prompt', name: 'x' },
      argument: { name: 'a', value: 'b' },
      level: 'info',
      protocolVersion: pick(['2025-11-25', '2025-03-26', '1']),
      ...(below(2) === 1 && { _meta: meta }),
    }
    const whole: Json = { jsonrpc: '2.0', id, method: pick(METHODS), params }
    for (let left = below(3); left > 0; left--) {
      const target = pick([whole, params, meta, args])
      const key = pick([...Object.keys(target), 'progressToken', 'inputResponses', 'requestState', 'cursor'])
      if (target !== whole || key === 'params' || key === 'method') target[key] = structuredClone(pick(ODD))
    }
    return whole
  }
  return { below, pick, message }
}

it('the same seed makes the same messages', () => {
  const [one, two, other] = [createFuzz(7), createFuzz(7), createFuzz(8)]
  const make = (fuzz: Fuzz) => Array.from({ length: 50 }, (_, id) => JSON.stringify(fuzz.message(id)))
  const messages = make(one)
  expect(make(two)).toEqual(messages)
  expect(make(other)).not.toEqual(messages)
  expect(new Set(messages).size).toBe(50)
})

const inHeader = (value: unknown): string => encodeURI(String(value).toWellFormed())

describe(`seed ${SEED}`, () => {
  const internal: unknown[] = []
  const onError = (error: unknown): void => void internal.push(error)
  let server: HttpServer
  beforeAll(async () => {
    server = await serveHttp(fixture, { onError })
  })
  afterAll(() => server.close())

  it('stdio answers every request once', { timeout: 60_000 * TIMES }, async () => {
    const fuzz = createFuzz(SEED)
    const input = new PassThrough()
    const output = new PassThrough()
    const done = serveStdio(fixture, { input, output, graceMs: 60_000, onError })
    const answered = new Map<unknown, number>()
    const count = (line: unknown): void => {
      if (Array.isArray(line)) return line.forEach(count)
      if (!isObject(line)) throw new Error(`No message: ${JSON.stringify(line)}`)
      if (line['method'] === undefined) {
        answered.set(line['id'], (answered.get(line['id']) ?? 0) + 1)
      } else if (typeof line['id'] === 'string') {
        const result = fuzz.pick([{ action: 'decline' }, { action: 'accept', content: {} }])
        input.write(`${JSON.stringify({ jsonrpc: '2.0', id: line['id'], result })}\n`)
      }
    }
    let rest = ''
    output.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) count(JSON.parse(line))
    })
    const total = 2000 * TIMES
    for (let id = 1; id <= total; id++) {
      input.write(`${JSON.stringify(fuzz.message(id))}\n`)
      if (id % 100 === 0) await new Promise((resume) => setImmediate(resume))
    }
    const wrong = (): number[] =>
      Array.from({ length: total }, (_, i) => i + 1).filter((id) => answered.get(id) !== 1)
    // Questions are answered on the same input, so it ends only after the last of them.
    await expect.poll(wrong, { timeout: 30_000 }).toEqual([])
    input.end()
    await done
    expect(wrong()).toEqual([])
    expect(internal).toEqual([])
  })

  it('HTTP answers every request, none with a 5xx', { timeout: 60_000 * TIMES }, async () => {
    const fuzz = createFuzz(SEED)
    const statuses = new Set<number>()
    for (let id = 1; id <= 500 * TIMES; id++) {
      const body = fuzz.message(id)
      const headers: Record<string, string> = { 'content-type': 'application/json' }
      if (fuzz.below(2)) {
        headers['mcp-protocol-version'] = fuzz.pick(['2026-07-28', '2025-11-25', '2025-03-26', 'x'])
      }
      if (fuzz.below(2)) headers['mcp-method'] = inHeader(body['method'])
      if (fuzz.below(2) && isObject(body['params'])) {
        headers['mcp-name'] = inHeader(body['params']['name'])
      }
      const whole = JSON.stringify(body)
      const odd = ['[', '[]', '[1]', `[${whole},${whole}]`, 'null', '"x"', `${whole.slice(0, -1)}`]
      const sent = fuzz.below(10) === 0 ? fuzz.pick(odd) : whole
      const answer = await fetch(server.url, { method: 'POST', headers, body: sent })
      const got = await answer.text()
      statuses.add(answer.status)
      expect(answer.status, sent).toBeLessThan(500)
      if (answer.status !== 202) expect(got, sent).not.toBe('')
    }
    // Else the messages were all refused at the door.
    expect([...statuses].toSorted((a, b) => a - b)).toEqual(expect.arrayContaining([200, 400, 404]))
    expect(internal).toEqual([])
  })
})
