import type { z } from 'zod'
import type { Call } from './define-tool.ts'
import type { Library } from './library.ts'

type Shape = z.ZodObject

/** What a prompt says, and what it adds of the library. */
export interface Composed {
  /** Our own words. */
  text: string
  parts: PromptPart[]
}

export type PromptPart =
  | { text: string }
  /** The address of a resource, as far as the caller may read it; where it may not, `otherwise` is said. */
  | { resource: string; otherwise: string }
  /** Something of the library that has no address. */
  | { data: unknown }

/** A way to begin that a reader picks by its name. */
export interface Prompt<I extends Shape = Shape> {
  name: string
  title: string
  /** For the reader who picks it. */
  description: string
  /** Its arguments, which come as strings: text, and whole numbers written in digits. */
  input: I
  /** The tools that its words tell of: it is offered where all of them are. */
  tools: readonly string[]
  /** Tools that its words tell of for where they are there; it is offered without them, too. */
  optionalTools?: readonly string[]
  compose(library: Library, input: z.output<I>, call: Call): Promise<Composed>
  /** Values for an argument that fit what was typed so far, best first. */
  suggest?: Partial<
    Record<keyof z.output<I> & string, (library: Library, typed: string, call: Call) => Promise<string[]>>
  >
}

/** A prompt of any shape, as the registry and the pipeline handle it. */
export interface AnyPrompt extends Omit<Prompt, 'compose' | 'suggest'> {
  /** Reads arguments strictly. Throws `ZodError`. */
  bind(args: Record<string, unknown>): (library: Library, call: Call) => Promise<Composed>
  suggest?: Partial<Record<string, (library: Library, typed: string, call: Call) => Promise<string[]>>>
}

/** Declares a prompt once; everything that offers prompts reads it from here. */
export function definePrompt<I extends Shape>(prompt: Prompt<I>): AnyPrompt {
  const { compose, suggest, ...facts } = prompt
  return {
    ...facts,
    ...(suggest && { suggest }),
    bind(args) {
      const input = prompt.input.parse(args, { reportInput: true })
      return (library, call) => compose(library, input, call)
    },
  }
}
