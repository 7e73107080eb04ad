import { realpathSync } from 'node:fs'
import { libraryFolder } from '../../config/library-folder.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { STYLE } from '../print.ts'

export const connect = defineCommand({
  name: 'connect',
  usage: ['[claude-code|claude-desktop|cursor|vscode|gemini-cli|goose] [--read-only]'],
  about:
    'Prints the lines that connect an assistant to this library: a command to run, or what to put into its settings file. With --read-only the assistant can search and read and change nothing. The embedder, the language model and the hosts that are set in the environment go with them; a key does not: put yours where it says so.',
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

interface AssistantLines {
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
  const entry = server(context)
  const shell = [entry.command, ...entry.args].map(quote).join(' ')
  const set = Object.entries(entry.env ?? {}).map(([name, value]) => ` -e ${quote(`${name}=${value}`)}`)
  return [
    {
      id: 'claude-code',
      name: 'Claude Code',
      command: `claude mcp add commonplace --scope user${set.join('')} -- ${shell}`,
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
    {
      id: 'gemini-cli',
      name: 'Gemini CLI',
      file: '~/.gemini/settings.json',
      settings: settingsText({ mcpServers: { commonplace: entry } }),
    },
    {
      id: 'goose',
      name: 'Goose',
      file: GOOSE[process.platform] ?? '~/.config/goose/config.yaml',
      settings: gooseText(entry),
    },
  ]
}

/** YAML, in which JSON is what it is. */
const gooseText = ({ command, args, env = {} }: ReturnType<typeof server>): string =>
  `extensions:
  commonplace:
    name: Commonplace
    type: stdio
    cmd: ${JSON.stringify(command)}
    args: ${JSON.stringify(args).replaceAll('","', '", "')}
    envs: ${JSON.stringify(env)}
    enabled: true
    timeout: 300`

const GOOSE: Partial<Record<NodeJS.Platform, string>> = {
  win32: '%APPDATA%\\Block\\goose\\config\\config.yaml',
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

/**
 * Which embedder a library has must be one answer for all who open it, or each makes the vectors of the others anew; and
 * whichever of them does the waiting work asks the language model.
 */
const HANDED_ON = [
  'COMMONPLACE_EMBEDDER',
  'COMMONPLACE_EMBEDDER_URL',
  'COMMONPLACE_EMBEDDER_MODEL',
  'COMMONPLACE_EMBEDDER_KEY',
  'COMMONPLACE_MODEL',
  'COMMONPLACE_MODEL_NAME',
  'COMMONPLACE_MODEL_URL',
  'COMMONPLACE_MODEL_KEY',
  'COMMONPLACE_ALLOW_HOSTS',
  'COMMONPLACE_YOUTUBE_URL',
  'COMMONPLACE_YOUTUBE_CLIENTS',
]
/** Stands for what is printed nowhere. */
const KEY_HERE = '<your key>'

/**
 * Node and this program by their whole paths, and what is set for it: an assistant has neither the PATH nor the environment of
 * the shell.
 */
function server({ config, args, env, readOnly }: Pick<Context, 'config' | 'args' | 'env' | 'readOnly'>): {
  command: string
  args: string[]
  env?: Record<string, string>
} {
  const program = realpathSync(process.argv[1]!)
  const { library } = config()
  const asUsual =
    !args.given('library') && library === libraryFolder({ ...env, COMMONPLACE_LIBRARY: undefined })
  const [command, ...words] = isPassing(program)
    ? ['npx', '-y', 'commonplace', 'mcp']
    : [process.execPath, program, 'mcp']
  const set = HANDED_ON.flatMap((name) => {
    const value = env[name]
    return value ? [[name, name.endsWith('_KEY') ? KEY_HERE : value] as const] : []
  })
  return {
    command: command!,
    args: [...words, ...(asUsual ? [] : ['--library', library]), ...(readOnly ? ['--read-only'] : [])],
    ...(set.length > 0 && { env: Object.fromEntries(set) }),
  }
}

/** npx keeps what it runs in a cache that it may empty. */
const isPassing = (program: string): boolean => /[\\/]_npx[\\/]/.test(program)

const quote = (word: string): string =>
  /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
