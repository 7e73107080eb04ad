import { z } from 'zod'
import { defineResource } from '../../../core/define-resource.ts'
import { Failure } from '../../../core/failure.ts'
import { parseId } from '../../../core/ids.ts'
import { listPlace, listPlaceOf, pageEnd, pageInput, readPage } from '../../../core/resource-page.ts'
import { jsonBytes, ROOM } from '../../../core/room.ts'
import { describeEntries, highlightEntry } from '../../highlights/describe-highlights.ts'
import { listInSource, readingPlace, readingPlaceOf } from '../../highlights/highlight-list-store.ts'
import { describeSources, sourceEntry } from '../describe-sources.ts'
import { countSources } from '../source-count-store.ts'
import { listSources, sourceIdsBeginning } from '../source-list-store.ts'
import { findSource } from '../source-store.ts'

const URI = 'becoming://sources'

export const sources = defineResource({
  uri: URI,
  family: 'highlights',
  name: 'sources',
  title: 'Sources',
  description:
    'What the reader has read or saved: books, articles, videos and podcasts, the last added first, each with the number of ' +
    'its highlights. Holds up to 50; next is the address of those that follow, null at the end, and ?limit=10 gives fewer.',
  input: pageInput,
  output: z.object({ sources: z.array(sourceEntry), total: z.int(), ...pageEnd.shape }),
  scopes: ['sources:read'],
  async read(library, { limit, cursor }, { scopes }) {
    const may = { notes: scopes.has('notes:read') }
    const { shown, ...end } = await readPage(library, {
      uri: URI,
      limit,
      cursor,
      place: listPlace,
      placeOf: listPlaceOf,
      list: (after, most) => listSources(library.db, { after, limit: most }),
      describe: (rows) => describeSources(library.db, rows, may),
    })
    return { sources: shown, total: await countSources(library.db), ...end }
  },
})

export const oneSource = defineResource({
  uri: `${URI}/{id}`,
  family: 'highlights',
  name: 'source',
  title: 'Source with its highlights',
  description:
    'One book, article, video or podcast with the passages that the reader marked in it, in the order of the text. Where they ' +
    'are many, next is the address of those that follow. Without the right to read highlights it has their number alone.',
  input: pageInput.extend({ id: z.string() }),
  output: sourceEntry.extend({
    /** In the order of the text; absent without `highlights:read`. */
    highlights: z.array(highlightEntry).optional(),
    ...pageEnd.shape,
  }),
  scopes: ['sources:read'],
  async read(library, { id, limit, cursor }, { scopes }) {
    const { db } = library
    const number = parseId(id)
    const found = number === undefined ? undefined : await findSource(db, number)
    if (!found || found.trashed_at !== null) throw noSource(id, found !== undefined)
    const may = { notes: scopes.has('notes:read') }
    const [source] = await describeSources(db, [found], may)
    if (!source) throw noSource(id, false)
    if (!scopes.has('highlights:read')) return { ...source, next: null, meta: { next_cursor: null } }
    const { shown, ...end } = await readPage(library, {
      uri: `${URI}/${found.id}`,
      limit,
      cursor,
      place: readingPlace,
      placeOf: readingPlaceOf,
      list: (after, most) => listInSource(db, found.id, { after, limit: most }),
      describe: (rows) => describeEntries(db, rows, { may }),
      room: ROOM - jsonBytes(source),
    })
    return { ...source, highlights: shown, ...end }
  },
  idsBeginning: ({ db }, digits, most) => sourceIdsBeginning(db, digits, most),
})

const noSource = (id: string, trashed: boolean): Failure =>
  new Failure('source_not_found', `There is no source ${JSON.stringify(id.slice(0, 64))} in the library.`, {
    hint: trashed
      ? 'It is in the trash: the reader can take it out with `commonplace restore`.'
      : `${URI} has the ids of those that are there.`,
  })
