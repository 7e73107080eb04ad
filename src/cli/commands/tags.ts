import { listTags } from '../../features/tags/tag-store.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { withLibrary } from '../open-library.ts'
import { oneLine } from '../print.ts'

export const tags = defineCommand({
  name: 'tags',
  usage: [''],
  about: 'Lists every tag with the number of things that bear it.',
  flags: [],
  words: { most: 0 },
  run: (context) =>
    withLibrary(context, async ({ library }) => {
      const all = await listTags(library.db)
      if (context.json) context.out.json({ tags: all })
      else if (all.length === 0)
        context.out.line('There are no tags yet. `commonplace tag ID +name` puts one on an item.')
      else
        context.out.table(
          [
            { title: 'TAG', flexible: true },
            { title: 'USED', align: 'right' },
          ],
          all.map(({ name, count }) => [oneLine(name), String(count)]),
        )
      return EXIT.ok
    }),
})
