import { describe, expect, it } from 'vitest'
import { call, failureOfCall, type CallOptions } from '../../../../test/support/call.ts'
import { conceptEmbedder } from '../../../../test/support/embedder.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import type { Library } from '../../../core/library.ts'
import { deleteHighlight } from '../../highlights/tools/delete-highlight.ts'
import { findSource } from '../../sources/source-store.ts'
import { trashSource } from '../../sources/trash.ts'
import { embedPassages } from '../jobs/embed-passages.ts'
import { findRelated } from './find-related.ts'

const GROUPS = [
  ['sea', 'ocean', 'waves', 'tide'],
  ['bread', 'loaf', 'dough', 'oven'],
  ['winter', 'snow', 'frost', 'ice'],
]
const run = { id: 1, attempt: 1, signal: new AbortController().signal, progress: async () => {} }

/** An embedder that may be asked while the library is filled, and never after. */
function embedderForFilling() {
  const embedder = conceptEmbedder(GROUPS)
  let closed = false
  return {
    close: () => (closed = true),
    embedder: {
      ...embedder,
      embed: async (...args: Parameters<typeof embedder.embed>) => {
        if (closed) throw new Error('asked a model while reading')
        return embedder.embed(...args)
      },
    },
  }
}

async function filled({ embedded = true, model = true } = {}) {
  const { embedder, close } = embedderForFilling()
  const library = await testLibrary(model ? { embedder } : {})
  const ids = {
    coast: await addTestSource(library, {
      title: 'Coast',
      highlights: ['The sea gives and takes', 'Ocean at the door'],
    }),
    tides: await addTestSource(library, { title: 'Tides', highlights: ['Waves follow the tide at sea'] }),
    baking: await addTestSource(library, { title: 'Baking', highlights: ['A loaf is dough and patience'] }),
    north: await addTestSource(library, {
      title: 'North',
      highlights: ['Ice on the tide in winter', 'Frost before snow'],
      text: 'Snow fell on the winter sea.',
    }),
    unread: await addTestSource(library, { title: 'Unread', text: 'dough and oven, bread and loaf' }),
  }
  if (model && embedded) await embedPassages.run(library, {}, run)
  close()
  const rows = await library.db.selectFrom('highlight').select(['id', 'quote']).execute()
  const idOf = (quote: string) => rows.find((row) => row.quote.startsWith(quote))!.id
  return { library, ids, idOf }
}

interface Found {
  highlights: { id: number; content: string; score: number; source: { title: string } }[]
  meta: { mode: string; note?: string; truncated: boolean }
}

const related = async (library: Library, args: object, options?: CallOptions): Promise<Found> =>
  (await call(findRelated, library, { ...args }, options)) as unknown as Found

const titlesOf = ({ highlights }: Found) => highlights.map(({ source }) => source.title)

describe('find_related', () => {
  it('gives the highlights of other sources that are nearest to a highlight, and asks no model', async () => {
    const { library, idOf } = await filled()
    const found = await related(library, { highlight_id: idOf('The sea') })
    expect(titlesOf(found)).toEqual(['Tides', 'North'])
    expect(found.meta).toEqual({ mode: 'semantic', truncated: false })
    expect(found.highlights[0]!.score).toBeGreaterThan(found.highlights[1]!.score)
  })

  it('gives those of the same source too where that is asked, never the highlight itself', async () => {
    const { library, idOf } = await filled()
    const found = await related(library, { highlight_id: idOf('The sea'), include_same_source: true })
    expect(found.highlights.map(({ content }) => content)).toEqual([
      'Ocean at the door',
      'Waves follow the tide at sea',
      'Ice on the tide in winter',
    ])
  })

  it('gives those nearest to what was marked in a source, or to its text where nothing was', async () => {
    const { library, ids } = await filled()
    expect(titlesOf(await related(library, { source_id: ids.north }))).toEqual(
      ['Coast', 'Coast', 'Tides'].toSorted(),
    )
    expect(titlesOf(await related(library, { source_id: String(ids.unread) }))).toEqual(['Baking'])
  })

  it('gives as many as asked for, and says that there are more', async () => {
    const { library, ids } = await filled()
    const found = await related(library, { source_id: ids.north, limit: 1 })
    expect(found.highlights).toHaveLength(1)
    expect(found.meta.truncated).toBe(true)
  })

  it.each([{ embedded: false }, { model: false }])('goes by the rarest words with %j', async (how) => {
    const { library, idOf } = await filled(how)
    const found = await related(library, { highlight_id: idOf('Waves') })
    expect(titlesOf(found).toSorted()).toEqual(['Coast', 'North'])
    expect(found.meta).toMatchObject({ mode: 'fulltext', note: expect.stringContaining('by words') })
  })

  it('gives nothing out of the trash, and finds nothing for what lies there', async () => {
    const { library, ids, idOf } = await filled()
    await call(deleteHighlight, library, { id: idOf('Waves') })
    await library.change(async (change) => trashSource(change, (await findSource(change.db, ids.north))!))
    expect(titlesOf(await related(library, { highlight_id: idOf('The sea') }))).toEqual([])
    expect(await failureOfCall(findRelated, library, { highlight_id: idOf('Waves') })).toMatchObject({
      code: 'highlight-not-found',
    })
    expect(await failureOfCall(findRelated, library, { highlight_id: idOf('Frost') })).toMatchObject({
      code: 'highlight-not-found',
    })
    expect(await failureOfCall(findRelated, library, { source_id: ids.north })).toMatchObject({
      code: 'source-not-found',
    })
  })

  it.each([{}, { highlight_id: 1, source_id: 2 }, { highlight_id: 1, limit: 51 }, { highlight_id: 0 }])(
    'refuses %j',
    async (args) => {
      const { library } = await filled()
      expect(await failureOfCall(findRelated, library, args)).toMatchObject({ code: 'invalid-input' })
    },
  )

  it('needs the right to read highlights, and for a source that to read sources', async () => {
    const { library, ids, idOf } = await filled()
    const only = { scopes: ['highlights:read'] } as const
    expect(titlesOf(await related(library, { highlight_id: idOf('The sea') }, only))).toHaveLength(2)
    expect(await failureOfCall(findRelated, library, { source_id: ids.north }, only)).toMatchObject({
      error: { code: 'insufficient_scope' },
    })
    const other = { scopes: ['sources:read'] } as const
    expect(await failureOfCall(findRelated, library, { source_id: ids.north }, other)).toMatchObject({
      error: { code: 'insufficient_scope' },
    })
  })
})
