import type { Context } from './context.ts'
import type { Json } from './messages.ts'

/**
 * What an application gives the protocol core: definitions, the same for as long as it is served, and functions behind
 * them. The definitions are read when a client first asks for them, so getters may make them then.
 */
export interface App {
  info: Info
  /** What the server is for and how its parts belong together, for the model. */
  instructions?: string
  /** How long a client may keep the lists, and whether they are the same for everybody. Absent: not at all. */
  lists?: { ttlMs: number; cacheScope: 'public' | 'private' }

  /** All tools, in the order they are listed. What is not here cannot be called: that is `-32602`. */
  readonly tools: readonly ToolDefinition[]
  /**
   * Runs one of `tools`. `args` is an object and nothing more is known of it. A failure of the tool is a result with
   * `isError`; a thrown `RpcError` goes out as an error of the protocol, anything else thrown as `-32603` without a word.
   */
  callTool(name: string, args: Json, context: Context): Awaitable<ToolResult | InputRequired>
  /** The largest HTTP body, in bytes, that carries a call of this tool; a larger one is answered 413. */
  bodyLimit?(name: string): number

  readonly resources?: readonly ResourceDefinition[]
  readonly resourceTemplates?: readonly TemplateDefinition[]
  /** Throws `ResourceNotFound`. */
  readResource?(uri: string, context: Context): Awaitable<ResourceResult | InputRequired>

  readonly prompts?: readonly PromptDefinition[]
  /** Fills in one of `prompts`; its required arguments are there. */
  getPrompt?(
    name: string,
    args: Record<string, string>,
    context: Context,
  ): Awaitable<PromptResult | InputRequired>

  /** Suggests values for an argument of a prompt or of a resource template; at most 100 go out. */
  complete?(request: CompletionRequest, context: Context): Awaitable<Completion>

  /** Declares `logging`; without it `context.log` says nothing. */
  logging?: boolean
  /** Methods that only revisions before 2026-07-28 know, such as `resources/subscribe`. */
  legacyMethods?: Record<string, (params: Json, context: Context) => Awaitable<Json>>
  /** Capabilities beyond those that follow from what is defined here. */
  capabilities?: (modern: boolean) => Json
}

export type Awaitable<T> = T | Promise<T>

export interface Icon {
  src: string
  mimeType?: string
  sizes?: string[]
  theme?: 'light' | 'dark'
}

export interface Info {
  name: string
  version: string
  title?: string
  description?: string
  websiteUrl?: string
  icons?: Icon[]
}

export interface Annotations {
  audience?: ('user' | 'assistant')[]
  /** From 0 to 1. */
  priority?: number
  /** ISO 8601 with an offset. */
  lastModified?: string
}

export interface ToolDefinition {
  name: string
  title?: string
  description?: string
  /** JSON Schema 2020-12 with `type: 'object'` at its root. */
  inputSchema: Json
  outputSchema?: Json
  annotations?: ToolAnnotations
  icons?: Icon[]
  _meta?: Json
}

export interface ToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

export type ContentBlock = { annotations?: Annotations; _meta?: Json } & (
  | { type: 'text'; text: string }
  /** `data` in Base64. */
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: ResourceContents }
  | ({ type: 'resource_link' } & Omit<ResourceDefinition, 'annotations'>)
)

/** The text or, in Base64, the bytes of a resource. */
export type ResourceContents = { uri: string; mimeType?: string; _meta?: Json } & (
  | { text: string }
  | { blob: string }
)

export interface ToolResult {
  content: ContentBlock[]
  /** Any JSON value, or the text of one (`JsonText`). */
  structuredContent?: unknown
  isError?: boolean
  _meta?: Json
}

export interface ResourceDefinition {
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  /** In bytes. */
  size?: number
  annotations?: Annotations
  icons?: Icon[]
}

export interface TemplateDefinition extends Omit<ResourceDefinition, 'uri' | 'size'> {
  /** RFC 6570. */
  uriTemplate: string
}

export interface ResourceResult {
  contents: ResourceContents[]
  ttlMs?: number
  cacheScope?: 'public' | 'private'
  _meta?: Json
}

export interface PromptDefinition {
  name: string
  title?: string
  description?: string
  arguments?: { name: string; title?: string; description?: string; required?: boolean }[]
}

export interface PromptResult {
  description?: string
  messages: { role: 'user' | 'assistant'; content: ContentBlock }[]
  _meta?: Json
}

export interface CompletionRequest {
  ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }
  argument: { name: string; value: string }
  /** Arguments already chosen. */
  chosen: Record<string, string>
}

export interface Completion {
  values: string[]
  total?: number
  hasMore?: boolean
}

/** A question to the person, the model or the host. */
export interface Question {
  method: string
  params?: Json
}

/** Asks before there is a result: the same call comes again with the answers in its context. */
export interface InputRequired {
  resultType: 'input_required'
  inputRequests?: Record<string, Question>
  /** Comes back with the answers, through the client: seal it (`RequestState`). */
  requestState?: string
}

/** Asks the person to fill in a form; `requestedSchema` is flat, its properties primitive. */
export const elicit = (message: string, requestedSchema: Json): Question => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema },
})

export const isInputRequired = (result: object): result is InputRequired =>
  'resultType' in result && result.resultType === 'input_required'
