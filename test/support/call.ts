import { SCOPES, type AnyTool, type Scope } from '../../src/core/define-tool.ts'
import { Failure, type FailureJson } from '../../src/core/failure.ts'
import type { Library } from '../../src/core/library.ts'
import { callTool, type ToolCall } from '../../src/tools/call-tool.ts'
import { readResource, resourceAt } from '../../src/tools/read-resource.ts'

export interface CallOptions {
  scopes?: readonly Scope[]
  signal?: AbortSignal
  connection?: string
}

/** Calls a tool as an assistant would; all scopes unless said. Gives its output. */
export async function call(
  tool: AnyTool,
  library: Library,
  args: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<Record<string, unknown>> {
  const { output } = await callTool(tool, library, args, callOf(options))
  return output
}

/** Reads a resource by its address as an assistant would; all scopes unless said. */
export async function read(
  library: Library,
  uri: string,
  options: CallOptions = {},
): Promise<Record<string, unknown>> {
  const address = resourceAt(uri)
  if (!address) throw new Error(`there is no resource at ${uri}`)
  return readResource(address, library, callOf(options))
}

/** The failure of a reading that must fail. */
export async function failureOfReading(
  library: Library,
  uri: string,
  options: CallOptions = {},
): Promise<FailureJson> {
  return failureOf(uri, read(library, uri, options))
}

/** The failure of a call that must fail, as a client reads it. */
export async function failureOfCall(
  tool: AnyTool,
  library: Library,
  args: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<FailureJson> {
  return failureOf(tool.name, callTool(tool, library, args, callOf(options)))
}

async function failureOf(what: string, attempt: Promise<unknown>): Promise<FailureJson> {
  try {
    await attempt
  } catch (error) {
    if (error instanceof Failure) return error.toJSON()
    throw error
  }
  throw new Error(`${what} did not fail`)
}

const callOf = ({ scopes = SCOPES, signal, connection = 'test' }: CallOptions): ToolCall => ({
  scopes: new Set(scopes),
  signal: signal ?? new AbortController().signal,
  connection,
  progress: () => {},
})
