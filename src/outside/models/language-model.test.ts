import { describe, expect, it, onTestFinished } from 'vitest'
import {
  MODEL_KEY,
  serveModel,
  type AskedQuestion,
  type ModelReply,
} from '../../../test/support/model-server.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Failure } from '../../core/failure.ts'
import type { ModelQuestion } from '../../core/outside.ts'
import { createLanguageModel, type LanguageModelOptions, type Provider } from './language-model.ts'

const PROVIDERS: Provider[] = ['openai', 'anthropic', 'google', 'ollama']
const QUESTION: ModelQuestion = {
  task: 'Pick words.',
  material: 'The harbour froze in January. 氷 😀',
  schema: {
    type: 'object',
    properties: { passages: { type: 'array', items: { type: 'string' } } },
    required: ['passages'],
    additionalProperties: false,
  },
  maxTokens: 300,
}

async function modelAt(
  provider: Provider,
  reply: (question: AskedQuestion, turn: number) => ModelReply | Promise<ModelReply>,
  options: Partial<LanguageModelOptions> = {},
) {
  const server = await serveModel(reply)
  onTestFinished(() => server.close())
  const model = createLanguageModel({
    provider,
    url: server.url,
    name: 'sage-1',
    apiKey: MODEL_KEY,
    pauseMs: 5,
    ...options,
  })
  return { server, model }
}

/** The failure of a question; it must never show the key nor what the server said. */
async function failureOf(asking: Promise<unknown>): Promise<Failure> {
  const error = await asking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Failure)) throw new Error(`no failure: ${String(error)}`)
  const seen: string[] = []
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    seen.push(at.message, at.stack ?? '', JSON.stringify(at))
  expect(seen.join('\n')).not.toMatch(/planted/)
  return error
}

describe.each(PROVIDERS)('a model of %s', (provider) => {
  it('is asked with task, material apart and schema, and its JSON comes back', async () => {
    const { server, model } = await modelAt(provider, () => ({ json: { passages: ['氷'] } }))
    expect(model.id).toBe(`${provider}:sage-1`)
    expect(await model.answer(QUESTION)).toEqual({ passages: ['氷'] })
    expect(server.asked).toHaveLength(1)
    const [asked] = server.asked
    expect(asked).toMatchObject({
      form: provider,
      model: 'sage-1',
      task: QUESTION.task,
      material: QUESTION.material,
      schema: { type: 'object', required: ['passages'] },
    })
    // The key stands in one header and nowhere else.
    expect(JSON.stringify(asked?.body)).not.toContain(MODEL_KEY)
    expect(
      Object.values(asked?.headers ?? {}).filter((value) => String(value).includes(MODEL_KEY)),
    ).toHaveLength(1)
  })

  it('reads JSON between fences and after thoughts', async () => {
    const { model } = await modelAt(provider, (_question, turn) => ({
      text: ['<think>Hm. {}</think>\n```json\n{"passages":[]}\n```', ' {"passages":[]}\n'][turn - 1]!,
    }))
    expect(await model.answer(QUESTION)).toEqual({ passages: [] })
    expect(await model.answer(QUESTION)).toEqual({ passages: [] })
  })

  it('is asked again when it is busy, as late as it wants, or broken', async () => {
    const { server, model } = await modelAt(provider, (_question, turn) =>
      turn === 1
        ? { status: 429, headers: { 'retry-after': '0' } }
        : turn === 2
          ? { status: 529 }
          : { json: { passages: [] } },
    )
    expect(await model.answer(QUESTION)).toEqual({ passages: [] })
    expect(server.asked).toHaveLength(3)
  })

  it('is asked again when the connection breaks', async () => {
    const { server, model } = await modelAt(provider, (_question, turn) =>
      turn === 1 ? 'hangs up' : { json: { passages: [] } },
    )
    expect(await model.answer(QUESTION)).toEqual({ passages: [] })
    expect(server.asked).toHaveLength(2)
  })

  it.each<[string, ModelReply, string, number]>([
    ['too busy for too long', { status: 429, headers: { 'retry-after': '3600' } }, 'rate_limited', 1],
    ['busy each time', { status: 429 }, 'rate_limited', 3],
    ['broken each time', { status: 500 }, 'unavailable', 3],
    ['gone each time', 'hangs up', 'unavailable', 3],
    ['refusing the key', { status: 401 }, 'unavailable', 1],
    ['without that model', { status: 404 }, 'unavailable', 1],
    ['cut off', { isCutOff: true }, 'unavailable', 1],
    ['talking', { text: 'Sure! Here are your passages: one, two' }, 'unavailable', 1],
    ['answering no JSON at all', { raw: '<html>planted</html>' }, 'unavailable', 1],
    ['answering in another form', { raw: '{"planted":[1,2,{}]}' }, 'unavailable', 1],
    ['answering too much', { raw: `"${'x'.repeat(5_000_000)}"` }, 'unavailable', 1],
  ])('fails when it is %s', async (_how, reply, code, times) => {
    const { server, model } = await modelAt(provider, () => reply)
    const failure = await failureOf(model.answer(QUESTION))
    expect(failure.code).toBe(code)
    expect(server.asked).toHaveLength(times)
  })

  it('says how long to wait where it was told', async () => {
    const { model } = await modelAt(provider, () => ({ status: 429, headers: { 'retry-after': '3600' } }))
    expect((await failureOf(model.answer(QUESTION))).retryAfterSeconds).toBe(3600)
  })

  it('fails when it takes too long, and when nobody wants the answer any more', async () => {
    const { model } = await modelAt(provider, () => 'never answers', { deadlineMs: 60 })
    expect((await failureOf(model.answer(QUESTION))).code).toBe('timed_out')
    const stopped = AbortSignal.timeout(20)
    const { model: patient } = await modelAt(provider, () => 'never answers')
    expect((await failureOf(patient.answer({ ...QUESTION, signal: stopped }))).code).toBe('cancelled')
  })

  it('gets the schema in words where the server takes none', async () => {
    const { server, model } = await modelAt(provider, ({ schema }) =>
      schema === undefined ? { text: '{"passages":["a"]}' } : { status: 400 },
    )
    expect(await model.answer(QUESTION)).toEqual({ passages: ['a'] })
    expect(server.asked.at(-1)?.task).toContain('"required":["passages"]')
    // It is not tried again with each question.
    await model.answer(QUESTION)
    expect(server.asked).toHaveLength(3)
  })
})

