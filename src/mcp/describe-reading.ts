import { z } from 'zod'
import type { AnyPrompt } from '../core/define-prompt.ts'
import type { AnyResource } from '../core/define-resource.ts'
import type { PromptDefinition, ResourceDefinition, TemplateDefinition } from './protocol/app.ts'

/** What every resource of ours is written in. */
export const MIME_TYPE = 'application/json'

/** A resource as `resources/list` or, with `{id}`, `resources/templates/list` shows it. */
export function describeResource(resource: AnyResource): ResourceDefinition | TemplateDefinition {
  const { uri, name, title, description } = resource
  const facts = { name, title, description, mimeType: MIME_TYPE }
  return uri.includes('{') ? { uriTemplate: uri, ...facts } : { uri, ...facts }
}

/** A prompt as `prompts/list` shows it. */
export function describePrompt({ name, title, description, input }: AnyPrompt): PromptDefinition {
  const schema = z.toJSONSchema(input, { io: 'input' })
  const required = new Set(schema.required)
  return {
    name,
    title,
    description,
    arguments: Object.entries(schema.properties ?? {}).map(([argument, property]) => ({
      name: argument,
      ...(typeof property === 'object' && { description: property.description ?? '' }),
      required: required.has(argument),
    })),
  }
}
