/** The application that the official conformance suite asks for: names and texts are the suite's. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  elicit,
  type App,
  type Awaitable,
  type InputRequired,
  type PromptResult,
  type Question,
  type ToolResult,
} from '../../src/mcp/protocol/app.ts'
import type { Context } from '../../src/mcp/protocol/context.ts'
import { ResourceNotFound } from '../../src/mcp/protocol/errors.ts'
import { isObject, type Json } from '../../src/mcp/protocol/messages.ts'
import { RequestState } from '../../src/mcp/protocol/request-state.ts'

type Call = (args: Json, context: Context) => Awaitable<ToolResult | InputRequired>

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const state = new RequestState()

const text = (value: string): ToolResult => ({ content: [{ type: 'text', text: value }] })
const form = (properties: Json, required: string[] = []): Json => ({ type: 'object', properties, required })

function ask(inputRequests: Record<string, Question>, requestState?: string): InputRequired {
  return {
    resultType: 'input_required',
    inputRequests,
    ...(requestState !== undefined && { requestState }),
  }
}

const sample = (prompt: string): Question => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 },
})
const listRoots: Question = { method: 'roots/list', params: {} }
const askName = elicit('What is your name?', form({ name: { type: 'string' } }, ['name']))
const askOk = elicit('Please confirm', form({ ok: { type: 'boolean' } }, ['ok']))

/** The value at a path of keys, where the path is there. */
function at(value: unknown, ...path: string[]): unknown {
  let here = value
  for (const key of path) here = isObject(here) ? here[key] : undefined
  return here
}

const said = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))
const count = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

/** Tools that ask one question and put the answer into words. */
const asks =
  (question: (args: Json) => Question, say: (answer: unknown) => string): Call =>
  (args, context) => {
    const answer = context.inputResponses['q']
    if (answer !== undefined) return text(say(answer))
    const asked = question(args)
    if (!context.canAsk(asked.method.startsWith('sampling') ? 'sampling' : 'elicitation')) {
      return { ...text('This client cannot be asked'), isError: true }
    }
    return ask({ q: asked })
  }

const completed = (answer: unknown): string =>
  `Elicitation completed: action=${said(at(answer, 'action'))}, content=${JSON.stringify(at(answer, 'content') ?? {})}`

const choices = (values: string[], titles: string[]): Json[] =>
  values.map((value, i) => ({ const: value, title: titles[i] }))

