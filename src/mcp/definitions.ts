import { PROMPTS } from '../tools/prompts.ts'
import { TOOLS } from '../tools/registry.ts'
import { RESOURCES } from '../tools/resources.ts'
import { describePrompt, describeResource } from './describe-reading.ts'
import { describeTool } from './describe-tool.ts'
import type {
  PromptDefinition,
  ResourceDefinition,
  TemplateDefinition,
  ToolDefinition,
} from './protocol/app.ts'

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

/** The same of a resource. */
export interface Readable {
  family: string
  definition: ResourceDefinition | TemplateDefinition
}

export const READABLE: readonly Readable[] = RESOURCES.map((resource) => ({
  family: resource.family,
  definition: describeResource(resource),
}))

/** The same of a prompt, which is offered where all of its tools are. */
export interface Promptable {
  tools: readonly string[]
  definition: PromptDefinition
}

export const PROMPTABLE: readonly Promptable[] = PROMPTS.map((prompt) => ({
  tools: prompt.tools,
  definition: describePrompt(prompt),
}))
