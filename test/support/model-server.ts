import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

/** What a model is asked, whatever the wire form. */
export interface AskedQuestion {
  form: 'openai' | 'anthropic' | 'google' | 'ollama'
  model: string
  task: string
  material: string
  /** Absent where the question came without one. */
  schema?: unknown
  /** Of the whole request. */
  body: unknown
  headers: IncomingMessage['headers']
}

/** How the model answers: with JSON or text, or one of the ways in which it does not. */
export type ModelReply =
  | { json: unknown }
  | { text: string }
  | { refuses: true }
  | { isCutOff: true }
  | { status: number; headers?: Record<string, string> }
  | { raw: string }
  | 'hangs up'
  | 'never answers'

export interface ModelServer {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** What was asked, in order. */
  asked: AskedQuestion[]
  close(): Promise<void>
}

export const MODEL_KEY = 'planted-key-of-the-model'

const object = z.strictObject
const schema = z.looseObject({ type: z.literal('object') })
const role = (name: string) => object({ role: z.literal(name), content: z.string() })

const OPENAI = object({
  model: z.string(),
  messages: z.tuple([role('system'), role('user')]),
  max_tokens: z.int().positive(),
  response_format: object({
    type: z.literal('json_schema'),
    json_schema: object({
      name: z.string().regex(/^[\w-]{1,64}$/),
      strict: z.literal(true),
      schema: schema.extend({ additionalProperties: z.literal(false) }),
    }),
  }).optional(),
})

const ANTHROPIC = object({
  model: z.string(),
  max_tokens: z.int().positive(),
  system: z.string(),
  messages: z.tuple([role('user')]),
  tools: z.tuple([object({ name: z.string(), description: z.string(), input_schema: schema })]).optional(),
  tool_choice: object({ type: z.literal('tool'), name: z.string() }).optional(),
})

const parts = z.tuple([object({ text: z.string() })])
/** No `additionalProperties`, at any depth. */
const openApi: z.ZodType = z.lazy(() =>
  object({
    type: z.string(),
    description: z.string().optional(),
    properties: z.record(z.string(), openApi).optional(),
    items: openApi.optional(),
    required: z.array(z.string()).optional(),
    minItems: z.int().optional(),
    maxItems: z.int().optional(),
  }),
)
const GOOGLE = object({
  systemInstruction: object({ parts }),
  contents: z.tuple([object({ role: z.literal('user'), parts })]),
  generationConfig: object({
    maxOutputTokens: z.int().positive(),
    responseMimeType: z.literal('application/json'),
    responseSchema: openApi.optional(),
  }),
})

const OLLAMA = object({
  model: z.string(),
  messages: z.tuple([role('system'), role('user')]),
  stream: z.literal(false),
  format: z.union([z.literal('json'), schema]),
  options: object({ temperature: z.number(), num_predict: z.int(), num_ctx: z.int() }),
})

/**
 * A server that speaks the forms of four providers, for the key `MODEL_KEY` (Ollama: for all). Bodies that are not as the form
 * has them are answered with 400, as the providers do.
 */
