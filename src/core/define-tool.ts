import { z } from 'zod'
import type { Library } from './library.ts'
import { text } from './text.ts'

/** The toolsets that a connection can choose among. */
export const FAMILIES = ['highlights', 'academy', 'library', 'books', 'extras'] as const
export type Family = (typeof FAMILIES)[number]

export const SCOPES = [
  'highlights:read',
  'highlights:write',
  'sources:read',
  'sources:write',
  'notes:read',
  'notes:write',
  'themes:read',
  'themes:write',
  'practices:read',
  'practices:write',
  'reflections:read',
  'reflections:write',
  'mcp',
  'library:private',
] as const
export type Scope = (typeof SCOPES)[number]

/** How a call stands to the world while it runs. */
export interface Call {
  /** What the caller may see and do. A local library grants all. */
  scopes: ReadonlySet<Scope>
  signal: AbortSignal
  /** Tells the caller how far the work is; does nothing where nobody listens. */
  progress(done: number, total?: number, message?: string): void
}

type Shape = z.ZodObject

export interface Tool<I extends Shape = Shape, O extends Shape = Shape> {
  name: string
  family: Family
  title: string
  /** For a model that has never seen us: what it does, when to use it and when another, what comes back. */
  description: string
  input: I
  output: O
  /** All are needed. */
  scopes: readonly Scope[]
  /** Scopes needed beside `scopes` for this input. */
  scopesFor?(input: z.output<I>): readonly Scope[]
  effect: 'read' | 'write' | 'sensitive'
  /** Whether a call reaches out of the machine. */
  reachesOut?: boolean
  /** One or two sentences for a person who reads the result. */
  summary(output: z.output<O>): string
  /** The field that is the thing itself (Markdown, CSV): it is the text block, verbatim and alone, where it is there. */
  verbatim?: keyof z.output<O> & string
  run(library: Library, input: z.output<I>, call: Call): Promise<z.output<O>>
  /** Where the tool is offered; everywhere by default. */
  places?: readonly ('local' | 'server')[]
  /** Most bytes of a request over HTTP; 64 KiB by default. */
  maxBody?: number
}

/** A tool of any shape, as the registry and the pipeline handle it. */
export interface AnyTool extends Omit<Tool, 'scopesFor' | 'summary' | 'run'> {
  /** Reads arguments strictly. Throws `ZodError`. */
  bind(args: Record<string, unknown>): BoundCall
  /** Checks an output against the strict shape and puts it into words. Throws `ZodError`. */
  describe(output: unknown): Answer
}

/** Arguments that were read and the tool that will run on them. */
export interface BoundCall {
  requestId: string | undefined
  scopes: readonly Scope[]
  run(library: Library, call: Call): Promise<Record<string, unknown>>
}

export interface Answer {
  output: Record<string, unknown>
  summary: string
}

/** What every write tool takes beside its own arguments. */
const writing = z.object({
  requestId: text({ max: 128 })
    .regex(/^[\x20-\x7e]+$/, { error: 'must be printable ASCII' })
    .describe('Your own id for this call: the same id within 24 hours gives the first result again')
    .optional(),
})

function withoutRequestId({ requestId: _id, ...own }: Record<string, unknown>): Record<string, unknown> {
  return own
}

/** Declares a tool once; everything that offers tools reads it from here. */
export function defineTool<I extends Shape, O extends Shape>(tool: Tool<I, O>): AnyTool {
  const { scopesFor, summary, run, ...facts } = tool
  const writes = tool.effect !== 'read'
  return {
    ...facts,
    input: writes ? tool.input.extend(writing.shape) : tool.input,
    bind(args) {
      const input = tool.input.parse(writes ? withoutRequestId(args) : args, { reportInput: true })
      return {
        requestId: writes ? writing.parse({ requestId: args['requestId'] }).requestId : undefined,
        scopes: scopesFor ? [...tool.scopes, ...scopesFor(input)] : tool.scopes,
        run: (library, call) => run(library, input, call),
      }
    },
    describe(output) {
      const checked = tool.output.parse(output)
      return { output: checked, summary: summary(checked) }
    },
  }
}
