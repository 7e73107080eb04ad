import type { PromptDefinition, ToolDefinition } from './app.ts'
import { invalidParams } from './errors.ts'

/** Definitions by their names, in their order; throws when two share one. */
export function indexByName<T extends { name: string }>(definitions: readonly T[]): Map<string, T> {
  const byName = new Map<string, T>()
  for (const definition of definitions) {
    if (byName.has(definition.name)) throw new Error(`Two are called ${definition.name}`)
    byName.set(definition.name, definition)
  }
  return byName
}

/**
 * Tools by their names. Refuses what this server could not keep to: `x-mcp-header` would oblige the transport to
 * compare further headers, which it does not do, and a root that is no object makes clients drop the whole list.
 */
export function indexTools(tools: readonly ToolDefinition[]): Map<string, ToolDefinition> {
  for (const { name, inputSchema } of tools) {
    if (inputSchema['type'] !== 'object')
      throw new Error(`${name}: the root of inputSchema must be an object`)
    if (JSON.stringify(inputSchema).includes('"x-mcp-header"')) {
      throw new Error(`${name}: x-mcp-header is not served`)
    }
  }
  return indexByName(tools)
}

/** Throws `-32602` when an argument that the prompt requires is not given. */
export function checkArguments(prompt: PromptDefinition, given: Record<string, string>): void {
  const missing = prompt.arguments?.find(({ name, required }) => required && !Object.hasOwn(given, name))
  if (missing) throw invalidParams(`The prompt ${prompt.name} needs the argument ${missing.name}`)
}
