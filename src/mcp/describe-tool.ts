import { z } from 'zod'
import type { AnyTool } from '../core/define-tool.ts'
import type { ToolDefinition } from './protocol/app.ts'

/** A tool as `tools/list` shows it. */
export function describeTool(tool: AnyTool): ToolDefinition {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: plainSchema(tool.input),
    outputSchema: openSchema(plainSchema(tool.output)),
    annotations: {
      readOnlyHint: tool.effect === 'read',
      ...(tool.effect !== 'read' && { destructiveHint: tool.effect === 'sensitive' }),
      openWorldHint: tool.reachesOut === true,
    },
  }
}

/** JSON Schema 2020-12 of a plain object: some clients drop all tools over one root union or reference. */
function plainSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io: 'input', reused: 'inline' })
  return json
}

/**
 * What is advertised of an output: older clients check it on failures too, so nothing is required at the root and the
 * failure's fields stand beside the success's.
 */
function openSchema({ required: _required, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...schema,
    properties: {
      ...(schema['properties'] as Record<string, unknown>),
      code: { type: 'string' },
      hint: { type: 'string' },
      error: { type: 'object' },
    },
  }
}
