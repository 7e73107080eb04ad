import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { restoreBackup } from '../../app/restore-backup.ts'
import { Failure } from '../../core/failure.ts'
import { parseId } from '../../core/ids.ts'
import { preview } from '../../core/text.ts'
import { restoreHighlight } from '../../features/highlights/change-highlight.ts'
import { findAnyHighlight, type Highlight } from '../../features/highlights/highlight-store.ts'
import { findSource, type Source } from '../../features/sources/source-store.ts'
import { restoreSource } from '../../features/sources/trash.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { usage } from '../flags.ts'
import { itemJson, named } from '../item.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine } from '../print.ts'
import { count } from '../when.ts'

export const restore = defineCommand({
  name: 'restore',
  usage: ['ID…', 'FILE'],
  about:
    'With ids, takes items and highlights out of the trash as they were. With a file, puts a whole library back from its backup; the library that stands there is first moved into its `backups` folder, where it can be restored from in turn.',
  flags: [],
  examples: ['commonplace restore 1099511627777', 'commonplace restore reading.tar.gz'],
  words: { least: 1 },
  async run(context) {
    const { positionals } = context.args
    const ids = positionals.filter((word) => parseId(word) !== undefined && !existsSync(word))
    if (ids.length === positionals.length) return await restoreItems(context, ids)
    if (positionals.length > 1) throw usage('Give ids of items, or one backup.')
    return await restoreLibrary(context, positionals[0]!)
  },
})

function restoreItems(context: Context, ids: readonly string[]): Promise<number> {
  return withLibrary(
    context,
    async ({ library }) => {
      const items: Source[] = []
      const highlights: Highlight[] = []
      for (const id of ids) {
        const item = await findSource(library.db, parseId(id)!)
        const highlight = item ? undefined : await findAnyHighlight(library.db, parseId(id)!)
        if (item) items.push(item)
        else if (highlight) highlights.push(highlight)
        else
          throw new Failure(
            'item_not_found',
            `There is no item ${id}, neither in the library nor in its trash.`,
            {
              hint: '`commonplace trash` lists what can be restored.',
            },
          )
      }
      await library.on({ connection: 'cli', tool: 'restore' }).change(async (change) => {
        for (const item of items) await restoreSource(change, item)
        for (const highlight of highlights) await restoreHighlight(change, highlight)
      })
      if (context.json)
        context.out.json({
          restored: items.map(itemJson),
          ...(highlights.length > 0 && { highlights: highlights.map(({ id }) => String(id)) }),
        })
      else {
        for (const { quote, trashed_at } of highlights)
          context.out.line(
            `“${oneLine(preview(quote, 60))}”`,
            trashed_at === null ? ' was not in the trash.' : ' is back in the library.',
          )
        for (const item of items)
          context.out.line(
            ...named(item),
            item.trashed_at === null ? ' was not in the trash.' : ' is back in the library.',
          )
      }
      return EXIT.ok
    },
    { changes: true },
  )
}

async function restoreLibrary(context: Context, given: string): Promise<number> {
  const { out, json, readOnly } = context
  if (readOnly) {
    throw new Failure('read_only', 'A library cannot be restored for reading only.', {
      hint: 'Leave --read-only out.',
    })
  }
  const { library: folder } = context.config()
  const restored = await restoreBackup(folder, resolve(given), new Date())
  if (json) out.json({ library: folder, ...restored })
  else {
    out.line(`Restored ${count(restored.items, 'item')} to ${folder}.`)
    if (restored.kept !== undefined) out.line(`The library that stood there is kept in ${restored.kept}.`)
  }
  return EXIT.ok
}
