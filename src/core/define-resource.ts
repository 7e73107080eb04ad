import type { z } from 'zod'
import type { Call, Family, Scope } from './define-tool.ts'
import type { Library } from './library.ts'

type Shape = z.ZodObject

/** Something of the library that an assistant reads by its address. */
export interface Resource<I extends Shape = Shape, O extends Shape = Shape> {
  /** `becoming://notes`, or with `{id}` for each of many. */
  uri: string
  family: Family
  /** As a client lists it: a few words in lower case, joined by hyphens. */
  name: string
  title: string
  /** For a model that has never seen us: what it holds and how one goes on. */
  description: string
  /** What may stand in the address: `id`, and behind a question mark the rest. */
  input: I
  output: O
  /** All are needed. */
  scopes: readonly Scope[]
  read(library: Library, input: z.output<I>, call: Call): Promise<z.output<O>>
  /** At most so many ids that begin with these digits, the latest first; for an address with `{id}`. */
  idsBeginning?(library: Library, digits: string, most: number, call: Call): Promise<number[]>
}

/** A resource of any shape, as the registry and the pipeline handle it. */
export interface AnyResource extends Omit<Resource, 'read'> {
  /** Reads what stands in an address strictly. Throws `ZodError`. */
  bind(args: Record<string, unknown>): (library: Library, call: Call) => Promise<Record<string, unknown>>
}

/** Declares a resource once; everything that offers resources reads it from here. */
export function defineResource<I extends Shape, O extends Shape>(resource: Resource<I, O>): AnyResource {
  const { read, ...facts } = resource
  return {
    ...facts,
    bind(args) {
      const input = resource.input.parse(args, { reportInput: true })
      return (library, call) => read(library, input, call)
    },
  }
}