export async function serveModel(
  reply: (question: AskedQuestion, turn: number) => ModelReply | Promise<ModelReply>,
): Promise<ModelServer> {
  const asked: AskedQuestion[] = []
  const server = createServer((request, response) => void answer(request, response))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    }
    const question = readQuestion(request, await json(request))
    if (typeof question === 'number') return send(question, { error: { message: `planted: ${MODEL_KEY}` } })
    asked.push(question)
    const given = await reply(question, asked.length)
    if (given === 'hangs up') return void request.socket.destroy()
    if (given === 'never answers') return
    if ('status' in given)
      return send(given.status, { error: { message: `planted: ${MODEL_KEY}` } }, given.headers)
    if ('raw' in given) return send(200, given.raw)
    send(200, ANSWERS[question.form](given))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function readQuestion({ url, headers, method }: IncomingMessage, body: unknown): AskedQuestion | number {
  const { pathname } = new URL(url ?? '/', 'http://localhost')
  if (method !== 'POST' || headers['content-type'] !== 'application/json') return 405
  const more = { body, headers }
  if (pathname === '/v1/chat/completions') {
    if (headers.authorization !== `Bearer ${MODEL_KEY}`) return 401
    const { data } = OPENAI.safeParse(body)
    if (!data) return 400
    const [{ content: task }, { content: material }] = data.messages
    const format = data.response_format
    return {
      form: 'openai',
      model: data.model,
      task,
      material,
      ...(format && { schema: format.json_schema.schema }),
      ...more,
    }
  }
  if (pathname === '/v1/messages') {
    if (headers['x-api-key'] !== MODEL_KEY) return 401
    const { data } = ANTHROPIC.safeParse(body)
    if (!data || headers['anthropic-version'] !== '2023-06-01') return 400
    if (data.tool_choice?.name !== data.tools?.[0].name) return 400
    const { model, system: task, messages, tools } = data
    const [{ content: material }] = messages
    return {
      form: 'anthropic',
      model,
      task,
      material,
      ...(tools && { schema: tools[0].input_schema }),
      ...more,
    }
  }
  const google = /^\/v1beta\/models\/([^/:]+):generateContent$/.exec(pathname)
  if (google) {
    if (headers['x-goog-api-key'] !== MODEL_KEY) return 403
    const { data } = GOOGLE.safeParse(body)
    if (!data) return 400
    const [{ text: task }] = data.systemInstruction.parts
    const [{ text: material }] = data.contents[0].parts
    const { responseSchema } = data.generationConfig
    return {
      form: 'google',
      model: decodeURIComponent(google[1] ?? ''),
      task,
      material,
      ...(responseSchema !== undefined && { schema: responseSchema }),
      ...more,
    }
  }
  if (pathname === '/api/chat') {
    const { data } = OLLAMA.safeParse(body)
    if (!data) return 400
    const [{ content: task }, { content: material }] = data.messages
    return {
      form: 'ollama',
      model: data.model,
      task,
      material,
      ...(data.format !== 'json' && { schema: data.format }),
      ...more,
    }
  }
  return 404
}

type Given = { json: unknown } | { text: string } | { refuses: true } | { isCutOff: true }

const textOf = (given: Given): string =>
  'json' in given ? JSON.stringify(given.json) : 'text' in given ? given.text : '{"passages": ["The harb'

const ANSWERS: Record<AskedQuestion['form'], (given: Given) => unknown> = {
  openai: (given) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'refuses' in given ? null : textOf(given),
          refusal: 'refuses' in given ? 'I cannot help with that.' : null,
        },
        finish_reason: 'isCutOff' in given ? 'length' : 'stop',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
  anthropic: (given) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content:
      'json' in given
        ? [
            { type: 'text', text: 'Here they are.' },
            { type: 'tool_use', id: 'toolu_1', name: 'answer', input: given.json },
          ]
        : 'refuses' in given
          ? []
          : [{ type: 'text', text: textOf(given) }],
    stop_reason: 'refuses' in given ? 'refusal' : 'isCutOff' in given ? 'max_tokens' : 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  google: (given) =>
    'refuses' in given
      ? { promptFeedback: { blockReason: 'SAFETY' } }
      : {
          candidates: [
            {
              content: {
                role: 'model',
                parts: [{ text: 'Let me think.', thought: true }, { text: textOf(given) }],
              },
              finishReason: 'isCutOff' in given ? 'MAX_TOKENS' : 'STOP',
            },
          ],
        },
  ollama: (given) => ({
    model: 'm',
    // Ollama has no form for a refusal: the model says no in words.
    message: { role: 'assistant', content: 'refuses' in given ? 'I cannot help with that.' : textOf(given) },
    done: true,
    done_reason: 'isCutOff' in given ? 'length' : 'stop',
  }),
}