const calls: Record<string, Call> = {
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }),
  test_tool_with_logging: async (_args, context) => {
    for (const line of ['started', 'processing data', 'completed']) {
      context.log('info', `Tool execution ${line}`)
      await sleep(20)
    }
    return text('Tool with logging executed successfully')
  },
  test_tool_with_progress: async (_args, context) => {
    for (const done of [0, 50, 100]) {
      context.progress(done, 100, `Completed step ${done} of 100`)
      await sleep(20)
    }
    return text('done')
  },
  test_error_handling: () => ({
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  }),
  json_schema_2020_12_tool: (args) => text(`JSON Schema 2020-12 tool called with: ${JSON.stringify(args)}`),
  test_missing_capability: (_args, context) => {
    context.require('sampling')
    return text('Success')
  },
  test_streaming_elicitation: (_args, context) => {
    context.progress(50, 100)
    return text('Streaming complete')
  },
  test_logging_tool: (_args, context) => {
    context.log('info', 'Diagnostic trace logging activated')
    return text('Logging evaluated')
  },
  test_sampling: asks(
    (args) => sample(said(args['prompt'] ?? '')),
    (answer) => `LLM response: ${said(at(answer, 'content', 'text'))}`,
  ),
  test_elicitation: asks(
    (args) => elicit(said(args['message'] ?? ''), form({ response: { type: 'string' } }, ['response'])),
    (answer) =>
      `User response: action=${said(at(answer, 'action'))}, content=${JSON.stringify(at(answer, 'content') ?? {})}`,
  ),
  test_elicitation_sep1034_defaults: asks(
    () =>
      elicit(
        'Please review',
        form({
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        }),
      ),
    completed,
  ),
  test_elicitation_sep1330_enums: asks(
    () =>
      elicit(
        'Please select',
        form({
          untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
          titledSingle: {
            type: 'string',
            oneOf: choices(['value1', 'value2', 'value3'], ['First Option', 'Second Option', 'Third Option']),
          },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: {
            type: 'array',
            minItems: 1,
            maxItems: 3,
            items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
          },
          titledMulti: {
            type: 'array',
            minItems: 1,
            maxItems: 3,
            items: {
              anyOf: choices(
                ['value1', 'value2', 'value3'],
                ['First Choice', 'Second Choice', 'Third Choice'],
              ),
            },
          },
        }),
      ),
    completed,
  ),
  test_input_required_result_elicitation: (_args, { inputResponses }) => {
    const name = at(inputResponses, 'user_name', 'content', 'name')
    return typeof name === 'string' ? text(`Hello, ${name}!`) : ask({ user_name: askName })
  },
  test_input_required_result_sampling: (_args, { inputResponses }) => {
    const answer = inputResponses['sample_request']
    if (answer === undefined) return ask({ sample_request: sample('What is the capital of France?') })
    return text(`Sampling result: ${said(at(answer, 'content', 'text'))}`)
  },
  test_input_required_result_list_roots: (_args, { inputResponses }) => {
    const answer = inputResponses['roots_request']
    if (answer === undefined) return ask({ roots_request: listRoots })
    return text(`Found ${count(at(answer, 'roots'))} root(s)`)
  },
  test_input_required_result_request_state: (_args, { inputResponses, requestState }) => {
    if (requestState === undefined || inputResponses['confirm'] === undefined) {
      return ask({ confirm: askOk }, state.seal({}, 'request_state'))
    }
    state.open(requestState, 'request_state')
    return text('state-ok: requestState validated')
  },
  test_input_required_result_multiple_inputs: (_args, { inputResponses, requestState }) => {
    const keys = ['user_name', 'greeting', 'client_roots']
    if (requestState === undefined || keys.some((key) => inputResponses[key] === undefined)) {
      return ask(
        { user_name: askName, greeting: sample('Generate a greeting'), client_roots: listRoots },
        state.seal({}, 'multiple'),
      )
    }
    state.open(requestState, 'multiple')
    const name = said(at(inputResponses, 'user_name', 'content', 'name'))
    const greeting = said(at(inputResponses, 'greeting', 'content', 'text'))
    return text(
      `Name: ${name}; Greeting: ${greeting}; Roots: ${count(at(inputResponses, 'client_roots', 'roots'))}`,
    )
  },
  test_input_required_result_multi_round: (_args, { inputResponses, requestState }) => {
    const known = requestState === undefined ? {} : state.open(requestState, 'rounds')
    const name = at(known, 'name') ?? at(inputResponses, 'step1', 'content', 'name')
    if (name === undefined) return ask({ step1: askName }, state.seal({}, 'rounds'))
    const color = at(inputResponses, 'step2', 'content', 'color')
    if (color !== undefined) return text(`Multi-round complete for ${said(name)} who likes ${said(color)}`)
    const step2 = elicit(
      'Step 2: What is your favorite color?',
      form({ color: { type: 'string' } }, ['color']),
    )
    return ask({ step2 }, state.seal({ name }, 'rounds'))
  },
  test_input_required_result_tampered_state: (_args, { inputResponses, requestState }) => {
    if (requestState !== undefined) {
      state.open(requestState, 'tamper')
      if (inputResponses['confirm'] !== undefined) return text('integrity-ok: state verified')
    }
    return ask({ confirm: askOk }, state.seal({}, 'tamper'))
  },
  test_input_required_result_capabilities: (_args, context) => {
    const keys = Object.keys(context.inputResponses)
    if (keys.length > 0) return text(`capabilities-ok: received ${keys.join(',')}`)
    const questions: Record<string, Question> = {}
    if (context.canAsk('elicitation')) {
      questions['elicit_input'] = elicit('Input', form({ value: { type: 'string' } }, ['value']))
    }
    if (context.canAsk('sampling')) questions['sample_input'] = sample('Sample request')
    if (Object.keys(questions).length === 0) return text('No supported capabilities declared')
    return ask(questions, state.seal({}, 'caps'))
  },
}

const JSON_SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // eslint-disable-next-line unicorn/no-thenable
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const subscribed = new Set<unknown>()

