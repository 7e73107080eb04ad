import type { Command } from './command.ts'
import { COMMANDS, SERVE } from './commands.ts'
import { GLOBAL_FLAGS, type Flag } from './flags.ts'
import { padEnd, displayWidth, wrapText } from './measure.ts'
import { STYLE, type Printer } from './print.ts'

/** `commonplace mcp` reads its own command line; this is what its help says. */
export const SERVE_HELP: Command = {
  name: SERVE.name,
  usage: ['[--tools FAMILIES] [--library DIR] [--read-only] [--http PORT]'],
  about:
    'Serves the library over the Model Context Protocol on standard input and output. An assistant starts it by itself; `commonplace connect` prints what to tell the assistant.',
  flags: [
    {
      name: 'tools',
      value: 'FAMILIES',
      help: 'Offer only these families of tools, separated by commas',
    },
    { name: 'http', value: 'PORT', help: 'Serve over HTTP on this machine alone instead' },
  ],
  examples: ['commonplace mcp', 'commonplace mcp --tools library --read-only'],
  run: async () => 0,
}

export async function overview(out: Printer): Promise<void> {
  out.line({ text: 'commonplace', style: STYLE.strong }, ' COMMAND [ARGUMENTS]')
  out.line()
  out.paragraph(
    'One library of everything you read and mark, on your own disk, for you and for your assistant.',
  )
  for (const { group, commands } of COMMANDS)
    section(
      out,
      group,
      [...(group === 'Serve' ? [SERVE] : []), ...commands].map(({ name, summary }) => [name, summary]),
    )
  const { toolCommandNames } = await import('./tool-command.ts')
  const names = toolCommandNames()
  if (names.length > 0) {
    out.line()
    out.line({ text: 'Tools of the assistant, as commands', style: STYLE.strong })
    out.paragraph(names.join(', '), '  ')
  }
  section(out, 'Flags that every command takes', GLOBAL_FLAGS.map(flagRow))
  out.line()
  out.paragraph('`commonplace help COMMAND` explains one command. Exit codes and examples: docs/cli.md.')
}

export function commandHelp(out: Printer, command: Command): void {
  for (const line of command.usage.length > 0 ? command.usage : [''])
    out.line({ text: `commonplace ${command.name}`, style: STYLE.strong }, line ? ` ${line}` : '')
  out.line()
  for (const paragraph of command.about.split('\n')) out.paragraph(paragraph)
  if (command.parts) section(out, 'What it does', command.parts)
  if (command.flags.length > 0) section(out, 'Flags', command.flags.map(flagRow))
  if (command.examples?.length) {
    out.line()
    out.line({ text: 'Examples', style: STYLE.strong })
    for (const example of command.examples) out.line(`  ${example}`)
  }
  out.line()
  out.paragraph([
    { text: `Also: ${GLOBAL_FLAGS.map(({ name }) => `--${name}`).join(' ')}`, style: STYLE.dim },
  ])
}

function flagRow({ name, short, value, negatable, many, help }: Flag): [string, string] {
  const long = `${negatable && !value ? `--[no-]${name}` : `--${name}`}${value ? ` ${value}` : ''}`
  return [short ? `-${short}, ${long}` : long, many ? `${help} (may be repeated)` : help]
}

function section(out: Printer, title: string, rows: readonly (readonly [string, string])[]): void {
  out.line()
  out.line({ text: title, style: STYLE.strong })
  const left = Math.min(28, Math.max(...rows.map(([name]) => displayWidth(name))))
  for (const [name, text] of rows) {
    const lines = wrapText(text, Math.max(20, out.measure - left - 4))
    const fits = displayWidth(name) <= left
    if (!fits) out.line(`  ${name}`)
    for (const [at, line] of lines.entries())
      out.line(`  ${padEnd(at === 0 && fits ? name : '', left)}  ${line}`)
  }
}
