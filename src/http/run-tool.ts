import type { OpenServer } from '../app/open-server.ts'
import type { AnyTool, Answer, Call, Scope } from '../core/define-tool.ts'
import type { Principal } from '../features/accounts/authenticate.ts'
import { callTool } from '../tools/call-tool.ts'
import { toolsFor } from '../tools/registry.ts'

/** Who calls: an assistant or a program with a token, or the reader's own browser. */
export interface Caller {
  readerId: string
  scopes: ReadonlySet<Scope>
  /** How the audit log names the caller. */
  connection: string
  /** What its calls are counted under. */
  counted: string
}

export const callerOf = (principal: Principal): Caller => ({
  readerId: principal.readerId,
  scopes: principal.scopes,
  connection: principal.connection,
  counted: 'grantId' in principal ? principal.grantId : principal.tokenId,
})

/** The tools of a server, by name. */
export const SERVER_TOOLS: ReadonlyMap<string, AnyTool> = new Map(
  toolsFor('server').map((tool) => [tool.name, tool]),
)

const DEFAULT_BODY = 64 * 1024

/** Most bytes of a request that calls the tool. */
export const bodyLimitOf = (tool: AnyTool | undefined): number => tool?.maxBody ?? DEFAULT_BODY

/** Runs a tool on the caller's own library, within their limits and scopes. Throws `Failure`, and what `callTool` throws. */
export function runTool(
  { limiter, libraries }: Pick<OpenServer, 'limiter' | 'libraries'>,
  { readerId, scopes, connection, counted }: Caller,
  tool: AnyTool,
  args: Record<string, unknown>,
  call: Omit<Call, 'scopes'>,
): Promise<Answer> {
  const admitted = limiter.admit(tool, counted)
  return admitted ? admitted.then(run) : run()

  function run(): Promise<Answer> {
    return libraries.use(readerId, ({ library }) =>
      callTool(tool, library, args, {
        scopes,
        connection,
        get signal() {
          return call.signal
        },
        progress: call.progress,
      }),
    )
  }
}
