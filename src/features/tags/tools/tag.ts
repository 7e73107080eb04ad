import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { Failure } from '../../../core/failure.ts'
import { idNumber } from '../../../core/ids.ts'
import type { Change } from '../../../core/library.ts'
import { takeFitting } from '../../../core/room.ts'
import { findHighlightRow } from '../../highlights/highlight-store.ts'
import { findSource, tagsOf } from '../../sources/source-store.ts'
import { tagNames } from '../schema.ts'
import { addTags, removeTags } from '../tag-store.ts'

/** Bytes of JSON that the tags of one thing may take. */
const TAGS = 1_200

export const tag = defineTool({
  name: 'tag',
  family: 'extras',
  title: 'Tag sources and highlights',
  description:
    'Puts tags on sources and highlights and takes tags off, all of it or nothing. Names that differ only in case, width, accents ' +
    'as they are encoded, or spacing are one tag. A tag that is there already, or is not there to be removed, is no fault. ' +
    'See list_tags for the tags in use.',
  input: z.strictObject({
    ids: z.array(idNumber('Id of a source or a highlight')).min(1).max(20).describe('What is tagged'),
    add: tagNames.describe('Tags to put on').optional(),
    remove: tagNames.describe('Tags to take off').optional(),
  }),
  output: z.object({
    tagged: z.array(
      z.object({
        id: z.int(),
        kind: z.enum(['source', 'highlight']),
        /** All its tags now, as far as there is room; absent where the caller may not read such things. */
        tags: z.array(z.string()).optional(),
      }),
    ),
  }),
  scopes: ['sources:write', 'highlights:write'],
  effect: 'write',
  summary: ({ tagged }) =>
    `${tagged.length} ${tagged.length === 1 ? 'thing is' : 'things are'} tagged as asked.`,
  run(library, { ids, add = [], remove = [] }, { scopes }) {
    if (add.length === 0 && remove.length === 0)
      throw new Failure('invalid_input', 'tag: neither add nor remove names a tag.', {
        hint: 'Give add, remove or both.',
        details: { issues: [{ field: 'add', problem: 'is empty, as is remove' }] },
      })
    return library.answer(async (change) => {
      const targets = []
      for (const id of new Set(ids)) targets.push(await targetOf(change, id))
      for (const { id } of targets) {
        await removeTags(change, id, remove)
        await addTags(change, id, add)
      }
      const tags = await tagsOf(
        change.db,
        targets.map(({ id }) => id),
      )
      return {
        tagged: targets.map(({ id, kind }) => ({
          id,
          kind,
          ...(scopes.has(kind === 'source' ? 'sources:read' : 'highlights:read') && {
            tags: takeFitting(tags.get(id) ?? [], TAGS),
          }),
        })),
      }
    })
  },
})

/** Throws `item_not_found`. */
async function targetOf({ db }: Change, id: number): Promise<{ id: number; kind: 'source' | 'highlight' }> {
  const source = await findSource(db, id)
  if (source && source.trashed_at === null) return { id: source.id, kind: 'source' }
  const highlight = source ? undefined : await findHighlightRow(db, id)
  if (highlight) return { id: highlight.id, kind: 'highlight' }
  throw new Failure('item_not_found', `There is no source or highlight ${id}.`, {
    hint: source
      ? 'It is in the trash: the reader can take it out with `commonplace restore`.'
      : 'Take ids from list_sources, get_source or search_highlights.',
  })
}
