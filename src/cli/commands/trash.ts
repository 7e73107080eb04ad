import { preview } from '../../core/text.ts'
import { listTrashedHighlights } from '../../features/highlights/highlight-store.ts'
import { TRASH_DAYS, trashSource } from '../../features/sources/trash.ts'
import { listTrash } from '../../features/sources/trash-store.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { findItems, itemJson, named } from '../item.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine, STYLE } from '../print.ts'
import { when } from '../when.ts'

export const trash = defineCommand({
  name: 'trash',
  usage: ['ID…', ''],
  about: `Moves items to the trash, with their highlights and notes; without an id it lists what lies there, single highlights too (\`commonplace delete-highlight ID\` moves one there). For ${TRASH_DAYS} days \`commonplace restore ID\` takes out again what has an id there.`,
  flags: [],
  examples: ['commonplace trash 1099511627777', 'commonplace trash'],
  run: (context) =>
    withLibrary(context, async ({ library }) => {
      const { args, out, json } = context
      if (args.positionals.length > 0) {
        const items = await findItems(library.db, args.positionals)
        await library.on({ connection: 'cli', tool: 'trash' }).change(async (change) => {
          for (const item of items) await trashSource(change, item)
        })
        if (json) out.json({ trashed: items.map(itemJson) })
        else
          for (const item of items)
            out.line(...named(item), ' is in the trash. ', {
              text: `commonplace restore ${item.id}`,
              style: STYLE.dim,
            })
        return EXIT.ok
      }
      const items = await listTrash(library.db)
      const highlights = await listTrashedHighlights(library.db)
      if (json)
        out.json({
          items: items.map((item) => ({ ...itemJson(item), trashedAt: item.trashed_at })),
          highlights: highlights.map(({ id, source_id, quote, trashed_at }) => ({
            id: String(id),
            itemId: String(source_id),
            quote,
            trashedAt: trashed_at,
          })),
        })
      else if (items.length + highlights.length === 0) out.line('The trash is empty.')
      else {
        const now = library.now()
        const lying = [
          ...items,
          ...highlights.map((highlight) => ({
            ...highlight,
            title: `“${preview(highlight.quote, 60)}” in ${highlight.title}`,
          })),
        ]
        out.table(
          [
            { title: 'ID' },
            { title: 'TITLE', flexible: true, least: 16 },
            { title: 'THROWN AWAY', spare: true },
          ],
          lying.map((item) => [
            { text: String(item.id), style: STYLE.dim },
            oneLine(item.title),
            item.trashed_at === null ? '' : when(item.trashed_at, now),
          ]),
        )
      }
      return EXIT.ok
    }),
})
