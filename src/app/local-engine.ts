import { SCOPES, type AnyTool, type Answer, type Call } from '../core/define-tool.ts'
import { readLocalConfig } from '../config/local.ts'
import type { Library } from '../core/library.ts'
import { TOOLS } from '../tools/registry.ts'
import { callTool } from '../tools/call-tool.ts'
import type { OpenFile } from './open-file.ts'
import { openLocal, type LocalLibrary } from './open-local.ts'

/** Everything that running a tool on the reader's own library takes. */
export interface LocalEngine {
  local: LocalLibrary
  tools: ReadonlyMap<string, AnyTool>
  call(tool: AnyTool, args: Record<string, unknown>, call: LocalCall): Promise<Answer>
  /** Hands the library to something that only reads. */
  enter<T>(what: string, call: LocalCall, work: (library: Library, call: Call) => Promise<T>): Promise<T>
}

export interface LocalCall extends Omit<Call, 'scopes'> {
  /** The name that the client gives itself. */
  client: string
}

/** Wires the tools to an opened library file. Its owner may do everything. */
export async function openLocalEngine(
  opened: OpenFile,
  env: NodeJS.ProcessEnv,
  onError: (error: unknown, where: string) => void,
): Promise<LocalEngine> {
  const config = readLocalConfig(env, { library: opened.folder })
  const local = await openLocal(config, { opened, readOnly: opened.readOnly, onError })
  const scopes = new Set(SCOPES)
  return {
    local,
    tools: new Map(TOOLS.map((tool) => [tool.name, tool])),
    call: (tool, args, call) =>
      callTool(tool, local.library, args, {
        scopes,
        connection: call.client,
        get signal() {
          return call.signal
        },
        progress: call.progress,
      }),
    enter: (_what, call, work) =>
      work(local.library, {
        scopes,
        get signal() {
          return call.signal
        },
        progress: call.progress,
      }),
  }
}
