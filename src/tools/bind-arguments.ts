import { ZodError } from 'zod'
import { coerce } from './coerce.ts'
import { invalidInput, type Taking } from './invalid-input.ts'

interface Binding<B> extends Taking {
  /** Throws `ZodError`. */
  bind(args: Record<string, unknown>): B
}

/** Arguments as they were read. Most are right as they come; only others are worth a second look. Throws `invalid_input`. */
export function bindArguments<B>(taking: Binding<B>, args: Record<string, unknown>): B {
  try {
    return bindAsTheyCome(taking, args) ?? taking.bind(coerce(taking.input, args) as Record<string, unknown>)
  } catch (error) {
    if (error instanceof ZodError) throw invalidInput(taking, error)
    throw error
  }
}

function bindAsTheyCome<B>(taking: Binding<B>, args: Record<string, unknown>): B | undefined {
  try {
    return taking.bind(args)
  } catch (error) {
    if (error instanceof ZodError) return undefined
    throw error
  }
}
