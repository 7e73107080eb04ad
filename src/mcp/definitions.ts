import { TOOLS } from '../tools/registry.ts'
import { describeTool } from './describe-tool.ts'
import type { ToolDefinition } from './protocol/app.ts'

/** What a server needs to know of a tool before it is called. The build runs this once and ships the result as data. */
export interface Definition {
  family: string
  places: readonly string[] | undefined
  effect: string
  definition: ToolDefinition
}

export const DEFINITIONS: readonly Definition[] = TOOLS.map((tool) => ({
  family: tool.family,
  places: tool.places,
  effect: tool.effect,
  definition: describeTool(tool),
}))