const user = (content: PromptResult['messages'][number]['content']): PromptResult['messages'][number] => ({
  role: 'user',
  content,
})

export const fixture: App = {
  info: { name: 'fixture', version: '1.0.0' },
  lists: { ttlMs: 300_000, cacheScope: 'public' },
  logging: true,
  capabilities: (modern) => (modern ? {} : { resources: { subscribe: true } }),
  legacyMethods: {
    'resources/subscribe': ({ uri }) => (subscribed.add(uri), {}),
    'resources/unsubscribe': ({ uri }) => (subscribed.delete(uri), {}),
  },
  tools: Object.keys(calls).map((name) => ({
    name,
    description: name.replaceAll('_', ' '),
    inputSchema:
      name === 'json_schema_2020_12_tool' ? JSON_SCHEMA_2020_12 : { type: 'object', properties: {} },
  })),
  callTool(name, args, context) {
    const call = calls[name]
    if (!call) throw new Error(`${name} is listed and not there`)
    return call(args, context)
  },
  resources: [
    { uri: 'test://static-text', name: 'static-text', description: 'A text', mimeType: 'text/plain' },
    { uri: 'test://static-binary', name: 'static-binary', description: 'An image', mimeType: 'image/png' },
    {
      uri: 'test://watched-resource',
      name: 'watched-resource',
      description: 'Watched',
      mimeType: 'text/plain',
    },
  ],
  resourceTemplates: [
    {
      uriTemplate: 'test://template/{id}/data',
      name: 'template',
      description: 'A template',
      mimeType: 'application/json',
    },
  ],
  readResource(uri) {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
    if (id !== undefined) {
      const body = { id, templateTest: true, data: `Data for ID: ${id}` }
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(body) }] }
    }
    switch (uri) {
      case 'test://static-text':
        return {
          contents: [
            { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
          ],
        }
      case 'test://static-binary':
        return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] }
      case 'test://watched-resource':
        return { contents: [{ uri, mimeType: 'text/plain', text: 'Watched resource content' }] }
      default:
        throw new ResourceNotFound(uri)
    }
  },
  prompts: [
    { name: 'test_simple_prompt', description: 'Simple' },
    {
      name: 'test_prompt_with_arguments',
      description: 'With arguments',
      arguments: [
        { name: 'arg1', required: true, description: 'First' },
        { name: 'arg2', required: true, description: 'Second' },
      ],
    },
    {
      name: 'test_prompt_with_embedded_resource',
      description: 'With a resource',
      arguments: [{ name: 'resourceUri', required: true, description: 'URI' }],
    },
    { name: 'test_prompt_with_image', description: 'With an image' },
    { name: 'test_input_required_result_prompt', description: 'Asks first' },
  ],
  getPrompt(name, args, { inputResponses }) {
    switch (name) {
      case 'test_prompt_with_arguments':
        return {
          messages: [
            user({
              type: 'text',
              text: `Prompt with arguments: arg1='${args['arg1']}', arg2='${args['arg2']}'`,
            }),
          ],
        }
      case 'test_prompt_with_embedded_resource':
        return {
          messages: [
            user({
              type: 'resource',
              resource: {
                uri: args['resourceUri'] ?? '',
                mimeType: 'text/plain',
                text: 'Embedded resource content for testing.',
              },
            }),
            user({ type: 'text', text: 'Please process the embedded resource above.' }),
          ],
        }
      case 'test_prompt_with_image':
        return {
          messages: [
            user({ type: 'image', data: PNG, mimeType: 'image/png' }),
            user({ type: 'text', text: 'Please analyze the image above.' }),
          ],
        }
      case 'test_input_required_result_prompt': {
        const answer = at(inputResponses, 'user_context', 'content', 'context')
        if (answer !== undefined) {
          return { messages: [user({ type: 'text', text: `Prompt with context: ${said(answer)}` })] }
        }
        return ask({
          user_context: elicit(
            'What context should the prompt use?',
            form({ context: { type: 'string' } }, ['context']),
          ),
        })
      }
      default:
        return { messages: [user({ type: 'text', text: 'This is a simple prompt for testing.' })] }
    }
  },
  complete: () => ({ values: [], total: 0, hasMore: false }),
}
