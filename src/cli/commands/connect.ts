import { realpathSync } from 'node:fs'
import { libraryFolder } from '../../config/library-folder.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { STYLE } from '../print.ts'

export const connect = defineCommand({
  name: 'connect',
  usage: ['[claude-code|claude-desktop|cursor|vscode] [--read-only]'],
  about:
    'Prints the lines that connect an assistant to this library: a command to run, or what to put into its settings file. With --read-only the assistant can search and read and change nothing.',
  flags: [],
  examples: ['commonplace connect', 'commonplace connect claude-code'],
  words: { most: 1 },
  async run(context) {
    const [wanted] = context.args.positionals
    const all = assistantLines(context)
    const lines = wanted === undefined ? all : all.filter(({ id }) => id === wanted)
    if (lines.length === 0)
      throw usage(
        `Commonplace knows no lines for ${JSON.stringify(wanted)}.`,
        `It knows ${all.map(({ id }) => id).join(', ')}.`,
      )
    if (context.json) context.out.json({ server: server(context), assistants: lines })
    else printLines(context, lines)
    return EXIT.ok
  },
})

export interface AssistantLines {
  id: string
  name: string
  /** A line for the shell. */
  command?: string
  /** Where settings go, and what to put there. */
  file?: string
  settings?: string
}

/** What each assistant is told so that it starts this very program on this very library. */
export function assistantLines(
  context: Pick<Context, 'config' | 'args' | 'env' | 'readOnly'>,
): AssistantLines[] {
  const { command, args } = server(context)
  const entry = { command, args }
  const shell = [command, ...args].map(quote).join(' ')
  return [
    {
      id: 'claude-code',
      name: 'Claude Code',
      command: `claude mcp add commonplace --scope user -- ${shell}`,
    },
    {
      id: 'claude-desktop',
      name: 'Claude Desktop',
      file:
        CLAUDE_DESKTOP[process.platform] ?? 'claude_desktop_config.json (Settings, Developer, Edit Config)',
      settings: settingsText({ mcpServers: { commonplace: entry } }),
    },
    {
      id: 'cursor',
      name: 'Cursor',
      file: '~/.cursor/mcp.json',
      settings: settingsText({ mcpServers: { commonplace: entry } }),
    },
    {
      id: 'vscode',
      name: 'VS Code',
      command: `code --add-mcp ${quote(JSON.stringify({ name: 'commonplace', ...entry }))}`,
      file: '.vscode/mcp.json',
      settings: settingsText({ servers: { commonplace: { type: 'stdio', ...entry } } }),
    },
  ]
}

/** JSON as people write it into such a file: a short list stays on its line. */
const settingsText = (settings: unknown): string =>
  JSON.stringify(settings, null, 2).replaceAll(
    /\[\s+((?:"[^"\n]*",?\s+)+)\]/g,
    (_list, words: string) => `[${words.trim().replaceAll(/\s*\n\s*/g, ' ')}]`,
  )

const CLAUDE_DESKTOP: Partial<Record<NodeJS.Platform, string>> = {
  darwin: '~/Library/Application Support/Claude/claude_desktop_config.json',
  win32: '%APPDATA%\\Claude\\claude_desktop_config.json',
}

export function printLines({ out }: Pick<Context, 'out'>, all: readonly AssistantLines[]): void {
  for (const [at, { name, command, file, settings }] of all.entries()) {
    if (at > 0) out.line()
    out.line({ text: name, style: STYLE.strong })
    if (command) out.line(`  ${command}`)
    if (file && settings) {
      out.line({ text: `  ${command ? 'or ' : ''}in ${file}:`, style: STYLE.dim })
      for (const line of settings.split('\n')) out.line(`  ${line}`)
    }
  }
}

/** Node and this program by their whole paths: an assistant's PATH is not the shell's. */
function server({ config, args, env, readOnly }: Pick<Context, 'config' | 'args' | 'env' | 'readOnly'>): {
  command: string
  args: string[]
} {
  const program = realpathSync(process.argv[1]!)
  const { library } = config()
  const asUsual =
    !args.given('library') && library === libraryFolder({ ...env, COMMONPLACE_LIBRARY: undefined })
  const [command, ...words] = isPassing(program)
    ? ['npx', '-y', 'commonplace', 'mcp']
    : [process.execPath, program, 'mcp']
  return {
    command: command!,
    args: [...words, ...(asUsual ? [] : ['--library', library]), ...(readOnly ? ['--read-only'] : [])],
  }
}

/** npx keeps what it runs in a cache that it may empty. */
const isPassing = (program: string): boolean => /[\\/]_npx[\\/]/.test(program)

const quote = (word: string): string =>
  /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
