import { defineCommand, type Context } from '../command.ts'
import { usage } from '../flags.ts'
import { closest } from '../suggest.ts'
import type { Administering } from './admin-server.ts'

/** Each part has a module of its own, so that a slip of the hand costs nothing. */
const PARTS: Record<string, (context: Context, words: readonly string[]) => Promise<number>> = {
  users: onServer(async () => (await import('./admin-users.ts')).adminUsers),
  invitations: onServer(async () => (await import('./admin-invitations.ts')).adminInvitations),
  quota: onServer(async () => (await import('./admin-allowances.ts')).adminQuota),
  academy: onServer(async () => (await import('./admin-allowances.ts')).adminAcademy),
  credits: onServer(async () => (await import('./admin-allowances.ts')).adminCredits),
  feedback: onServer(async () => (await import('./admin-feedback.ts')).adminFeedback),
  reindex: onServer(async () => (await import('./admin-reindex.ts')).adminReindex),
  backup: async (context, words) => (await import('./admin-backup.ts')).adminBackup(context, words),
}

function onServer(load: () => Promise<(on: Administering) => Promise<number>>) {
  return async (context: Context, words: readonly string[]): Promise<number> => {
    const part = await load()
    const { withServer } = await import('./admin-server.ts')
    return withServer(context, words, part)
  }
}

export const admin = defineCommand({
  name: 'admin',
  usage: ['PART [WHAT] [WHO]'],
  about:
    'Looks after a server: its readers, what they may use, and its backups. Run it on the machine of the server, with the variables that `commonplace serve` has; servers may run meanwhile, and what is changed holds for them at once.\nWHO is a reader’s e-mail, their id or the beginning of it, or `first` for the one whose library the command line opens.',
  parts: [
    ['users', 'List the readers: when they last came, how much they have'],
    ['users show WHO', 'Everything about one, and nothing of what they read'],
    ['users add --email ADDRESS', 'Make a reader and print the link that signs them in'],
    ['users link WHO', 'Print a new link that signs them in once, for whoever is locked out'],
    ['users reset WHO', 'Print a link that sets a new password, for whoever forgot theirs'],
    ['users suspend WHO', 'Sign them out and refuse all their assistants and tokens, at once'],
    ['users restore WHO', 'Take that back'],
    ['users export WHO FILE', 'Write everything of theirs to a ZIP archive'],
    ['users delete WHO', 'Delete them and all that is theirs, for ever; asks first'],
    ['invitations', 'List invitations'],
    ['invitations make', 'Make one: --email for one address alone, --mail to send it'],
    ['invitations withdraw ID', 'Take one back'],
    ['quota [WHO|all] [MB]', 'How much may be stored: a number of megabytes, none, or default'],
    ['academy [WHO|all] [on|off]', 'Whether the Academy’s tools may write; default is what all have'],
    ['credits WHO', 'AI credits of this month, and what they went into'],
    ['credits WHO grant NUMBER', 'Give more for this month'],
    ['credits [WHO|all] [NUMBER]', 'How many there are every month; default is what all have'],
    ['feedback', 'The messages of readers that wait: show ID reads one, done ID puts it away'],
    ['backup [FOLDER]', 'Save accounts, libraries and files while everything runs'],
    ['reindex WHO', 'Make the search of a library anew; --all for all of them'],
  ],
  flags: [
    {
      name: 'email',
      value: 'ADDRESS',
      help: 'Whose e-mail: of a new reader, or of whom an invitation is for',
    },
    { name: 'name', value: 'NAME', help: 'What a new reader is called' },
    { name: 'mail', help: 'Send the invitation by mail instead of printing it' },
    { name: 'all', help: 'feedback: what is done as well; reindex: every library' },
    { name: 'vectors', help: 'reindex: also make what search by meaning needs anew (takes long)' },
    { name: 'yes', short: 'y', help: 'users delete: go on without asking' },
  ],
  examples: [
    'commonplace admin users add --email ada@example.org',
    'commonplace admin quota all 2000',
    'commonplace admin backup /srv/backups',
  ],
  words: { most: 4 },
  // Ids, and what the list shows of them, may begin with a dash; no flag here is that long.
  isPlain: (token) => /^-(?:[\w-]{7}|[\w-]{21})$/.test(token),
  async run(context) {
    const [name, ...words] = context.args.positionals
    const known = Object.keys(PARTS)
    if (name === undefined) throw usage('Say what to look after.', `It is one of ${known.join(', ')}.`)
    const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
    if (part) return part(context, words)
    const meant = closest(name, known)
    throw usage(
      `commonplace admin has no part ${JSON.stringify(name)}.`,
      meant === undefined ? `It has ${known.join(', ')}.` : `Did you mean \`commonplace admin ${meant}\`?`,
    )
  },
})
