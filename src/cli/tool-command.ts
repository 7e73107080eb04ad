import { confirming } from '../core/confirming.ts'
import { SCOPES, type AnyTool } from '../core/define-tool.ts'
import { describeTool } from '../mcp/describe-tool.ts'
import { callTool } from '../tools/call-tool.ts'
import { toolsFor } from '../tools/registry.ts'
import type { Library } from '../core/library.ts'
import { findCommand } from './commands.ts'
import { defineCommand, type Command, type Context } from './command.ts'
import { EXIT } from './exit-code.ts'
import { usage, type Arguments, type Flag } from './flags.ts'
import { withLibrary } from './open-library.ts'
import { printData } from './print-data.ts'
import { printable } from './print.ts'
import { startProgress } from './progress.ts'

/** One input of a tool as a flag. */
interface Field {
  name: string
  type: 'string' | 'number' | 'boolean' | 'json'
  many: boolean
  nullable: boolean
  required: boolean
  choices: readonly string[]
  help: string
}

const kebab = (name: string): string =>
  name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const localTools = (): AnyTool[] => toolsFor('local')

/** A command for people goes before a tool of its name. */
export const toolCommandNames = (): string[] =>
  localTools()
    .map(({ name }) => kebab(name))
    .filter((name) => !findCommand(name))

/** The command that a tool's declaration makes: `search_library` is `commonplace search-library`. */
export function commandOfTool(name: string): Command | undefined {
  const tool = localTools().find((known) => kebab(known.name) === name || known.name === name)
  if (!tool) return undefined
  const fields = fieldsOf(tool)
  const first = fields.find(
    ({ name, required, type }) => required && type !== 'json' && !(name in confirming),
  )
  return defineCommand({
    name: kebab(tool.name),
    usage: [usageOf(fields, first)],
    about: tool.description,
    flags: fields.map(flagOf),
    words: { most: first ? (first.many ? Infinity : 1) : 0 },
    async run(context) {
      const input = readInput(fields, first, context.args)
      return await withLibrary(
        context,
        async ({ library, work }) => {
          // What a tool waits for (a capture) is done in this very process.
          if (tool.effect !== 'read' && tool.reachesOut) work()
          await runTool(context, library, tool, input)
          return EXIT.ok
        },
        { create: tool.effect !== 'read' },
      )
    },
  })
}

/** Calls a tool for the reader at this machine, who may do everything. Throws `Failure`. */
export async function callAsReader(
  context: Pick<Context, 'signal' | 'err'>,
  library: Library,
  tool: AnyTool,
  input: Record<string, unknown>,
): Promise<Awaited<ReturnType<typeof callTool>>> {
  let progress: ReturnType<typeof startProgress> | undefined
  try {
    return await callTool(tool, library, input, {
      scopes: new Set(SCOPES),
      connection: 'cli',
      signal: context.signal,
      progress(done, total, message) {
        const text = message ?? (total === undefined ? String(done) : `${done} of ${total}`)
        if (progress) progress.say(text)
        else progress = startProgress(context.err, text)
      },
    })
  } finally {
    progress?.stop()
  }
}

async function runTool(
  context: Context,
  library: Library,
  tool: AnyTool,
  input: Record<string, unknown>,
): Promise<void> {
  const { output, summary } = await callAsReader(context, library, tool, input)
  const { out, json } = context
  const thing = tool.verbatim === undefined ? undefined : output[tool.verbatim]
  if (json) out.json(output)
  else if (typeof thing === 'string')
    out.write(thing.endsWith('\n') ? printable(thing) : `${printable(thing)}\n`)
  else {
    out.paragraph(printable(summary))
    printData(out, output)
  }
}

