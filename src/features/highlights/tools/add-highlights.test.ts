import { beforeEach, describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addSource } from '../../../../test/support/sources.ts'
import type { Library } from '../../../core/library.ts'
import { searchHighlights } from '../../search/tools/search-highlights.ts'
import { listSources } from '../../sources/tools/list-sources.ts'
import { findSource } from '../../sources/source-store.ts'
import { trashSource } from '../../sources/trash.ts'
import { addHighlights } from './add-highlights.ts'

let library: Library
beforeEach(async () => {
  library = await testLibrary()
})

const asked = { confirm: true, user_intent: 'save what I read' }
const BOOK = { type: 'Book', title: 'The Waves', author: 'Virginia Woolf' }
const add = (args: Record<string, unknown>, options = {}) =>
  call(addHighlights, library, { ...asked, ...args }, options)
const refusal = async (args: Record<string, unknown>) =>
  (await failureOfCall(addHighlights, library, { ...asked, ...args })).error
const highlight = (content: string, more = {}) => ({ content, ...more })
const count = async (table: 'source' | 'highlight') =>
  (await library.db.selectFrom(table).select('id').execute()).length

describe('add_highlights', () => {
  it('makes a book that is not there, finds it again by title and author, and adds nothing twice', async () => {
    const first = await add({
      source: { ...BOOK, language: 'en_gb' },
      highlights: [
        highlight('I am rooted, but I flow.', { location: 'page 102' }),
        highlight('How much better is silence.'),
      ],
    })
    expect(first).toMatchObject({
      source_created: true,
      source: { title: 'The Waves', type: 'Book', author: 'Virginia Woolf' },
      created_count: 2,
      highlights: [
        { created: true, content: 'I am rooted, but I flow.', location: 'page 102', state: 'unanchored' },
        { created: true, location: null },
      ],
    })
    const again = await add({
      source: { type: 'Book', title: ' the  WAVES', author: 'virginia woolf' },
      highlights: [
        highlight('I am Rooted, but I flow.', { location: 'p. 102' }),
        highlight('I am rooted, but I flow.', { location: 'page 7' }),
        highlight('How much  better is SILENCE.'),
      ],
    })
    expect(again).toMatchObject({
      source_created: false,
      source_id: first['source_id'],
      created_count: 1,
      highlights: [{ created: false }, { created: true, location: 'page 7' }, { created: false }],
    })
    expect(await count('source')).toBe(1)
    expect(await library.db.selectFrom('source').select('language').execute()).toEqual([
      { language: 'en-GB' },
    ])
  })

  it('finds an article by its address, out of the trash too', async () => {
    const url = 'https://example.test/essay?utm_source=x'
    const { source_id } = await add({
      source: { type: 'Article', title: 'An essay', url },
      highlights: [highlight('One thought.')],
    })
    await library.change(async (change) =>
      trashSource(change, (await findSource(change.db, Number(source_id)))!),
    )
    const again = await add({
      source: { type: 'Article', title: 'Otherwise named', url: 'http://www.example.test/essay' },
      highlights: [highlight('Another thought.')],
    })
    expect(again).toMatchObject({ source_id, source_created: false })
    expect((await call(listSources, library, { q: 'essay' }))['sources']).toMatchObject([
      { highlights_count: 2, title: 'An essay' },
    ])
  })

  it('anchors what the text has once, as the text has it', async () => {
    const text = 'The heron stood\nin the “shallows”. It waited. It waited.'
    const source_id = await addSource(library, { title: 'Herons', text })
    const { highlights } = await add({
      source_id: String(source_id),
      highlights: [
        highlight('heron stood in the "shallows"'),
        highlight('It waited.'),
        highlight('Nowhere to be found.'),
      ],
    })
    expect(highlights).toMatchObject([
      { state: 'anchored', content: 'heron stood\nin the “shallows”' },
      { state: 'unanchored', content: 'It waited.' },
      { state: 'unanchored' },
    ])
    const again = await add({
      source_id,
      highlights: [highlight('HERON stood')],
    })
    expect(again).toMatchObject({ created_count: 1 })
    expect(await add({ source_id, highlights: [highlight('heron stood in the “shallows”')] })).toMatchObject({
      created_count: 0,
    })
  })

  it('keeps the moment of a recording, and finds what was added at once', async () => {
    const { highlights } = await add({
      source: BOOK,
      highlights: [highlight('Spoken words', { timestamp_seconds: 61.5, location: 'Chapter 2' })],
    })
    expect(highlights).toMatchObject([{ timestamp_seconds: 61.5, location: 'Chapter 2' }])
    expect(await call(searchHighlights, library, { query: 'spoken' })).toMatchObject({
      highlights: [{ content: 'Spoken words', timestamp_seconds: 61.5 }],
    })
  })

  it.each([
    ['neither a source nor its id', { highlights: [highlight('x')] }, 'source'],
    ['both', { source_id: 1, source: BOOK, highlights: [highlight('x')] }, 'source'],
    [
      'a book without an author',
      { source: { type: 'Book', title: 'T' }, highlights: [highlight('x')] },
      'source.author',
    ],
    [
      'an article without an address',
      { source: { type: 'Article', title: 'T' }, highlights: [highlight('x')] },
      'source.url',
    ],
    [
      'no address of the web',
      { source: { type: 'Article', title: 'T', url: 'file:///etc/passwd' }, highlights: [highlight('x')] },
      'source.url',
    ],
    ['a blank title', { source: { ...BOOK, title: '  ' }, highlights: [highlight('x')] }, 'source.title'],
    ['no highlights', { source: BOOK, highlights: [] }, 'highlights'],
    [
      '21 highlights',
      { source: BOOK, highlights: Array.from({ length: 21 }, (_, n) => highlight(`w ${n}`)) },
      'highlights',
    ],
    ['a blank highlight', { source: BOOK, highlights: [highlight('fine'), highlight(' ')] }, 'highlights.1'],
    [
      'a moment before the beginning',
      { source: BOOK, highlights: [highlight('x', { timestamp_seconds: -1 })] },
      'timestamp_seconds',
    ],
    ['what no highlight has', { source: BOOK, highlights: [highlight('x', { colour: 'red' })] }, 'colour'],
    ['too long a highlight', { source: BOOK, highlights: [highlight('é'.repeat(2_001))] }, '4,000 bytes'],
  ])('refuses %s and writes nothing', async (_what, args, named) => {
    expect(await refusal(args)).toMatchObject({
      code: 'invalid_input',
      number: -32011,
      message: expect.stringContaining(named),
    })
    expect([await count('source'), await count('highlight')]).toEqual([0, 0])
  })

  it('adds to no source that is not there', async () => {
    expect(await refusal({ source_id: 4, highlights: [highlight('x')] })).toMatchObject({
      code: 'source_not_found',
      number: -32003,
    })
  })

  it('does one thing for one requestId, and keeps what the reader asked for', async () => {
    const args = { source: BOOK, highlights: [highlight('Once.')], requestId: 'r1' }
    expect(await add(args)).toEqual(await add(args))
    expect(await count('highlight')).toBe(1)
    const [entry] = await library.db.selectFrom('audit').select(['tool', 'intent']).execute()
    expect(entry).toEqual({ tool: 'add_highlights', intent: 'save what I read' })
  })

  it('tells nobody of a source who may only write', async () => {
    const source_id = await addSource(library, { title: 'Secret title' })
    const told = await add({ source_id, highlights: [highlight('x')] }, { scopes: ['highlights:write'] })
    expect(JSON.stringify(told)).not.toContain('Secret title')
  })
})
