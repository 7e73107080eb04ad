import { SCOPES, type Scope } from '../../src/core/define-tool.ts'
import type { Library } from '../../src/core/library.ts'
import type { Engine } from '../../src/mcp/engine.ts'
import { callTool } from '../../src/tools/call-tool.ts'
import { TOOLS } from '../../src/tools/registry.ts'

/** What runs tools and readings on one library; all scopes unless said. */
export function engineOn(library: Library, scopes: readonly Scope[] = SCOPES): Engine {
  const granted = new Set(scopes)
  return {
    tools: new Map(TOOLS.map((tool) => [tool.name, tool])),
    call: (tool, args, { client, signal, progress }) =>
      callTool(tool, library, args, { scopes: granted, connection: client, signal, progress }),
    enter: (_what, { signal, progress }, work) => work(library, { scopes: granted, signal, progress }),
  }
}
