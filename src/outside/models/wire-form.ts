import type { ModelQuestion } from '../../core/outside.ts'

/** How one kind of provider is asked in JSON over HTTP, and how its answers read. */
export interface WireForm {
  /** Where it is asked, for a base address as its documentation gives it. */
  endpoint(base: URL, model: string): URL
  /** The key's header; without a key there is none. */
  headers(key: string | undefined): Record<string, string>
  /** `schemaInWords`: the server was asked in its own form for a schema and knows no such thing. */
  body(question: ModelQuestion, model: string, options: { base: URL; schemaInWords: boolean }): object
  read(answer: unknown): Reading
}

/** What an answer turned out to be: text that should be JSON, JSON, or why there is none. */
export type Reading =
  | { text: string }
  | { json: unknown }
  | { stopped: 'refused' | 'too_long' | 'not_understood' }

/** Room beside the answer for models that think before it, where that counts against the same limit. */
export const THINKING_TOKENS = 8_000

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at a path of names and numbers, undefined where there is none. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  let here = value
  for (const step of path) {
    if (typeof step === 'number' ? !Array.isArray(here) : !isRecord(here)) return undefined
    here = Reflect.get(Object(here), step)
  }
  return here
}

/** The base with a path behind its own, unless it ends in that path already. */
export function under(base: URL, path: string, versioned?: string): URL {
  const endpoint = new URL(base)
  const own = base.pathname.replace(/\/+$/, '')
  if (own.endsWith(path)) endpoint.pathname = own
  else endpoint.pathname = `${own === '' && versioned ? versioned : own}${path}`
  return endpoint
}

/** A task with its schema in words, for servers that take none. */
export const inWords = ({ task, schema }: ModelQuestion): string =>
  `${task}\n\nAnswer with one JSON object and nothing else. It follows this JSON Schema:\n${JSON.stringify(schema)}`
