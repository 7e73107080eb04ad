import type { AnyTool, Family } from '../../src/core/define-tool.ts'
import { describeTool } from '../../src/mcp/describe-tool.ts'

const FAMILIES: Record<Family, string> = {
  highlights: 'Highlights and sources',
  academy: 'The Academy',
  library: 'Saved texts',
  books: 'Books',
  extras: 'Beyond these',
}

const EFFECTS: Record<AnyTool['effect'], string> = {
  read: 'Reads.',
  write: 'Writes.',
  sensitive: 'Writes, and may take something away.',
}

const HEAD = `# Tools

What an assistant can do with a library, by the families that \`commonplace mcp --tools FAMILIES\` chooses among. Every tool is a
command too: \`search_highlights\` is \`commonplace search-highlights\`, and \`commonplace help search-highlights\` explains it. Over
HTTP it is \`POST /api/tools/search_highlights\` ([http-api.md](http-api.md)).

Numbers sent as strings of digits are read where a number is wanted. Unknown arguments are refused. Tools that write take
\`requestId\` as well: the same id within 24 hours gives the first result again. Lists that go on give \`meta.next_cursor\` (also as
\`nextCursor\`), to be passed as \`cursor\`; null is the end.

This page is made from the tools' own definitions: \`GOLDEN_WRITE=1 npx vitest run --project sqlite test/contract\`.
`

/** The page of all tools, as docs/tools.md is to be. */
export function toolsPage(tools: readonly AnyTool[]): string {
  const families = [...new Set(tools.map(({ family }) => family))]
  const parts = families.map((family) => {
    const own = tools.filter((tool) => tool.family === family)
    return `## ${FAMILIES[family]} (\`${family}\`)\n\n${own.map(section).join('\n')}`
  })
  return `${HEAD}\n${parts.join('\n')}`
}

function section(tool: AnyTool): string {
  const { inputSchema, outputSchema } = describeTool(tool)
  const required = (inputSchema['required'] ?? []) as string[]
  const properties = Object.entries(inputSchema['properties'] as Record<string, Schema>)
  const rows = properties
    .filter(([name]) => name !== 'requestId')
    .map(([name, schema]) => {
      const must = required.includes(name) ? ' (required)' : ''
      return `| \`${name}\`${must} | ${typeOf(schema)} | ${cell(schema.description ?? '')} |`
    })
  const table = rows.length > 0 ? ['| argument | | |', '|---|---|---|', ...rows, ''] : ['No arguments.', '']
  const given = Object.keys((outputSchema?.['properties'] ?? {}) as object)
    .filter((name) => !['code', 'hint', 'error'].includes(name))
    .map((name) => `\`${name}\``)
  const scopes = tool.scopes.map((scope) => `\`${scope}\``).join(' and ') || 'none'
  const places = tool.places ? ` Offered ${tool.places.join(' and ')} only.` : ''
  return [
    `### ${tool.name}`,
    '',
    tool.description,
    '',
    `${EFFECTS[tool.effect]} Scopes: ${scopes}.${places}`,
    '',
    ...table,
    `Gives ${given.join(', ')}.`,
    '',
  ].join('\n')
}

interface Schema {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  items?: Schema
  anyOf?: readonly Schema[]
  properties?: Record<string, Schema>
  minimum?: number
  maximum?: number
  description?: string
}

function typeOf(schema: Schema): string {
  const { type, enum: choices, items, anyOf, properties, minimum, maximum } = schema
  if (anyOf) return anyOf.map(typeOf).join(' or ')
  if ('const' in schema) return `\`${String(schema.const)}\``
  if (choices) return choices.map((choice) => `\`${String(choice)}\``).join(', ')
  if (items) return `list of ${typeOf(items)}`
  if (properties)
    return `object: ${Object.keys(properties)
      .map((name) => `\`${name}\``)
      .join(', ')}`
  const range = maximum !== undefined && maximum < 1e9 ? ` ${minimum ?? 0} to ${maximum}` : ''
  return `${type ?? 'any'}${range}`
}

const cell = (text: string): string => text.replaceAll('|', '\\|')
