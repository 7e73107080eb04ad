import type { Command } from './command.ts'

export interface Listed {
  name: string
  summary: string
  load(): Promise<Command>
}

/** The commands for people, in the groups and the order of the help. */
export const COMMANDS: readonly { group: string; commands: readonly Listed[] }[] = [
  {
    group: 'Collect',
    commands: [
      {
        name: 'add',
        summary: 'Capture pages, files, folders or standard input',
        load: async () => (await import('./commands/add.ts')).add,
      },
      {
        name: 'import',
        summary: 'Bring in highlights and pages from other programs',
        load: async () => (await import('./commands/import.ts')).importCommand,
      },
      {
        name: 'jobs',
        summary: 'Show what is waiting, running, done and failed',
        load: async () => (await import('./commands/jobs.ts')).jobs,
      },
      {
        name: 'work',
        summary: 'Do the waiting work now, then end',
        load: async () => (await import('./commands/work.ts')).work,
      },
    ],
  },
  {
    group: 'Read',
    commands: [
      {
        name: 'list',
        summary: 'List what is in the library, newest first',
        load: async () => (await import('./commands/list.ts')).list,
      },
      {
        name: 'search',
        summary: 'Search by meaning and by words',
        load: async () => (await import('./commands/search.ts')).search,
      },
      {
        name: 'read',
        summary: 'Read an item in the terminal',
        load: async () => (await import('./commands/read.ts')).read,
      },
      {
        name: 'open',
        summary: 'Open the original page or file',
        load: async () => (await import('./commands/open.ts')).open,
      },
      {
        name: 'review',
        summary: 'Go over highlights that you are about to forget',
        load: async () => (await import('./commands/review.ts')).review,
      },
    ],
  },
  {
    group: 'Keep in order',
    commands: [
      {
        name: 'mark',
        summary: 'Say that you read an item, want to, or stopped',
        load: async () => (await import('./commands/mark.ts')).mark,
      },
      {
        name: 'tag',
        summary: 'Put tags on an item or take them off',
        load: async () => (await import('./commands/tag.ts')).tag,
      },
      {
        name: 'tags',
        summary: 'List all tags',
        load: async () => (await import('./commands/tags.ts')).tags,
      },
      {
        name: 'trash',
        summary: 'Move items to the trash, or list it',
        load: async () => (await import('./commands/trash.ts')).trash,
      },
      {
        name: 'restore',
        summary: 'Take items out of the trash, or a library from its backup',
        load: async () => (await import('./commands/restore.ts')).restore,
      },
    ],
  },
  {
    group: 'Look after the library',
    commands: [
      {
        name: 'welcome',
        summary: 'Set up a library with a few samples and show it working',
        load: async () => (await import('./commands/welcome.ts')).welcome,
      },
      {
        name: 'connect',
        summary: 'Print the lines that connect your assistant',
        load: async () => (await import('./commands/connect.ts')).connect,
      },
      {
        name: 'log',
        summary: 'Show who changed what, you and your assistants',
        load: async () => (await import('./commands/log.ts')).log,
      },
      {
        name: 'export',
        summary: 'Write highlights, notes or everything for other programs',
        load: async () => (await import('./commands/export.ts')).exportCommand,
      },
      {
        name: 'backup',
        summary: 'Write a copy of everything to one file',
        load: async () => (await import('./commands/backup.ts')).backup,
      },
      {
        name: 'doctor',
        summary: 'Check the library and say how to mend it',
        load: async () => (await import('./commands/doctor.ts')).doctor,
      },
      {
        name: 'config',
        summary: 'Show the settings in effect',
        load: async () => (await import('./commands/config.ts')).config,
      },
      {
        name: 'completion',
        summary: 'Print completions for bash, zsh or fish',
        load: async () => (await import('./commands/completion.ts')).completion,
      },
    ],
  },
  {
    group: 'Serve',
    commands: [
      {
        name: 'serve',
        summary: 'Serve many readers and their assistants over HTTP',
        load: async () => (await import('./commands/serve.ts')).serve,
      },
      {
        name: 'admin',
        summary: 'Look after the readers of a server',
        load: async () => (await import('./commands/admin.ts')).admin,
      },
    ],
  },
]

/** What is dispatched without a module of the kind above. */
export const SERVE = {
  name: 'mcp',
  summary: 'Serve the library to an assistant over standard input and output',
}

export const findCommand = (name: string): Listed | undefined =>
  COMMANDS.flatMap(({ commands }) => commands).find((command) => command.name === name)

export const commandNames = (): string[] => [
  ...COMMANDS.flatMap(({ commands }) => commands.map(({ name }) => name)),
  SERVE.name,
  'help',
]
