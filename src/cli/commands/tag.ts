import { tagsOf } from '../../features/sources/source-store.ts'
import { addTags, removeTags } from '../../features/tags/tag-store.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { findItems, itemJson, named } from '../item.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine } from '../print.ts'

export const tag = defineCommand({
  name: 'tag',
  usage: ['ID [+TAG…] [-TAG…]'],
  about:
    'Puts tags on an item (`+tag`) and takes them off (`-tag`); without either it says which the item has. Tags that differ only in case or spacing are one.',
  flags: [],
  examples: ['commonplace tag 1099511627777 +essays "+to quote" -inbox', 'commonplace tag 1099511627777'],
  words: { least: 1 },
  isPlain: (token) => /^-[^-]/.test(token) && token !== '-h' && token !== '-V',
  async run(context) {
    const [id, ...signs] = context.args.positionals
    const wrong = signs.find((sign) => !/^[+-]./.test(sign))
    if (wrong !== undefined)
      throw usage(
        `${JSON.stringify(wrong)} is neither put on nor taken off.`,
        `Write +${wrong} or -${wrong}.`,
      )
    return await withLibrary(context, async ({ library }) => {
      const [item] = await findItems(library.db, [id!])
      if (!item) return EXIT.notFound
      if (signs.length > 0) {
        const names = (sign: string) =>
          signs.filter((given) => given.startsWith(sign)).map((given) => given.slice(1))
        await library.on({ connection: 'cli', tool: 'tag' }).change(async (change) => {
          await removeTags(change, item.id, names('-'))
          await addTags(change, item.id, names('+'))
        })
      }
      const tags = (await tagsOf(library.db, [item.id])).get(item.id) ?? []
      if (context.json) context.out.json({ ...itemJson(item), tags })
      else
        context.out.line(
          ...named(item),
          tags.length > 0 ? `: ${tags.map(oneLine).join(', ')}` : ' has no tags.',
        )
      return EXIT.ok
    })
  },
})
