import { z } from 'zod'
import { defineTool } from '../../../core/define-tool.ts'
import { idNumber } from '../../../core/ids.ts'
import { cutText } from '../../../core/room.ts'
import { text } from '../../../core/text.ts'
import { checkUnchanged, unchangedSince } from '../../../core/unchanged.ts'
import { addNoteOnce } from '../../notes/note-store.ts'
import { noteBody } from '../../notes/schema.ts'
import { indexNote } from '../../search/index-source.ts'
import { shownTags } from '../../sources/describe-sources.ts'
import { tagsOf } from '../../sources/source-store.ts'
import { setTags } from '../../tags/tag-store.ts'
import { tagNames } from '../../tags/schema.ts'
import { highlightAsGiven } from '../change-highlight.ts'
import { placeInSource } from '../place-in-source.ts'
import { changedPlace } from '../written-place.ts'

const WORD = 200

export const updateHighlight = defineTool({
  name: 'update_highlight',
  family: 'extras',
  title: 'Change a highlight',
  description:
    'Changes the colour, the place or the tags of a highlight, or adds a note to it; what is left out stays as it is. The ' +
    'words themselves cannot be changed: delete the highlight and add another. tags takes the place of all tags it has; ' +
    'to add or remove single tags use tag.',
  input: z.strictObject({
    id: idNumber('Highlight id, from search_highlights or get_source'),
    color: text({ max: 40 }).nullable().describe('Name of the colour; null for none').optional(),
    location: text({ max: 200 })
      .nullable()
      .describe('Where it stands: "page 12", "location 145", a chapter; null for nowhere')
      .optional(),
    timestamp_seconds: z
      .number()
      .min(0)
      .nullable()
      .describe('Seconds from the beginning of a video or podcast; null for none')
      .optional(),
    tags: tagNames.describe('All tags that it is to have; an empty list takes all off').optional(),
    note: noteBody.describe('A note to add; the same note is not added twice').optional(),
    ifUnchangedSince: unchangedSince.optional(),
  }),
  output: z.object({
    id: z.int(),
    color: z.string().nullable(),
    location: z.string().nullable(),
    timestamp_seconds: z.number().nullable(),
    tags: z.array(z.string()),
    /** Of the note that was given. */
    note_id: z.int().optional(),
    updated_at: z.string(),
  }),
  scopes: ['highlights:write'],
  scopesFor: ({ note }) => (note === undefined ? [] : ['notes:write']),
  effect: 'write',
  summary: ({ id }) => `Highlight ${id} is as asked.`,
  run: (library, { id, color, location, timestamp_seconds, tags, note, ifUnchangedSince }) =>
    library.answer(async (change) => {
      const highlight = await highlightAsGiven(change, id)
      checkUnchanged(highlight, ifUnchangedSince)
      const changed = await change.update('highlight', highlight.id, {
        ...(color !== undefined && { color: color?.trim() || null }),
        locator: changedPlace(highlight.locator, { location, seconds: timestamp_seconds }),
        updated_at: change.at,
      })
      if (tags) await setTags(change, highlight.id, tags)
      const added =
        note === undefined
          ? undefined
          : await addNoteOnce(change, {
              sourceId: highlight.source_id,
              highlightId: highlight.id,
              body: note,
            })
      if (added?.created) await indexNote(change, added.note.id)
      const now = changed ?? highlight
      const place = placeInSource(now.locator)
      return {
        id: highlight.id,
        color: now.color,
        location: place.location && cutText(place.location, WORD),
        timestamp_seconds: place.seconds,
        tags: shownTags((await tagsOf(change.db, [highlight.id])).get(highlight.id)),
        ...(added && { note_id: added.note.id }),
        updated_at: now.updated_at,
      }
    }),
})
