import { SCOPES } from '../core/define-tool.ts'
import { readLocalConfig } from '../config/local.ts'
import { TOOLS } from '../tools/registry.ts'
import { callTool } from '../tools/call-tool.ts'
import type { OpenFile } from './open-file.ts'
import { openLocal, type LocalLibrary } from './open-local.ts'

/** Everything that running a tool on the reader's own library takes. */
export interface LocalEngine {
  local: LocalLibrary
  library: LocalLibrary['library']
  tools: ReadonlyMap<string, (typeof TOOLS)[number]>
  scopes: ReadonlySet<(typeof SCOPES)[number]>
  callTool: typeof callTool
}

/** Wires the tools to an opened library file. Its owner may do everything. */
export async function openLocalEngine(
  opened: OpenFile,
  env: NodeJS.ProcessEnv,
  onError: (error: unknown, where: string) => void,
): Promise<LocalEngine> {
  const config = readLocalConfig(env, { library: opened.folder })
  const local = await openLocal(config, { opened, readOnly: opened.readOnly, onError })
  return {
    local,
    library: local.library,
    tools: new Map(TOOLS.map((tool) => [tool.name, tool])),
    scopes: new Set(SCOPES),
    callTool,
  }
}
