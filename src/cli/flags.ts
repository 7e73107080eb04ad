import { Failure } from '../core/failure.ts'
import { closest } from './suggest.ts'

export interface Flag {
  /** Kebab-case, without the dashes. */
  name: string
  /** Other spellings that mean the same. */
  aliases?: readonly string[]
  /** One letter, for `-w`. */
  short?: string
  /** Name of the value in the help text; without it the flag is a switch. */
  value?: string
  /** May be given more than once. */
  many?: boolean
  /** Whether `--no-NAME` is taken: a switch is then off, a value none. */
  negatable?: boolean
  help: string
}

export const GLOBAL_FLAGS: readonly Flag[] = [
  { name: 'library', value: 'DIR', help: 'Use the library in this folder' },
  { name: 'json', help: 'Print JSON for programs' },
  { name: 'read-only', help: 'Never change the library' },
  { name: 'no-color', help: 'Print without colours (so does NO_COLOR)' },
  { name: 'help', short: 'h', help: 'Explain the command' },
  { name: 'version', short: 'V', help: 'Print the version' },
]

/** What stood on the command line after the command's name. */
export class Arguments {
  readonly positionals: string[] = []
  readonly #values = new Map<string, (string | boolean)[]>()

  add(name: string, value: string | boolean): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), value])
  }

  names(): string[] {
    return [...this.#values.keys()]
  }

  given(name: string): boolean {
    return this.#values.has(name)
  }

  /** Whether a switch is on. */
  on(name: string): boolean {
    return this.#values.get(name)?.at(-1) === true
  }

  /** The last value given; undefined where there is none or it was negated. */
  one(name: string): string | undefined {
    const value = this.#values.get(name)?.at(-1)
    return typeof value === 'string' ? value : undefined
  }

  all(name: string): string[] {
    return (this.#values.get(name) ?? []).filter((value) => typeof value === 'string')
  }

  /** A whole number, or `fallback`. Throws `invalid_input`. */
  number(name: string, fallback: number): number {
    const value = this.one(name)
    if (value === undefined) return fallback
    if (!/^\d{1,9}$/.test(value)) throw usage(`--${name} takes a whole number, not ${JSON.stringify(value)}.`)
    return Number(value)
  }
}

export const usage = (message: string, hint = 'Run the command with --help to see what it takes.'): Failure =>
  new Failure('invalid_input', message, { hint })

/**
 * Reads flags wherever they stand: `--name value`, `--name=value`, `-n value`, `-abc`, `--no-name`; after `--` nothing is a
 * flag. A lone `-` and anything of which `isPlain` says so are no flags either. Throws `invalid_input`.
 */
export function parseFlags(
  argv: readonly string[],
  flags: readonly Flag[],
  { isPlain = () => false }: { isPlain?: (token: string) => boolean } = {},
): Arguments {
  const args = new Arguments()
  const byName = new Map(
    flags.flatMap((flag) => [flag.name, ...(flag.aliases ?? [])].map((name) => [name, flag])),
  )
  const byLetter = new Map(flags.flatMap((flag) => (flag.short ? [[flag.short, flag] as const] : [])))

  const take = (flag: Flag, shown: string, value: string | boolean): void => {
    if (!flag.many && flag.value && args.given(flag.name)) throw usage(`${shown} was given twice.`)
    args.add(flag.name, value)
  }

  for (let i = 0; i < argv.length; i++) {
    const token = argv[i]!
    const following = (shown: string, flag: Flag): string => {
      const value = argv[++i]
      // A value may begin with a dash (a negative number, a Markdown list), but what is a flag is no value.
      if (
        value === undefined ||
        (byName.has(value.replace(/^--/, '').replace(/=.*/s, '')) && value.startsWith('--'))
      )
        throw usage(`${shown} needs a value: ${shown} ${flag.value}.`)
      return value
    }
    if (token === '--') {
      args.positionals.push(...argv.slice(i + 1))
      break
    }
    if (!token.startsWith('-') || token === '-' || isPlain(token)) {
      args.positionals.push(token)
      continue
    }
    if (token.startsWith('--')) {
      const equals = token.indexOf('=')
      const shown = equals < 0 ? token : token.slice(0, equals)
      const name = shown.slice(2)
      const inline = equals < 0 ? undefined : token.slice(equals + 1)
      const flag = byName.get(name)
      const negated = flag ? undefined : negation(name, byName)
      if (negated && inline === undefined) take(negated, shown, false)
      else if (!flag) throw unknownFlag(shown, [...byName.keys()])
      else if (flag.value) take(flag, shown, inline ?? following(shown, flag))
      else take(flag, shown, inline === undefined || switchValue(shown, inline))
      continue
    }
    for (let at = 1; at < token.length; at++) {
      const shown = `-${token[at]}`
      const flag = byLetter.get(token[at]!)
      if (!flag) throw unknownFlag(shown, [])
      if (!flag.value) {
        take(flag, shown, true)
        continue
      }
      const rest = token.slice(at + 1)
      take(flag, shown, rest || following(shown, flag))
      break
    }
  }
  return args
}

function negation(name: string, byName: ReadonlyMap<string, Flag>): Flag | undefined {
  const flag = name.startsWith('no-') ? byName.get(name.slice(3)) : undefined
  return flag?.negatable ? flag : undefined
}

function switchValue(shown: string, value: string): boolean {
  if (value === 'true') return true
  if (value === 'false') return false
  throw usage(`${shown} is a switch and takes true or false only, not ${JSON.stringify(value)}.`)
}

function unknownFlag(shown: string, known: readonly string[]): Failure {
  const meant = closest(shown.replace(/^--?/, ''), known)
  return usage(`There is no flag ${shown}.`, meant === undefined ? undefined : `Did you mean --${meant}?`)
}
