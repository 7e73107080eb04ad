import type { AnyTool, Answer, BoundCall, Call } from '../core/define-tool.ts'
import type { CallMark, Library } from '../core/library.ts'
import { bindArguments } from './bind-arguments.ts'
import { checkScopes } from './check-scopes.ts'
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
  const bound = bindArguments(tool, args)
  checkScopes(tool.name, bound.scopes, call.scopes)
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