function fieldsOf(tool: AnyTool): Field[] {
  const schema = describeTool(tool).inputSchema
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  return Object.entries(recordOf(schema['properties'])).map(([name, given]) => {
    const { schema: field, nullable } = withoutNull(recordOf(given))
    const many = field['type'] === 'array'
    const element = many ? recordOf(field['items']) : field
    return {
      name,
      type: typeOf(element),
      many,
      nullable,
      required: required.includes(name),
      choices: Array.isArray(element['enum']) ? element['enum'].map(String) : [],
      help: describe(recordOf(given), element),
    }
  })
}

function withoutNull(schema: Record<string, unknown>): {
  schema: Record<string, unknown>
  nullable: boolean
} {
  const options = schema['anyOf']
  if (!Array.isArray(options)) return { schema, nullable: false }
  const real = options.map(recordOf).filter(({ type }) => type !== 'null')
  return { schema: real.length === 1 ? real[0]! : {}, nullable: real.length < options.length }
}

function typeOf({ type }: Record<string, unknown>): Field['type'] {
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean' || type === 'string') return type
  return 'json'
}

function describe(schema: Record<string, unknown>, element: Record<string, unknown>): string {
  const parts = [typeof schema['description'] === 'string' ? schema['description'] : '']
  if (Array.isArray(element['enum'])) parts.push(`(${element['enum'].join(', ')})`)
  else if (
    typeof element['minimum'] === 'number' &&
    typeof element['maximum'] === 'number' &&
    element['maximum'] < 1e9
  )
    parts.push(`(${element['minimum']} to ${element['maximum']})`)
  if (typeOf(element) === 'json') parts.push('(as JSON)')
  return parts.filter(Boolean).join(' ')
}

function flagOf({ name, type, many, nullable, choices, help }: Field): Flag {
  const flag = kebab(name)
  return {
    name: flag,
    ...(flag !== name && { aliases: [name] }),
    ...(type !== 'boolean' && {
      value:
        choices.length > 0 ? choices.join('|') : type === 'number' ? 'N' : type === 'json' ? 'JSON' : 'TEXT',
    }),
    many,
    negatable: type === 'boolean' || nullable,
    help: nullable ? `${help} (--no-${flag} clears it)` : help,
  }
}

function usageOf(fields: readonly Field[], first: Field | undefined): string {
  const parts = fields.map((field) => {
    const { name, value } = flagOf(field)
    const flag = field === first ? kebab(name).toUpperCase() : value ? `--${name} ${value}` : `--${name}`
    return field.required ? flag : `[${flag}]`
  })
  return parts.length > 6
    ? `${parts.filter((part) => !part.startsWith('[')).join(' ')} [FLAGS]`.trim()
    : parts.join(' ')
}

function readInput(
  fields: readonly Field[],
  first: Field | undefined,
  args: Arguments,
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const field of fields) {
    const flag = kebab(field.name)
    if (!args.given(flag)) continue
    if (field.type === 'boolean' && !field.many) input[field.name] = args.on(flag)
    else if (args.one(flag) === undefined) input[field.name] = null
    else if (field.many) input[field.name] = args.all(flag).flatMap((text) => elementsOf(field, text))
    else input[field.name] = valueOf(field, args.one(flag)!)
  }
  if (first && args.positionals.length > 0) {
    if (first.name in input) throw usage(`${kebab(first.name)} was given twice, with and without its flag.`)
    const values = args.positionals.flatMap((text) =>
      first.many ? elementsOf(first, text) : [valueOf(first, text)],
    )
    input[first.name] = first.many ? values : values[0]
  }
  return input
}

/** A list can also be given whole, as JSON. */
function elementsOf(field: Field, text: string): unknown[] {
  if (text.startsWith('[')) {
    const list = parseJson(field, text)
    if (Array.isArray(list)) return list
  }
  return [valueOf(field, text)]
}

/** Numerals go on as they were typed: the tool's own reading of them says what is wrong with one. */
const valueOf = (field: Field, text: string): unknown =>
  field.type === 'json' ? parseJson(field, text) : text

function parseJson(field: Field, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usage(`--${kebab(field.name)} takes JSON, and this is none: ${text.slice(0, 60)}`)
  }
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
