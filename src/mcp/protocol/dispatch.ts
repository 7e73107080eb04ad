import {
  isInputRequired,
  type App,
  type Awaitable,
  type CompletionRequest,
  type InputRequired,
  type Question,
} from './app.ts'
import { askerOf, checkQuestions, isLevel, type Ask, type Context } from './context.ts'
import { checkArguments, indexByName, indexTools } from './definitions.ts'
import { downgrade } from './downgrade.ts'
import { Code, RpcError, clip, invalidParams, methodNotFound } from './errors.ts'
import { isObject, writeResult, type Json } from './messages.ts'
import { META, MODERN_REVISIONS, isModern, negotiate } from './revisions.ts'

type Method = (params: Json, context: Context) => Awaitable<string>

/** Turns one request into the JSON of its result, or throws `RpcError`. Holds no state between requests. */
export interface Dispatcher {
  dispatch(context: Context): Awaitable<string>
  /** The largest HTTP body, in bytes, that may carry this request; `undefined`: no limit of its own. */
  bodyLimit(request: { method: string; params: Json }): number | undefined
}

const MAX_ROUNDS = 8
const UNCACHED = { ttlMs: 0, cacheScope: 'private' }

/** The methods of both eras over one application. Nothing of it is read or written before it is asked for. */
export function createDispatcher(app: App): Dispatcher {
  const stamp = once(() => `"resultType":"complete","_meta":{"${META.server}":${JSON.stringify(app.info)}}`)
  const tools = once(() => indexTools(app.tools))
  const prompts = once(() => indexByName(app.prompts ?? []))

  /** Serialises a result, with what 2026-07-28 wants on each. */
  const write = (result: object, modern: boolean): string => {
    if (!modern) return writeResult(result)
    if ('_meta' in result) return writeResult({ resultType: 'complete', ...withServer(result, app) })
    const json = writeResult(result)
    return json === '{}' ? `{${stamp()}}` : `{${stamp()},${json.slice(1)}`
  }

  /** An answer that never changes is serialised once for each era, when it is first wanted. */
  const prepared = (result: () => Json): Method => {
    const old = once(() => write(result(), false))
    const now = once(() => write({ ...result(), ...(app.lists ?? UNCACHED) }, true))
    return (_params, context) => (isModern(context.revision) ? now() : old())
  }

  const list = (result: () => Json): Method => {
    const answer = prepared(result)
    return (params, context) => {
      if (params['cursor']) throw invalidParams('Invalid cursor: the list is a single page')
      return answer(params, context)
    }
  }

  const { readResource, getPrompt, complete } = app
  const shared: Record<string, Method> = {
    'tools/list': list(() => ({ tools: [...tools().values()] })),
    'tools/call': (params, context) => {
      const name = text(params, 'name')
      if (!tools().has(name)) throw invalidParams(`Unknown tool: ${clip(name)}`)
      const args = record(params, 'arguments')
      return answer(context, (round) => app.callTool(name, args, round))
    },
    ...(readResource && {
      'resources/list': list(() => ({ resources: app.resources ?? [] })),
      'resources/templates/list': list(() => ({ resourceTemplates: app.resourceTemplates ?? [] })),
      'resources/read': (params, context) => {
        const uri = text(params, 'uri')
        return answer(context, (round) => readResource.call(app, uri, round), UNCACHED)
      },
    }),
    ...(getPrompt && {
      'prompts/list': list(() => ({ prompts: [...prompts().values()] })),
      'prompts/get': (params, context) => {
        const name = text(params, 'name')
        const definition = prompts().get(name)
        if (!definition) throw invalidParams(`Unknown prompt: ${clip(name)}`)
        const args = strings(params['arguments'])
        checkArguments(definition, args)
        return answer(context, (round) => getPrompt.call(app, name, args, round))
      },
    }),
    ...(complete && {
      'completion/complete': async (params, context) => {
        const found = await complete.call(app, toCompletionRequest(params), context)
        const values = found.values.slice(0, 100)
        const completion = { hasMore: found.values.length > values.length, ...found, values }
        return write({ completion }, isModern(context.revision))
      },
    }),
  }

  const describe = (modern: boolean): Json => ({
    capabilities: {
      tools: {},
      ...(readResource && { resources: {} }),
      ...(getPrompt && { prompts: {} }),
      ...(complete && { completions: {} }),
      ...(app.logging && { logging: {} }),
      ...app.capabilities?.(modern),
    },
    ...(app.instructions !== undefined && { instructions: app.instructions }),
  })
  const greeting = once(() => ({ ...describe(false), serverInfo: app.info }))

  const modern = new Map<string, Method>(Object.entries(shared))
  modern.set(
    'server/discover',
    prepared(() => ({ supportedVersions: MODERN_REVISIONS, ...describe(true) })),
  )

  const legacy = new Map<string, Method>(Object.entries(shared))
  legacy.set('initialize', (params) =>
    JSON.stringify({ protocolVersion: negotiate(params['protocolVersion']), ...greeting() }),
  )
  legacy.set('ping', () => '{}')
  if (app.logging) {
    legacy.set('logging/setLevel', (params) => {
      if (!isLevel(params['level'])) throw invalidParams('level must be one of the levels of RFC 5424')
      return '{}'
    })
  }
  for (const [name, run] of Object.entries(app.legacyMethods ?? {})) {
    legacy.set(name, async (params, context) => write(await run(params, context), false))
  }

  /** Runs what may ask back. 2026-07-28 hands the question over; older revisions are asked on the connection. */
  async function answer(
    first: Context,
    run: (context: Context) => Awaitable<object>,
    defaults?: object,
  ): Promise<string> {
    const now = isModern(first.revision)
    let context = first
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const pending = run(context)
      const result = pending instanceof Promise ? await pending : pending
      if (!isInputRequired(result)) {
        if (!now) return write(downgrade(result, first.revision), false)
        return write(defaults ? { ...defaults, ...result } : result, true)
      }
      const questions = result.inputRequests ?? {}
      if (now) {
        checkQuestions(context, questions)
        return JSON.stringify(withServer(result, app))
      }
      const ask = askerOf(context, questions)
      if (!ask) return refusal(first)
      context = await askOverConnection(first, ask, questions, result)
    }
    throw new RpcError(Code.internal, 'Too many questions for one request')
  }

  return {
    dispatch(context) {
      const { method, params } = context.request
      const run = (isModern(context.revision) ? modern : legacy).get(method)
      if (!run) throw methodNotFound(method)
      return run(params, context)
    },
    bodyLimit({ method, params }) {
      const name = params['name']
      if (!app.bodyLimit || method !== 'tools/call' || typeof name !== 'string') return undefined
      return tools().has(name) ? app.bodyLimit(name) : undefined
    },
  }
}

