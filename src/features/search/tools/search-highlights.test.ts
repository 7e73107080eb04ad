import { beforeEach, describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { conceptEmbedder } from '../../../../test/support/embedder.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import { SCOPES } from '../../../core/define-tool.ts'
import type { Library } from '../../../core/library.ts'
import { addNote } from '../../notes/note-store.ts'
import { findSource } from '../../sources/source-store.ts'
import { trashSource } from '../../sources/trash.ts'
import { addTags } from '../../tags/tag-store.ts'
import { indexNote } from '../index-source.ts'
import { embedPassages } from '../jobs/embed-passages.ts'
import { searchHighlights } from './search-highlights.ts'

let library: Library
beforeEach(async () => {
  library = await testLibrary({
    embedder: conceptEmbedder([
      ['boat', 'ship', 'vessel'],
      ['bread', 'loaf'],
    ]),
  })
})

const embedAll = () =>
  embedPassages.run(
    library,
    {},
    { id: 1, attempt: 1, signal: new AbortController().signal, progress: async () => {} },
  )
const search = (args: Record<string, unknown>, options = {}) => call(searchHighlights, library, args, options)
const contents = (output: Record<string, unknown>) =>
  (output['highlights'] as { content: string }[]).map(({ content }) => content)
const idOf = async (quote: string) =>
  (await library.db.selectFrom('highlight').select('id').where('quote', '=', quote).executeTakeFirstOrThrow())
    .id

async function noteOn(quote: string, body: string): Promise<void> {
  const highlightId = await idOf(quote)
  const { source_id } = await library.db
    .selectFrom('highlight')
    .select('source_id')
    .where('id', '=', highlightId)
    .executeTakeFirstOrThrow()
  await library.change(async (change) => {
    const note = await addNote(change, { sourceId: source_id, highlightId, body })
    await indexNote(change, note.id)
  })
}

describe('search_highlights', () => {
  it('finds single highlights, and neither titles nor texts', async () => {
    const id = await addTestSource(library, {
      title: 'Harbour life',
      kind: 'book',
      authors: ['Ada Roe'],
      text: 'The harbour at dawn.',
      highlights: ['A harbour is no home.', 'Nets dry in the sun.', 'The harbour freezes over.'],
    })
    const found = await search({ query: 'harbour', mode: 'fulltext' })
    expect(contents(found).toSorted()).toEqual(['A harbour is no home.', 'The harbour freezes over.'])
    expect(found).toMatchObject({
      meta: { mode: 'fulltext', total: 2, truncated: false, next_cursor: null },
      nextCursor: null,
    })
    expect((found['highlights'] as unknown[])[0]).toMatchObject({
      location: null,
      note_count: 0,
      tags: [],
      matched: 'words',
      source: { id, title: 'Harbour life', type: 'Book', author: 'Ada Roe' },
    })
  })

  it('finds by meaning, and by both', async () => {
    await addTestSource(library, {
      title: 'One',
      highlights: ['The vessel lay at anchor.', 'He baked a loaf.', 'A boat on the lake.'],
    })
    await embedAll()
    expect(contents(await search({ query: 'ship', mode: 'semantic' })).toSorted()).toEqual([
      'A boat on the lake.',
      'The vessel lay at anchor.',
    ])
    const both = await search({ query: 'bread' })
    expect(contents(both)).toEqual(['He baked a loaf.'])
    expect(both['meta']).toMatchObject({ mode: 'hybrid' })
  })

  it('finds the one highlight among a great many texts that mean the same', async () => {
    for (let n = 0; n < 12; n++)
      await addTestSource(library, { title: `No. ${n}`, text: 'A boat, a ship, a vessel. '.repeat(900) })
    await addTestSource(library, { title: 'One', highlights: ['Some vessel or other, and a loaf.'] })
    await embedAll()
    expect(contents(await search({ query: 'ship', mode: 'semantic' }))).toEqual([
      'Some vessel or other, and a loaf.',
    ])
  })

  it('goes by words and says so where nothing can be embedded', async () => {
    const plain = await testLibrary()
    await addTestSource(plain, { title: 'One', highlights: ['A boat on the lake.'] })
    for (const mode of ['hybrid', 'semantic'])
      expect(await call(searchHighlights, plain, { query: 'boat', mode })).toMatchObject({
        highlights: [{ content: 'A boat on the lake.' }],
        meta: { mode: 'fulltext', note: expect.stringContaining('words') },
      })
  })

  it('keeps the words of different highlights of a source apart', async () => {
    await addTestSource(library, {
      title: 'One',
      highlights: ['Salt keeps the fish.', 'Salt and honey.', 'Honey never spoils.'],
    })
    const [first] = contents(await search({ query: 'salt honey', mode: 'fulltext' }))
    expect(first).toBe('Salt and honey.')
    expect(contents(await search({ query: '"salt" "honey"', mode: 'fulltext' }))).toEqual(['Salt and honey.'])
    expect(contents(await search({ query: 'salt -honey', mode: 'fulltext' }))).toEqual([
      'Salt keeps the fish.',
    ])
  })

  it('looks into notes where they may be read, and names the highlight', async () => {
    await addTestSource(library, { title: 'One', highlights: ['Nets dry.'], comments: ['zanzibar alone'] })
    await noteOn('Nets dry.', 'zanzibar marginalia')
    expect(contents(await search({ query: 'zanzibar' }))).toEqual(['Nets dry.'])
    const without = { scopes: SCOPES.filter((scope) => scope !== 'notes:read') }
    const blind = await search({ query: 'zanzibar' }, without)
    expect(blind).toMatchObject({ highlights: [], meta: { total: 0 } })
    expect(JSON.stringify(await search({ query: 'nets' }, without))).not.toContain('note_count')
  })

  it('of one source alone, whichever id it goes by', async () => {
    const one = await addTestSource(library, { title: 'One', highlights: ['Bees hum.'] })
    for (let n = 0; n < 30; n++)
      await addTestSource(library, { title: `Other ${n}`, highlights: ['Bees hum elsewhere.', 'Bees hum.'] })
    await library.change((change) => change.insert('alias', { id: 12_345, target_id: one }))
    for (const source_id of [one, String(one), 12_345])
      expect(await search({ query: 'bees', source_id })).toMatchObject({
        highlights: [{ content: 'Bees hum.', source: { id: one } }],
        meta: { total: 1 },
      })
    await library.change(async (change) => trashSource(change, (await findSource(change.db, one))!))
    const refused = await failureOfCall(searchHighlights, library, { query: 'bees', source_id: one })
    expect(refused).toMatchObject({ code: 'source-not-found', hint: expect.stringContaining('trash') })
    expect(refused.error.number).toBe(-32003)
    expect((await failureOfCall(searchHighlights, library, { query: 'bees', source_id: 5 })).error.code).toBe(
      'source_not_found',
    )
  })

  it('narrows by the tags of a highlight or of its source', async () => {
    await addTestSource(library, {
      title: 'One',
      highlights: ['Bees hum.', 'Bees sting.'],
      tags: ['insects'],
    })
    await addTestSource(library, { title: 'Two', highlights: ['Bees sleep.'] })
    const sting = await idOf('Bees sting.')
    await library.change((change) => addTags(change, sting, ['pain']))
    expect(contents(await search({ query: 'bees tag:pain' }))).toEqual(['Bees sting.'])
    expect(contents(await search({ query: 'bees tag:insects' })).toSorted()).toEqual([
      'Bees hum.',
      'Bees sting.',
    ])
    expect(contents(await search({ query: 'bees -tag:pain' })).toSorted()).toEqual([
      'Bees hum.',
      'Bees sleep.',
    ])
    expect(contents(await search({ query: 'tag:insects' })).toSorted()).toEqual(['Bees hum.', 'Bees sting.'])
  })

  it.each(["don't", '"open', 'C++', 'AND', 'a OR', 'node:20.04', '*', '(', '😀', 'a'.repeat(4_096), '   '])(
    'takes %j for words and no syntax',
    async (query) => {
      await addTestSource(library, { title: 'One', highlights: ['Bees hum.'] })
      expect(await search({ query })).toHaveProperty('highlights')
    },
  )

  it('finds words of scripts without spaces, and whatever the accents', async () => {
    await addTestSource(library, {
      title: 'One',
      highlights: ['資料庫遷移前一定要先備份', '日健クリニック', 'naïve café', 'Straße'],
    })
    const found = async (query: string) => contents(await search({ query, mode: 'fulltext' }))
    expect(await found('備份')).toEqual(['資料庫遷移前一定要先備份'])
    expect(await found('cafe')).toEqual(['naïve café'])
    expect(await found('STRASSE')).toEqual(['Straße'])
  })
})
