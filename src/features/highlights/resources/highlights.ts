import { z } from 'zod'
import { defineResource } from '../../../core/define-resource.ts'
import { Failure } from '../../../core/failure.ts'
import { parseId } from '../../../core/ids.ts'
import { listPlace, listPlaceOf, pageEnd, pageInput, readPage } from '../../../core/resource-page.ts'
import { ALL_WORDS, describeHighlights, fullHighlight } from '../describe-highlights.ts'
import { countHighlights, findHighlight, highlightIdsBeginning, listRecent } from '../highlight-list-store.ts'

const URI = 'becoming://highlights'

export const recentHighlights = defineResource({
  uri: URI,
  family: 'highlights',
  name: 'recent-highlights',
  title: 'Recent highlights',
  description:
    'The passages that the reader marked, the latest first, each with its source, place, tags and number of notes. ' +
    'Holds up to 50; next is the address of those that follow, null at the end, and ?limit=10 gives fewer.',
  input: pageInput,
  output: z.object({ highlights: z.array(fullHighlight), total: z.int(), ...pageEnd.shape }),
  scopes: ['highlights:read'],
  async read(library, { limit, cursor }, { scopes }) {
    const may = { notes: scopes.has('notes:read') }
    const { shown, ...end } = await readPage(library, {
      uri: URI,
      limit,
      cursor,
      place: listPlace,
      placeOf: listPlaceOf,
      list: (after, most) => listRecent(library.db, { after, limit: most }),
      describe: (rows) => describeHighlights(library.db, rows, { may }),
    })
    return { highlights: shown, total: await countHighlights(library.db), ...end }
  },
})

export const oneHighlight = defineResource({
  uri: `${URI}/{id}`,
  family: 'highlights',
  name: 'highlight',
  title: 'Highlight',
  description:
    'One passage that the reader marked, word for word, with its source, its place there, tags, colour and number of notes.',
  input: z.strictObject({ id: z.string() }),
  output: fullHighlight,
  scopes: ['highlights:read'],
  async read(library, { id }, { scopes }) {
    const number = parseId(id)
    const found = number === undefined ? undefined : await findHighlight(library.db, number)
    const may = { notes: scopes.has('notes:read') }
    const [highlight] = found ? await describeHighlights(library.db, [found], { may, words: ALL_WORDS }) : []
    if (highlight) return highlight
    throw new Failure('highlight_not_found', `There is no highlight ${JSON.stringify(id.slice(0, 64))}.`, {
      hint: `It may have been thrown away. ${URI} has the ids of those that are there.`,
    })
  },
  idsBeginning: ({ db }, digits, most) => highlightIdsBeginning(db, digits, most),
})
