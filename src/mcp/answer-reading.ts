import { Failure } from '../core/failure.ts'
import { toFailure } from '../core/to-failure.ts'
import { complete, type Completed } from '../tools/complete.ts'
import { composePrompt, promptNamed, type PromptMessage } from '../tools/compose-prompt.ts'
import { readResource, resourceAt, type Address } from '../tools/read-resource.ts'
import { MIME_TYPE } from './describe-reading.ts'
import { callOf, type Engine } from './engine.ts'
import type {
  Completion,
  CompletionRequest,
  ContentBlock,
  PromptDefinition,
  PromptResult,
  ResourceDefinition,
  ResourceResult,
  TemplateDefinition,
} from './protocol/app.ts'
import type { Context } from './protocol/context.ts'
import { Code, ResourceNotFound, RpcError, invalidParams } from './protocol/errors.ts'

/** What an application offers to read, and on what. */
export interface ReadingParts {
  resources: readonly (ResourceDefinition | TemplateDefinition)[]
  prompts: readonly PromptDefinition[]
  engine(): Engine | Promise<Engine>
  onError(error: unknown): void
}

/** `resources/read`. */
export function answerResource(parts: ReadingParts, uri: string, context: Context): Promise<ResourceResult> {
  const told = (failure: Failure) =>
    failure.kind === 'not_found' ? new ResourceNotFound(uri, { ...failure.toJSON() }) : asError(failure)
  return answering(parts, told, async (engine) => {
    const address = offeredAt(parts, uri)
    if (!address)
      throw new Failure('address_not_found', 'There is no resource at this address.', {
        hint: 'resources/list and resources/templates/list have the addresses that there are.',
      })
    const read = await engine.enter(address.resource.uri, callOf(context), (library, call) =>
      readResource(address, library, call),
    )
    return { contents: [{ uri, mimeType: MIME_TYPE, text: JSON.stringify(read) }] }
  })
}

/** `prompts/get`. */
export function answerPrompt(
  parts: ReadingParts,
  name: string,
  args: Record<string, string>,
  context: Context,
): Promise<PromptResult> {
  const prompt = promptNamed(name)
  const told = (failure: Failure) =>
    failure.kind === 'not_found' || failure.kind === 'invalid'
      ? invalidParams(failure.message, failure.toJSON())
      : asError(failure)
  return answering(parts, told, async (engine) => {
    if (!prompt) throw invalidParams(`Unknown prompt: ${name.slice(0, 64)}`)
    const messages = await engine.enter(prompt.name, callOf(context), (library, call) =>
      composePrompt(prompt, args, library, call),
    )
    return {
      description: prompt.description,
      messages: messages.map((message) => ({ role: 'user', content: contentOf(message) })),
    }
  })
}

/** `completion/complete`. Whoever may not read what the values come from is suggested nothing. */
export function answerCompletion(
  parts: ReadingParts,
  { ref, argument }: CompletionRequest,
  context: Context,
): Promise<Completion> {
  return answering(parts, asError, async (engine) => {
    const completed =
      ref.type === 'ref/prompt' ? promptOffered(parts, ref.name) : resourceOffered(parts, ref.uri)
    if (!completed) throw invalidParams(`There is nothing to complete of this name`)
    const values = await engine.enter('completion', callOf(context), (library, call) =>
      complete(completed, argument, library, call),
    )
    return { values }
  })
}

async function answering<T>(
  { engine, onError }: ReadingParts,
  told: (failure: Failure) => RpcError,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  try {
    return await work(await engine())
  } catch (error) {
    if (error instanceof RpcError) throw error
    const failure = toFailure(error)
    if (failure.kind === 'internal') onError(error)
    throw told(failure)
  }
}

const asError = (failure: Failure): RpcError => new RpcError(Code.internal, failure.message, failure.toJSON())

function contentOf(message: PromptMessage): ContentBlock {
  if (typeof message === 'string') return { type: 'text', text: message }
  const { uri, read } = message
  return { type: 'resource', resource: { uri, mimeType: MIME_TYPE, text: JSON.stringify(read) } }
}

const addressOf = (one: ResourceDefinition | TemplateDefinition): string =>
  'uri' in one ? one.uri : one.uriTemplate

function offeredAt({ resources }: ReadingParts, uri: string): Address | undefined {
  const address = resourceAt(uri)
  return address && resources.some((one) => addressOf(one) === address.resource.uri) ? address : undefined
}

function resourceOffered(parts: ReadingParts, uri: string): Completed | undefined {
  const address = offeredAt(parts, uri)
  return address && { resource: address.resource }
}

function promptOffered({ prompts }: ReadingParts, name: string): Completed | undefined {
  const prompt = prompts.some((one) => one.name === name) ? promptNamed(name) : undefined
  return prompt && { prompt }
}
