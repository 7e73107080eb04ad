import { beforeEach, describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import type { Library } from '../../../core/library.ts'
import { addHighlight } from './add-highlight.ts'

const TEXT = 'One two three.\nFour\u00a0five\n\nSix “salt” 😀, and salt again. Salt, then.'

let library: Library
let id: string
beforeEach(async () => {
  library = await testLibrary()
  id = String(await addTestSource(library, { title: 'Salt', text: TEXT }))
})

const count = async (table: 'highlight' | 'note' | 'audit') =>
  (await library.db.selectFrom(table).selectAll().execute()).length
const textId = async () => (await library.db.selectFrom('text').select('id').executeTakeFirstOrThrow()).id

describe('add_highlight', () => {
  it('highlights words over lines and shows them as they stand in the text', async () => {
    const output = await call(addHighlight, library, { id, quote: 'two three. four five' })
    expect(output).toEqual({
      created: true,
      highlight: {
        id: expect.stringMatching(/^\d+$/),
        itemId: id,
        quote: 'two three.\nFour\u00a0five',
        start: 4,
        end: 24,
        textVersion: String(await textId()),
        matched: 'folded',
        state: 'anchored',
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    })
  })

  it('counts offsets in code points', async () => {
    const { highlight } = await call(addHighlight, library, { id, quote: 'and salt again' })
    expect(highlight).toMatchObject({ start: 40, end: 54, matched: 'exact' })
  })

  it('keeps a W3C selector: the words, 32 characters around them, the version', async () => {
    await call(addHighlight, library, { id, quote: 'Six' })
    expect(await library.db.selectFrom('highlight').selectAll().executeTakeFirst()).toMatchObject({
      quote: 'Six',
      prefix: 'One two three.\nFour\u00a0five\n\n',
      suffix: ' “salt” 😀, and salt again. Salt,',
      origin: 'reader',
    })
  })

  it('says how often a quote repeats and takes the one that is chosen', async () => {
    const failure = await failureOfCall(addHighlight, library, { id, quote: 'salt' })
    expect(failure).toMatchObject({
      code: 'quote-ambiguous',
      matches: 2,
      contexts: [
        { occurrence: 0, text: 'One two three. Four five Six “[salt]” 😀, and salt again. Salt, then.' },
        { occurrence: 1 },
      ],
      hint: expect.stringContaining('occurrence'),
      error: { code: 'quote_ambiguous', number: -32011, details: { matches: 2 } },
    })
    const { highlight } = await call(addHighlight, library, { id, quote: 'salt', occurrence: '1' })
    expect(highlight).toMatchObject({ quote: 'salt', start: 44 })
    expect(await failureOfCall(addHighlight, library, { id, quote: 'SALT' })).toMatchObject({ matches: 3 })
    const third = await call(addHighlight, library, { id, quote: 'SALT', occurrence: 2 })
    expect(third['highlight']).toMatchObject({ quote: 'Salt', matched: 'folded' })
  })

  it('shows at most five of many matches', async () => {
    const many = String(await addTestSource(library, { title: 'Many', text: 'word '.repeat(80) }))
    const failure = await failureOfCall(addHighlight, library, { id: many, quote: 'word' })
    expect(failure).toMatchObject({ matches: 80 })
    expect(failure.error.details?.['contexts']).toHaveLength(5)
  })

  it.each([
    ['salt', 2, '2 times'],
    ['Six', 1, 'once'],
  ])('refuses an occurrence of %j that is not there', async (quote, occurrence, times) => {
    const failure = await failureOfCall(addHighlight, library, { id, quote, occurrence })
    expect(failure).toMatchObject({ code: 'invalid-input', matches: occurrence })
    expect(failure.error.message).toContain(times)
  })

  it('offers the nearest words for a quote that is not there and never takes them', async () => {
    const failure = await failureOfCall(addHighlight, library, { id, quote: 'One too three, four five' })
    expect(failure).toMatchObject({
      code: 'quote-not-found',
      closest: 'One two three.\nFour\u00a0five',
      hint: expect.stringContaining('read_item'),
    })
    const absent = await failureOfCall(addHighlight, library, { id, quote: 'nothing of the kind' })
    expect(absent.error.details).toEqual({ matches: 0 })
    expect(await failureOfCall(addHighlight, library, { id, quote: 'salt 9', occurrence: 0 })).toMatchObject({
      code: 'quote-not-found',
    })
    expect(await count('highlight')).toBe(0)
  })

  it('adds the same highlight and comment once, another comment to the one that stands', async () => {
    const one = await call(addHighlight, library, { id, quote: 'Six', comment: 'Why six?' })
    const again = await call(addHighlight, library, { id, quote: 'six', comment: 'Why six?' })
    expect(again).toEqual({ ...one, created: false })
    expect(one['comment']).toMatchObject({
      body: 'Why six?',
      highlightId: (one['highlight'] as { id: string }).id,
    })
    await call(addHighlight, library, { id, quote: 'Six', comment: 'Seven' })
    expect([await count('highlight'), await count('note')]).toEqual([1, 2])
    expect(await count('audit')).toBe(2)
  })

  it('makes highlight and comment searchable in the same change', async () => {
    await call(addHighlight, library, { id, quote: 'Six', comment: 'Why six?' })
    const bodies = await library.db
      .selectFrom('passage')
      .select(['kind', 'body'])
      .where('kind', 'in', ['highlight', 'note'])
      .orderBy('kind')
      .execute()
    expect(bodies).toEqual([
      { kind: 'highlight', body: 'Six' },
      { kind: 'note', body: 'Why six?' },
    ])
  })

  it('gives the first result of a requestId again', async () => {
    const args = { id, quote: 'Six', comment: 'x', requestId: 'r1' }
    const one = await call(addHighlight, library, args)
    expect(await call(addHighlight, library, args)).toEqual(one)
    expect(await failureOfCall(addHighlight, library, { ...args, quote: 'One' })).toMatchObject({
      code: 'invalid-input',
    })
  })

  it('refuses what cannot be a quote, naming the field', async () => {
    for (const quote of ['', ' \n', '\u200b\u00a0']) {
      const failure = await failureOfCall(addHighlight, library, { id, quote })
      expect(failure).toMatchObject({ code: 'invalid-input' })
      expect(failure.error.message).toContain('quote')
    }
    const long = await failureOfCall(addHighlight, library, { id, quote: 'é'.repeat(2_001) })
    expect(long.error.message).toContain('at most 4,000 bytes of UTF-8 and holds 4,002')
    expect(await failureOfCall(addHighlight, library, { id, quote: 'é'.repeat(2_000) })).toMatchObject({
      code: 'quote-not-found',
    })
    for (const bad of [
      { comment: '\t' },
      { comment: 'x'.repeat(10_001) },
      { occurrence: -1 },
      { note: 'x' },
    ]) {
      const failure = await failureOfCall(addHighlight, library, { id, quote: 'Six', ...bad })
      expect(failure).toMatchObject({ code: 'invalid-input' })
      expect(failure.error.message).toContain(Object.keys(bad)[0])
    }
    expect(await count('highlight')).toBe(0)
  })

  it('refuses items that are missing, in the trash, or without a text', async () => {
    expect(await failureOfCall(addHighlight, library, { id: '7', quote: 'x' })).toMatchObject({
      code: 'item-not-found',
    })
    const bare = String(await addTestSource(library, { title: 'Bare' }))
    expect(await failureOfCall(addHighlight, library, { id: bare, quote: 'x' })).toMatchObject({
      code: 'not-captured',
    })
    await library.change((change) => change.update('source', Number(id), { trashed_at: change.at }))
    expect(await failureOfCall(addHighlight, library, { id, quote: 'Six' })).toMatchObject({
      code: 'item-not-found',
    })
  })

  it('needs notes:write for a comment only', async () => {
    const scopes = ['highlights:write'] as const
    await call(addHighlight, library, { id, quote: 'Six' }, { scopes })
    const failure = await failureOfCall(addHighlight, library, { id, quote: 'Six', comment: 'x' }, { scopes })
    expect(failure).toMatchObject({ code: 'insufficient-scope', missing: ['notes:write'] })
    expect(await count('note')).toBe(0)
  })
})
