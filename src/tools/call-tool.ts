import { ZodError } from 'zod'
import type { AnyTool, Answer, BoundCall, Call, Scope } from '../core/define-tool.ts'
import { Failure } from '../core/failure.ts'
import type { CallMark, Library } from '../core/library.ts'
import { coerce } from './coerce.ts'
import { invalidInput } from './invalid-input.ts'
import { replayOf } from './replay.ts'

export interface ToolCall extends Call {
  /** `cli`, or the assistant's own name. */
  connection: string
}

/**
 * The one way into a tool: strict parse → scopes → `requestId` → run → output check. Throws `Failure`; what else is thrown is
 * a fault of ours.
 */
export async function callTool(
  tool: AnyTool,
  library: Library,
  args: Record<string, unknown>,
  call: ToolCall,
): Promise<Answer> {
  const bound = readArguments(tool, args)
  checkScopes(tool, bound.scopes, call.scopes)
  return tool.describe(
    await (tool.effect === 'read' ? bound.run(library, call) : write(tool, library, args, bound, call)),
  )
}

/** Once for each `requestId`, and in the audit log. */
async function write(
  tool: AnyTool,
  library: Library,
  args: Record<string, unknown>,
  bound: BoundCall,
  call: ToolCall,
): Promise<unknown> {
  const { requestId } = bound
  const { requestId: _id, ...own } = args
  const replay =
    requestId === undefined
      ? undefined
      : replayOf(library, { name: tool.name, reachesOut: tool.reachesOut === true }, requestId, own)
  const mark: CallMark = {
    connection: call.connection,
    tool: tool.name,
    ...(requestId !== undefined && { requestId }),
    ...(typeof args['user_intent'] === 'string' && { intent: args['user_intent'] }),
    ...replay?.mark,
    async seal(db, output) {
      // An output that breaks its own schema must not be committed either.
      const { output: checked } = tool.describe(output)
      await replay?.mark.seal?.(db, checked)
    },
  }
  const work = () => bound.run(library.on(mark), call)
  return replay ? await replay.run(work) : await work()
}

/** Most arguments are right as they come; only others are worth a second look. */
function readArguments(tool: AnyTool, args: Record<string, unknown>): BoundCall {
  try {
    return bindAsTheyCome(tool, args) ?? tool.bind(coerce(tool.input, args) as Record<string, unknown>)
  } catch (error) {
    if (error instanceof ZodError) throw invalidInput(tool, error)
    throw error
  }
}

function bindAsTheyCome(tool: AnyTool, args: Record<string, unknown>): BoundCall | undefined {
  try {
    return tool.bind(args)
  } catch (error) {
    if (error instanceof ZodError) return undefined
    throw error
  }
}

function checkScopes(tool: AnyTool, needed: readonly Scope[], granted: ReadonlySet<Scope>): void {
  const missing = needed.filter((scope) => !granted.has(scope))
  if (missing.length === 0) return
  throw new Failure('insufficient_scope', `${tool.name} needs the scope ${missing.join(' and ')}.`, {
    hint: 'Ask the reader to connect again and allow it.',
    details: { missing },
  })
}
