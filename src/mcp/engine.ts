import type { AnyTool, Answer, Call } from '../core/define-tool.ts'
import type { Failure } from '../core/failure.ts'
import type { Library } from '../core/library.ts'
import type { Context } from './protocol/context.ts'

/** What running a tool or reading a resource takes; loaded at the first call. */
export interface Engine {
  tools: ReadonlyMap<string, AnyTool>
  /** Runs a tool for the caller. Throws `Failure`; what else is thrown is a fault of ours. */
  call(tool: AnyTool, args: Record<string, unknown>, call: EngineCall): Promise<Answer>
  /** Lets the caller into their library for something that only reads; `what` is the name that it is counted under. */
  enter<T>(what: string, call: EngineCall, work: (library: Library, call: Call) => Promise<T>): Promise<T>
  /** What a client needs to come again with more rights, as a `WWW-Authenticate` header says it. */
  challenge?(failure: Failure): string | undefined
}

export interface EngineCall extends Omit<Call, 'scopes'> {
  /** Who calls, as the transport's own check found; its library and its scopes follow from that. */
  principal: unknown
  /** The name that the client gives itself. */
  client: string
}

/** A request as what it asks for sees it. */
export const callOf = (context: Context): EngineCall => ({
  principal: context.caller.principal,
  client: clientOf(context),
  // Made when a tool looks at it: most never do.
  get signal() {
    return context.signal
  },
  progress: (done, total, message) => context.progress(done, total, message),
})

function clientOf({ caller }: Context): string {
  const name = caller.client?.['name']
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : 'mcp'
}
