import type { LocalConfig } from '../config/local.ts'
import type { Arguments, Flag } from './flags.ts'
import type { Printer } from './print.ts'

/** What a command is given to run with. */
export interface Context {
  args: Arguments
  /** Standard output. */
  out: Printer
  /** Standard error: progress, warnings, failures. */
  err: Printer
  json: boolean
  readOnly: boolean
  /** Aborts when the reader interrupts. */
  signal: AbortSignal
  env: NodeJS.ProcessEnv
  /** The configuration, read when first asked for. Throws `invalid_input`. */
  config(): LocalConfig
}

/** A command for people. Each has a module of its own that is loaded only when it runs. */
export interface Command {
  name: string
  /** What may stand after the name, a line each. */
  usage: readonly string[]
  /** What it does, in a few sentences. */
  about: string
  flags: readonly Flag[]
  examples?: readonly string[]
  /** What its first words may be, each with what it does, for a command that holds several. */
  parts?: readonly (readonly [words: string, about: string])[]
  /** Fewest and most words beside the flags. */
  words?: { least?: number; most?: number }
  /** What begins with a dash and is no flag all the same. */
  isPlain?(token: string): boolean
  /** How long it may take to end once it is interrupted; five seconds unless said. */
  endsWithinMs?: number
  /** Resolves to the exit code. Throws `Failure`. */
  run(context: Context): Promise<number>
}

export const defineCommand = (command: Command): Command => command
