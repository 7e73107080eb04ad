import { Failure } from '../core/failure.ts'
import { toFailure } from '../core/to-failure.ts'
import type { LocalConfig } from '../config/local.ts'
import { commandNames, findCommand, SERVE } from './commands.ts'
import type { Command, Context } from './command.ts'
import { exitCodeOf, EXIT } from './exit-code.ts'
import { Arguments, GLOBAL_FLAGS, parseFlags, usage } from './flags.ts'
import { Printer } from './print.ts'
import { printFailure } from './print-failure.ts'

/** Runs one command for a person and ends the process with its exit code. */
export async function runCommand(name: string | undefined, rest: readonly string[]): Promise<void> {
  // The reader of a pipe may go away (`| head`): that is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? 0 : EXIT.failed),
  )
  process.stderr.on('error', () => {})
  const interrupt = listenForInterrupts()
  const env = process.env
  const json = rest.includes('--json')
  const color = !env['NO_COLOR'] && !rest.includes('--no-color') && env['TERM'] !== 'dumb'
  const printerOn = (stream: NodeJS.WriteStream) =>
    new Printer(stream, {
      tty: stream.isTTY === true,
      columns: stream.columns,
      color: color && stream.isTTY === true,
    })
  const out = printerOn(process.stdout)
  const err = printerOn(process.stderr)
  let debug = Boolean(env['COMMONPLACE_DEBUG'])

  async function run(): Promise<number> {
    if (name === undefined || name === 'help') return await printOverview(rest)
    const command = await commandOf(name)
    interrupt.allow(command.endsWithinMs ?? INTERRUPT_MS)
    const args = parseFlags(rest, [...command.flags, ...GLOBAL_FLAGS], {
      ...(command.isPlain && { isPlain: command.isPlain }),
    })
    if (args.on('help')) return await printHelp(command)
    if (args.on('version')) return await printVersion()
    checkWords(command, args)
    const { readLocalConfig } = await import('../config/local.ts')
    let config: LocalConfig | undefined
    return await command.run({
      args,
      out,
      err,
      json,
      env,
      readOnly: args.on('read-only'),
      signal: interrupt.signal,
      config: () => (config ??= readLocalConfig(env, { library: args.one('library') })),
    } satisfies Context)
  }

  async function printOverview(tokens: readonly string[]): Promise<number> {
    const args = parseFlags(tokens, GLOBAL_FLAGS)
    if (args.on('version')) return await printVersion()
    const [topic] = args.positionals
    if (topic !== undefined) return await printHelp(await commandOf(topic))
    const { overview } = await import('./help.ts')
    // Without a command there was nothing to do: the help then answers a mistake.
    const asked = name === 'help' || args.on('help')
    await overview(asked ? out : err)
    return asked ? EXIT.ok : EXIT.invalid
  }

  async function printHelp(command: Command): Promise<number> {
    const { commandHelp } = await import('./help.ts')
    commandHelp(out, command)
    return EXIT.ok
  }

  async function printVersion(): Promise<number> {
    const { VERSION } = await import('../core/version.ts')
    if (json) out.json({ version: VERSION, node: process.version })
    else out.line(VERSION)
    return EXIT.ok
  }

  let code: number
  try {
    code = await run()
  } catch (error) {
    const failure = toFailure(error)
    const interrupted =
      interrupt.signal.aborted && (failure.code === 'cancelled' || failure.code === 'internal_error')
    if (interrupted) err.line('Interrupted.')
    else printFailure(err, failure, { json, debug })
    code = interrupted ? interrupt.code() : exitCodeOf(failure)
  }
  // Whatever a library of ours left open must not keep the shell waiting; what was printed goes out first.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

async function commandOf(name: string): Promise<Command> {
  const listed = findCommand(name)
  if (listed) return await listed.load()
  if (name === SERVE.name) return (await import('./help.ts')).SERVE_HELP
  const { commandOfTool, toolCommandNames } = await import('./tool-command.ts')
  const ofTool = commandOfTool(name)
  if (ofTool) return ofTool
  const { closest } = await import('./suggest.ts')
  const meant = closest(name, [...commandNames(), ...toolCommandNames()])
  throw usage(
    `There is no command ${JSON.stringify(name)}.`,
    meant === undefined ? 'Run `commonplace help` for the list.' : `Did you mean \`commonplace ${meant}\`?`,
  )
}

function checkWords({ name, words = {} }: Command, { positionals }: Arguments): void {
  const { least = 0, most = Infinity } = words
  if (positionals.length < least)
    throw usage(`commonplace ${name} needs ${least === 1 ? 'an argument' : `${least} arguments`}.`)
  if (positionals.length > most)
    throw usage(`commonplace ${name} does not take ${JSON.stringify(positionals[most])}.`)
}

/** How long a command may take to end once it is interrupted. */
const INTERRUPT_MS = 5_000

/** The first interrupt asks the command to end, a second one ends the process. */
function listenForInterrupts(): { signal: AbortSignal; code(): number; allow(ms: number): void } {
  const abort = new AbortController()
  let code: number = EXIT.interrupted
  let allowed = INTERRUPT_MS
  for (const [signal, exit] of [
    ['SIGINT', EXIT.interrupted],
    ['SIGTERM', EXIT.terminated],
  ] as const) {
    process.on(signal, () => {
      if (abort.signal.aborted) process.exit(exit)
      code = exit
      // What does not listen must not keep the reader waiting.
      setTimeout(() => process.exit(exit), allowed).unref()
      abort.abort(new Failure('cancelled', 'Interrupted.', { hint: 'Run it again to go on.' }))
    })
  }
  return { signal: abort.signal, code: () => code, allow: (ms) => void (allowed = ms) }
}
