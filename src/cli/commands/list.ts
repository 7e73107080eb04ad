import { countWithoutText } from '../../features/capture/capture-store.ts'
import { listItems } from '../../features/sources/tools/list-items.ts'
import { itemShape, type Item } from '../../features/sources/item.ts'
import { z } from 'zod'
import type { Db } from '../../db/schema.ts'
import { defineCommand, type Context } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine, STYLE, type Column } from '../print.ts'
import { callAsReader } from '../tool-command.ts'
import { count, when } from '../when.ts'

const output = z.object({ items: z.array(itemShape), total: z.number(), nextOffset: z.number().nullable() })

const SHOWN: Record<Item['kind'], string> = {
  book: 'book',
  article: 'page',
  pdf: 'pdf',
  video: 'video',
  podcast: 'audio',
}

export const list = defineCommand({
  name: 'list',
  usage: ['[--reading STATE] [--kind KIND] [--limit N] [--offset N]'],
  about: 'Lists the items of the library that have a text, last saved first.',
  flags: [
    { name: 'reading', value: 'unread|reading|read', help: 'Only items in this reading state' },
    { name: 'kind', value: 'article|pdf|media', help: 'Only items of this kind' },
    { name: 'limit', value: 'N', help: 'How many to show (20 unless said, 200 at most)' },
    { name: 'offset', value: 'N', help: 'How many to pass over' },
  ],
  examples: ['commonplace list --reading unread', 'commonplace list --json --limit 200'],
  words: { most: 0 },
  run: (context) =>
    withLibrary(context, async ({ library }) => {
      const { args, out, json } = context
      const input: Record<string, unknown> = {
        limit: args.number('limit', 20),
        offset: args.number('offset', 0),
      }
      for (const name of ['reading', 'kind']) if (args.given(name)) input[name] = args.one(name)
      const answer = await callAsReader(context, library, listItems, input)
      if (json) {
        out.json(answer.output)
        return EXIT.ok
      }
      const { items, total, nextOffset } = output.parse(answer.output)
      if (items.length > 0) printItems(context, items, library.now())
      else
        out.line(
          total > 0
            ? 'There are no more.'
            : args.given('reading') || args.given('kind')
              ? 'Nothing fits.'
              : 'The library is empty. `commonplace add URL` captures a page.',
        )
      if (out.tty && items.length > 0) {
        const shown =
          nextOffset === null
            ? count(total, 'item')
            : `${items.length} of ${count(total, 'item')}; more with --offset ${nextOffset}`
        out.line({ text: `${shown}.`, style: STYLE.dim })
      }
      await mentionWork(context, library.db)
      return EXIT.ok
    }),
})

function printItems({ out }: Pick<Context, 'out'>, items: readonly Item[], now: Date): void {
  const columns: Column[] = [
    { title: 'ID' },
    { title: 'TITLE', flexible: true, least: 20 },
    { title: 'BY', flexible: true, least: 10, spare: true },
    { title: 'KIND', spare: true },
    { title: 'STATE', spare: true },
    { title: 'SAVED', spare: true },
  ]
  out.table(
    columns,
    items.map((item) => [
      { text: item.id, style: STYLE.dim },
      oneLine(item.title),
      oneLine(item.authors[0] ?? item.site ?? ''),
      SHOWN[item.kind],
      { text: item.reading ?? '', ...(item.reading === 'reading' && { style: STYLE.good }) },
      when(item.saved, now),
    ]),
  )
}

/** What is on its way or did not arrive is not in the list, and must not be forgotten. */
async function mentionWork({ out, err }: Pick<Context, 'out' | 'err'>, db: Db): Promise<void> {
  if (!out.tty) return
  const { underWay, failed } = await countWithoutText(db)
  if (underWay > 0) err.line({ text: `${count(underWay, 'more item')} being captured.`, style: STYLE.dim })
  if (failed > 0)
    err.line({
      text: `${count(failed, 'capture')} failed: \`commonplace jobs\` says why.`,
      style: STYLE.warning,
    })
}
