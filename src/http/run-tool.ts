import type { OpenServer } from '../app/open-server.ts'
import type { AnyTool, Answer, Call, Scope } from '../core/define-tool.ts'
import type { Library } from '../core/library.ts'
import { toFailure } from '../core/to-failure.ts'
import type { Principal } from '../features/accounts/authenticate.ts'
import { callTool, type ToolCall } from '../tools/call-tool.ts'
import { toolsFor } from '../tools/registry.ts'
import { noteRequest } from './request-id.ts'
import type { Tally } from './tally.ts'

/** Who calls: an assistant or a program with a token, or the reader's own browser. */
export interface Caller {
  readerId: string
  scopes: ReadonlySet<Scope>
  /** How the audit log names the caller. */
  connection: string
  /** What its calls are counted under. */
  counted: string
  /** The name of the request that the call came with. */
  request?: string | undefined
}

export const callerOf = (principal: Principal, request?: string): Caller => ({
  readerId: principal.readerId,
  scopes: principal.scopes,
  connection: principal.connection,
  counted: 'grantId' in principal ? principal.grantId : principal.tokenId,
  request,
})

/** The tools of a server, by name. */
export const SERVER_TOOLS: ReadonlyMap<string, AnyTool> = new Map(
  toolsFor('server').map((tool) => [tool.name, tool]),
)

const DEFAULT_BODY = 64 * 1024

/** Most bytes of a request that calls the tool. */
export const bodyLimitOf = (tool: AnyTool | undefined): number => tool?.maxBody ?? DEFAULT_BODY

/** What running tools takes: the server's limits and libraries, and who counts the calls. */
export interface ToolRunning extends Pick<OpenServer, 'limiter' | 'libraries'> {
  tally?: Tally | undefined
}

/** Runs a tool on the caller's own library, within their limits and scopes. Throws `Failure`, and what `callTool` throws. */
export function runTool(
  running: ToolRunning,
  caller: Caller,
  tool: AnyTool,
  args: Record<string, unknown>,
  call: Omit<Call, 'scopes'>,
): Promise<Answer> {
  return withinLimits(running, caller, tool, call, (library, asked) => callTool(tool, library, args, asked))
}

/** Lets the caller read in their own library, within their limits and scopes; `what` is one of our names. */
export function enterLibrary<T>(
  running: ToolRunning,
  caller: Caller,
  what: string,
  call: Omit<Call, 'scopes'>,
  work: (library: Library, call: ToolCall) => Promise<T>,
): Promise<T> {
  return withinLimits(running, caller, { name: what, effect: 'read' }, call, work)
}

async function withinLimits<T>(
  { limiter, libraries, tally }: ToolRunning,
  { readerId, scopes, connection, counted, request }: Caller,
  tool: Pick<AnyTool, 'name' | 'effect'>,
  call: Omit<Call, 'scopes'>,
  work: (library: Library, call: ToolCall) => Promise<T>,
): Promise<T> {
  const begun = performance.now()
  try {
    const admitted = limiter.admit(tool, counted)
    if (admitted) await admitted
    const answer = await libraries.use(readerId, ({ library }) =>
      work(library, {
        scopes,
        connection,
        get signal() {
          return call.signal
        },
        progress: call.progress,
      }),
    )
    tally?.call(tool.name, 'ok', performance.now() - begun)
    return answer
  } catch (error) {
    tally?.call(tool.name, toFailure(error).code, performance.now() - begun)
    noteRequest(error, request)
    throw error
  }
}