it.each<[Provider, string]>([
  ['openai', 'refuses'],
  ['anthropic', 'refuses'],
  ['google', 'refuses'],
])('a refusal of %s is one', async (provider) => {
  const { model } = await modelAt(provider, () => ({ refuses: true }))
  expect((await failureOf(model.answer(QUESTION))).code).toBe('model_refused')
})

it('knows what a provider stops for where it had begun', async () => {
  const filtered = { choices: [{ message: { content: '{"pass' }, finish_reason: 'content_filter' }] }
  const { model } = await modelAt('openai', () => ({ raw: JSON.stringify(filtered) }))
  expect((await failureOf(model.answer(QUESTION))).code).toBe('model_refused')
  const recited = { candidates: [{ content: { parts: [] }, finishReason: 'RECITATION' }] }
  const { model: google } = await modelAt('google', () => ({ raw: JSON.stringify(recited) }))
  expect((await failureOf(google.answer(QUESTION))).code).toBe('model_refused')
})

it('takes addresses as providers give them', async () => {
  for (const [provider, path] of [
    ['openai', '/v1'],
    ['openai', '/v1/chat/completions'],
    ['anthropic', '/v1/'],
    ['google', '/v1beta'],
    ['ollama', '/api/chat'],
  ] as const) {
    const server = await serveModel(() => ({ json: { passages: [] } }))
    onTestFinished(() => server.close())
    const model = createLanguageModel({
      provider,
      url: `${server.url}${path}`,
      name: 'a/b',
      apiKey: MODEL_KEY,
    })
    expect(await model.answer(QUESTION)).toEqual({ passages: [] })
    expect(server.asked[0]?.model).toBe('a/b')
  }
})

it('gives Ollama a window that the whole question fits into', async () => {
  const { server, model } = await modelAt('ollama', () => ({ json: {} }))
  await model.answer({ ...QUESTION, material: 'word '.repeat(6_000) })
  expect(server.asked[0]?.body).toMatchObject({ options: { num_ctx: 12_288, num_predict: 300 } })
})

it('never takes a key elsewhere', async () => {
  const { server } = await modelAt('openai', () => ({ json: {} }))
  const door = createServer((_request, response) => response.writeHead(307, { location: server.url }).end())
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void door.close())
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
  const model = createLanguageModel({ provider: 'openai', url, name: 'm', apiKey: MODEL_KEY, pauseMs: 1 })
  expect((await failureOf(model.answer(QUESTION))).code).toBe('unavailable')
  expect(server.asked).toEqual([])
})
