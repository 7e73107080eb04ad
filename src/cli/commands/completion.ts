import { commandNames, findCommand } from '../commands.ts'
import { defineCommand, type Command } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { GLOBAL_FLAGS, usage, type Flag } from '../flags.ts'
import { SERVE_HELP } from '../help.ts'
import { commandOfTool, toolCommandNames } from '../tool-command.ts'

const SHELLS = { bash, zsh, fish } as const

export const completion = defineCommand({
  name: 'completion',
  usage: [Object.keys(SHELLS).join('|')],
  about: 'Prints a script that makes the shell complete commands, flags and their choices.',
  flags: [],
  examples: [
    'commonplace completion bash > ~/.local/share/bash-completion/completions/commonplace',
    'commonplace completion zsh > "${fpath[1]}/_commonplace"',
    'commonplace completion fish > ~/.config/fish/completions/commonplace.fish',
  ],
  words: { least: 1, most: 1 },
  async run({ args, out }) {
    const [shell = ''] = args.positionals
    const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell as keyof typeof SHELLS] : undefined
    if (!write)
      throw usage(
        `There are no completions for ${JSON.stringify(shell)}.`,
        `There are for ${Object.keys(SHELLS).join(', ')}.`,
      )
    out.write(write(await allCommands()))
    return EXIT.ok
  },
})

interface Completed {
  name: string
  about: string
  flags: readonly Flag[]
  takesFiles: boolean
  choices: readonly string[]
}

async function allCommands(): Promise<Completed[]> {
  const all: Completed[] = []
  for (const name of commandNames()) {
    const listed = findCommand(name)
    const command = listed ? await listed.load() : name === SERVE_HELP.name ? SERVE_HELP : undefined
    all.push(
      completed(
        name,
        listed?.summary ?? (name === 'help' ? 'Explain a command' : 'Serve the library to an assistant'),
        command,
      ),
    )
  }
  for (const name of toolCommandNames()) {
    const command = commandOfTool(name)
    all.push(completed(name, command?.about ?? '', command))
  }
  return all
}

const completed = (name: string, about: string, command: Command | undefined): Completed => ({
  name,
  about: firstSentence(about),
  flags: [...(command?.flags ?? []), ...GLOBAL_FLAGS],
  takesFiles: name === 'add' || name === 'restore' || name === 'backup',
  choices: command?.parts
    ? [...new Set(command.parts.map(([words]) => words.split(' ')[0] ?? ''))]
    : name === 'completion' || name === 'connect'
      ? choicesIn((command?.usage[0] ?? '').replaceAll(/[[\]]/g, '').split(' ')[0])
      : [],
})

const firstSentence = (text: string): string =>
  (/^[^.;:]*/.exec(text)?.[0] ?? '')
    .replaceAll(/["'`\\$[\]]/g, '')
    .slice(0, 70)
    .trim()

/** `unread|reading|read` is a list of choices; `TEXT` is none. */
const choicesIn = (value: string | undefined): string[] => (value?.includes('|') ? value.split('|') : [])

const dashed = ({ name, short, negatable }: Flag): string[] => [
  `--${name}`,
  ...(negatable ? [`--no-${name}`] : []),
  ...(short ? [`-${short}`] : []),
]

function bash(all: readonly Completed[]): string {
  const cases = all.map(({ name, flags, takesFiles, choices }) => {
    const values = flags
      .filter(({ value }) => value)
      .map(
        (flag) =>
          `${dashed(flag)
            .filter((spelling) => !spelling.startsWith('--no-'))
            .join(
              '|',
            )}) words="${choicesIn(flag.value).join(' ')}"; files=${flag.value === 'DIR' || flag.value === 'FILE' ? 1 : ''} ;;`,
      )
    return [
      `    ${name})`,
      `      case $previous in`,
      ...values.map((line) => `        ${line}`),
      `        *) words="${[...choices, ...flags.flatMap(dashed)].join(' ')}"; files=${takesFiles ? 1 : ''} ;;`,
      `      esac ;;`,
    ].join('\n')
  })
  return `# bash completion for commonplace
_commonplace() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= words= files= word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $word in
      --library) ((i++)) ;;
      -*) ;;
      *) command=$word; break ;;
    esac
  done
  case $command in
    '') words="${[...all.map(({ name }) => name), ...GLOBAL_FLAGS.flatMap(dashed)].join(' ')}" ;;
    help) words="${all.map(({ name }) => name).join(' ')}" ;;
${cases.filter((text) => !text.startsWith('    help)')).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n $files && $current != -* ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}
complete -F _commonplace commonplace
`
}

function zsh(all: readonly Completed[]): string {
  const safe = (text: string) =>
    text
      .replaceAll(/['"`\\$[\]:]/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
  const spec = (flag: Flag) => {
    const { value, help, many } = flag
    const choices = choicesIn(value)
    const action =
      choices.length > 0 ? `(${choices.join(' ')})` : value === 'DIR' || value === 'FILE' ? '_files' : ''
    return dashed(flag).map((spelling) => {
      const takes = value !== undefined && !spelling.startsWith('--no-')
      return `'${many ? '*' : ''}${spelling}[${safe(help)}]${takes ? `:${safe(value)}:${action}` : ''}'`
    })
  }
  const cases = all.map(
    ({ name, flags, takesFiles, choices }) =>
      `    ${name}) _arguments ${[...flags.flatMap(spec), choices.length > 0 ? `'*:choice:(${choices.join(' ')})'` : takesFiles ? `'*:file:_files'` : ''].filter(Boolean).join(' ')} ;;`,
  )
  return `#compdef commonplace
_commonplace() {
  local -a commands
  commands=(
${all.map(({ name, about }) => `    '${name}:${safe(about)}'`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    _arguments ${GLOBAL_FLAGS.flatMap(spec).join(' ')}
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _commonplace ]]; then
  _commonplace "$@"
else
  compdef _commonplace commonplace
fi
`
}

function fish(all: readonly Completed[]): string {
  const safe = (text: string) => `'${text.replaceAll(/['\\]/g, ' ').trim()}'`
  const lines = ['# fish completion for commonplace', 'complete -c commonplace -f']
  const flagLine = (condition: string, { name, short, value, help }: Flag) =>
    [
      `complete -c commonplace${condition}`,
      `-l ${name}`,
      short ? `-s ${short}` : '',
      value
        ? choicesIn(value).length > 0
          ? `-x -a ${safe(choicesIn(value).join(' '))}`
          : value === 'DIR' || value === 'FILE'
            ? '-r -F'
            : '-x'
        : '',
      `-d ${safe(firstSentence(help))}`,
    ]
      .filter(Boolean)
      .join(' ')
  for (const flag of GLOBAL_FLAGS) lines.push(flagLine('', flag))
  for (const { name, about, flags, takesFiles, choices } of all) {
    lines.push(`complete -c commonplace -n __fish_use_subcommand -a ${name} -d ${safe(about)}`)
    const condition = ` -n '__fish_seen_subcommand_from ${name}'`
    if (takesFiles) lines.push(`complete -c commonplace${condition} -F`)
    if (choices.length > 0) lines.push(`complete -c commonplace${condition} -a ${safe(choices.join(' '))}`)
    for (const flag of flags) if (!GLOBAL_FLAGS.includes(flag)) lines.push(flagLine(condition, flag))
  }
  return `${lines.join('\n')}\n`
}
