import { z } from 'zod'
import { defineResource } from '../../../core/define-resource.ts'
import type { Scope } from '../../../core/define-tool.ts'
import { Failure } from '../../../core/failure.ts'
import { parseId } from '../../../core/ids.ts'
import { listPlace, listPlaceOf, pageEnd, pageInput, readPage } from '../../../core/resource-page.ts'
import { describeNotes, fullNote, WHOLE_BODY } from '../describe-notes.ts'
import { countNotes, findNote, listNotes, noteIdsBeginning } from '../note-list-store.ts'

const URI = 'becoming://notes'

const rightsOf = (scopes: ReadonlySet<Scope>) => ({ bookNotes: scopes.has('library:private') })

const mayOf = (scopes: ReadonlySet<Scope>) => ({
  sources: scopes.has('sources:read'),
  highlights: scopes.has('highlights:read'),
})

export const notes = defineResource({
  uri: URI,
  family: 'highlights',
  name: 'notes',
  title: 'Notes',
  description:
    'What the reader wrote about sources and highlights, the latest first, each with what it is on. Holds up to 50; next is ' +
    'the address of those that follow, null at the end, and ?limit=10 gives fewer.',
  input: pageInput,
  output: z.object({ notes: z.array(fullNote), total: z.int(), ...pageEnd.shape }),
  scopes: ['notes:read'],
  async read(library, { limit, cursor }, { scopes }) {
    const rights = rightsOf(scopes)
    const { shown, ...end } = await readPage(library, {
      uri: URI,
      filter: rights.bookNotes ? 'with private ones' : '',
      limit,
      cursor,
      place: listPlace,
      placeOf: listPlaceOf,
      list: (after, most) => listNotes(library.db, rights, { after, limit: most }),
      describe: (rows) => describeNotes(library.db, rows, { may: mayOf(scopes) }),
    })
    return { notes: shown, total: await countNotes(library.db, rights), ...end }
  },
})

export const oneNote = defineResource({
  uri: `${URI}/{id}`,
  family: 'highlights',
  name: 'note',
  title: 'Note',
  description: 'One note of the reader, with the source and the highlight that it is on.',
  input: z.strictObject({ id: z.string() }),
  output: fullNote,
  scopes: ['notes:read'],
  async read(library, { id }, { scopes }) {
    const number = parseId(id)
    const found = number === undefined ? undefined : await findNote(library.db, rightsOf(scopes), number)
    const [note] = found
      ? await describeNotes(library.db, [found], { may: mayOf(scopes), body: WHOLE_BODY })
      : []
    if (note) return note
    throw new Failure('note_not_found', `There is no note ${JSON.stringify(id.slice(0, 64))}.`, {
      hint: `It may have been thrown away. ${URI} has the ids of those that are there.`,
    })
  },
  idsBeginning: ({ db }, digits, most, { scopes }) => noteIdsBeginning(db, rightsOf(scopes), digits, most),
})
