/** What the SDKs hold of results and notifications: version 1 for the older revisions, version 2 for 2026-07-28. */
import * as old from '@modelcontextprotocol/sdk/types.js'
import { specTypeSchemas } from '@modelcontextprotocol/server'
import { isObject } from '../../src/mcp/protocol/messages.ts'

interface Standard {
  '~standard': { validate(value: unknown): unknown }
}

const RESULTS: Record<string, { old?: Standard; now?: Standard }> = {
  initialize: { old: old.InitializeResultSchema },
  'server/discover': { now: specTypeSchemas.DiscoverResult },
  'tools/list': { old: old.ListToolsResultSchema, now: specTypeSchemas.ListToolsResult },
  'tools/call': { old: old.CallToolResultSchema, now: specTypeSchemas.CallToolResult },
  'resources/list': { old: old.ListResourcesResultSchema, now: specTypeSchemas.ListResourcesResult },
  'resources/templates/list': {
    old: old.ListResourceTemplatesResultSchema,
    now: specTypeSchemas.ListResourceTemplatesResult,
  },
  'resources/read': { old: old.ReadResourceResultSchema, now: specTypeSchemas.ReadResourceResult },
  'prompts/list': { old: old.ListPromptsResultSchema, now: specTypeSchemas.ListPromptsResult },
  'prompts/get': { old: old.GetPromptResultSchema, now: specTypeSchemas.GetPromptResult },
  'completion/complete': { old: old.CompleteResultSchema, now: specTypeSchemas.CompleteResult },
}

const NOTIFICATIONS: Record<string, { old: Standard; now: Standard }> = {
  'notifications/progress': {
    old: old.ProgressNotificationSchema,
    now: specTypeSchemas.ProgressNotification,
  },
  'notifications/message': {
    old: old.LoggingMessageNotificationSchema,
    now: specTypeSchemas.LoggingMessageNotification,
  },
}

const CACHED = new Set([
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
])

/** What is wrong with the result of a method, in the words of the SDK; empty when nothing is. */
export function problemsOfResult(method: string, modern: boolean, result: unknown): unknown[] {
  const schema = RESULTS[method]?.[modern ? 'now' : 'old']
  if (!schema) return [`${method} has no schema`]
  const problems = issuesOf(schema, result)
  if (!modern || !isObject(result)) return problems
  // These two the schemas leave open, and the specification does not.
  if (result['resultType'] !== 'complete') problems.push('resultType is missing')
  if (CACHED.has(method) && typeof result['ttlMs'] !== 'number') problems.push('ttlMs is missing')
  return problems
}

/** The same of a notification. */
export function problemsOfNotification(modern: boolean, message: unknown): unknown[] {
  const method = isObject(message) ? String(message['method']) : 'nothing'
  const schema = NOTIFICATIONS[method]?.[modern ? 'now' : 'old']
  return schema ? issuesOf(schema, message) : [`${method} has no schema`]
}

function issuesOf(schema: Standard, value: unknown): unknown[] {
  const read = schema['~standard'].validate(value)
  return isObject(read) && Array.isArray(read['issues']) ? read['issues'] : []
}