/** An older client that cannot be asked: a tool says so to the model, anything else fails. */
function refusal({ request }: Context): string {
  const why = 'This client cannot be asked for what the request needs'
  if (request.method !== 'tools/call') throw new RpcError(Code.internal, why)
  return JSON.stringify({ content: [{ type: 'text', text: why }], isError: true })
}

async function askOverConnection(
  first: Context,
  ask: Ask,
  questions: Record<string, Question>,
  { requestState }: InputRequired,
): Promise<Context> {
  const answers = await Promise.all(
    Object.entries(questions).map(async ([key, { method, params }]) => {
      return [key, await ask(method, params ?? {}, first.signal)] as const
    }),
  )
  return first.withAnswers({ inputResponses: Object.fromEntries(answers), requestState })
}

function withServer(result: object, app: App): object {
  const meta = '_meta' in result && isObject(result._meta) ? result._meta : {}
  return { ...result, _meta: { ...meta, [META.server]: app.info } }
}

function toCompletionRequest(params: Json): CompletionRequest {
  const { ref, argument, context } = params
  if (!isObject(ref) || !isObject(argument)) throw invalidParams('ref and argument must be objects')
  return {
    ref: toReference(ref),
    argument: { name: text(argument, 'name'), value: text(argument, 'value') },
    chosen: isObject(context) ? strings(context['arguments']) : {},
  }
}

function toReference(ref: Json): CompletionRequest['ref'] {
  switch (ref['type']) {
    case 'ref/prompt':
      return { type: 'ref/prompt', name: text(ref, 'name') }
    case 'ref/resource':
      return { type: 'ref/resource', uri: text(ref, 'uri') }
    default:
      throw invalidParams('ref.type must be ref/prompt or ref/resource')
  }
}

function text(params: Json, key: string): string {
  const value = params[key]
  if (typeof value !== 'string') throw invalidParams(`${key} must be a string`)
  return value
}

function record(params: Json, key: string): Json {
  const value = params[key] ?? {}
  if (!isObject(value)) throw invalidParams(`${key} must be an object`)
  return value
}

function strings(value: unknown): Record<string, string> {
  const given = value ?? {}
  if (!isObject(given)) throw invalidParams('arguments must be an object')
  const entries = Object.entries(given).map(([name, entry]) => {
    if (typeof entry !== 'string') throw invalidParams(`arguments must be strings: ${clip(name)} is none`)
    return [name, entry] as const
  })
  return Object.fromEntries(entries)
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
