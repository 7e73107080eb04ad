import { SCOPES, type AnyTool, type Scope } from '../../src/core/define-tool.ts'
import { Failure, type FailureJson } from '../../src/core/failure.ts'
import type { Library } from '../../src/core/library.ts'
import { callTool, type ToolCall } from '../../src/tools/call-tool.ts'

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

/** The failure of a call that must fail, as a client reads it. */
export async function failureOfCall(
  tool: AnyTool,
  library: Library,
  args: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<FailureJson> {
  try {
    await callTool(tool, library, args, callOf(options))
  } catch (error) {
    if (error instanceof Failure) return error.toJSON()
    throw error
  }
  throw new Error(`${tool.name} did not fail`)
}

const callOf = ({ scopes = SCOPES, signal, connection = 'test' }: CallOptions): ToolCall => ({
  scopes: new Set(scopes),
  signal: signal ?? new AbortController().signal,
  connection,
  progress: () => {},
})
