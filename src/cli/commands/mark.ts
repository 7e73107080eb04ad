import { markReading, type Mark } from '../../features/reads/mark-reading.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage, type Arguments } from '../flags.ts'
import { findItems, itemJson, named } from '../item.ts'
import { withLibrary } from '../open-library.ts'

const MARKS = {
  read: { help: 'You finished it', done: 'is read' },
  reading: { help: 'You are reading it', done: 'is being read' },
  unread: { help: 'You have not read it', done: 'is unread' },
  want: { help: 'You want to read it', done: 'is wanted' },
  paused: { help: 'You put it aside for now', done: 'is put aside' },
  dropped: { help: 'You stopped for good', done: 'was dropped' },
} as const satisfies Record<Mark, { help: string; done: string }>

const NAMES = Object.keys(MARKS) as Mark[]

export const mark = defineCommand({
  name: 'mark',
  usage: [`ID… ${NAMES.map((name) => `--${name}`).join('|')}`],
  about:
    'Says where you stand with an item. Reading a finished item again opens a new reading and keeps the old one.',
  flags: NAMES.map((name) => ({ name, help: MARKS[name].help })),
  examples: ['commonplace mark 1099511627777 --read'],
  words: { least: 1 },
  async run(context) {
    const wanted = chosen(context.args)
    return await withLibrary(context, async ({ library }) => {
      const items = await findItems(library.db, context.args.positionals)
      await library.on({ connection: 'cli', tool: 'mark' }).change(async (change) => {
        for (const item of items) await markReading(change, item, wanted)
      })
      if (context.json) context.out.json({ marked: wanted, items: items.map(itemJson) })
      else for (const item of items) context.out.line(...named(item), ` ${MARKS[wanted].done}.`)
      return EXIT.ok
    })
  },
})

function chosen(args: Arguments): Mark {
  const marks = NAMES.filter((name) => args.on(name))
  if (marks.length !== 1) {
    throw usage(
      marks.length === 0 ? 'How is it to be marked?' : 'An item can be marked in one way only.',
      `Give one of ${NAMES.map((name) => `--${name}`).join(', ')}.`,
    )
  }
  return marks[0]!
}
