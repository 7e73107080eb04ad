import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { failureOfReading, read } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import { SCOPES } from '../../../core/define-tool.ts'
import type { Library } from '../../../core/library.ts'
import { addTags } from '../../tags/tag-store.ts'
import type { FullHighlight } from '../describe-highlights.ts'

const URI = 'becoming://highlights'

let library: Library
let sourceId: number
beforeEach(async () => {
  library = await testLibrary()
  sourceId = await addTestSource(library, {
    title: 'The Book of Salt',
    kind: 'book',
    authors: ['Monique Truong', 'An Editor'],
    url: 'https://salt.example/book',
  })
})

interface Given {
  quote?: string
  at?: string
  locator?: string
  color?: string
  source?: number
}

/** Numbers the minutes, so that no two highlights are of one instant unless a test says so. */
let minute = 0
const mark = ({
  quote = 'Salt remembers.',
  at,
  locator,
  color,
  source = sourceId,
}: Given = {}): Promise<number> =>
  library.change((change) => {
    const created_at = at ?? new Date(Date.UTC(2026, 0, 1, 0, minute++)).toISOString()
    return change.insert('highlight', {
      source_id: source,
      quote,
      state: 'unanchored',
      origin: 'import',
      locator,
      color,
      created_at,
      updated_at: created_at,
    })
  })

const note = (highlight: number, kind: 'comment' | 'book' = 'comment'): Promise<number> =>
  library.change((change) =>
    change.insert('note', {
      source_id: sourceId,
      highlight_id: highlight,
      kind,
      body: 'Why?',
      created_at: change.at,
      updated_at: change.at,
    }),
  )

const trash = (table: 'highlight' | 'source' | 'note', id: number) =>
  library.change((change) => change.update(table, id, { trashed_at: change.at }))

const highlightsOf = (page: Record<string, unknown>) => page['highlights'] as FullHighlight[]
const idsOf = (page: Record<string, unknown>) => highlightsOf(page).map(({ id }) => id)
const without = (...scopes: string[]) => ({ scopes: SCOPES.filter((scope) => !scopes.includes(scope)) })

describe('becoming://highlights/{id}', () => {
  it('gives the words with their source, place, tags, colour and number of notes', async () => {
    const id = await mark({ quote: 'Salt, “as it is” 🧂', locator: '{"page":12}', color: 'yellow' })
    await library.change((change) => addTags(change, id, ['Sea', 'food']))
    await note(id)
    await trash('note', await note(id))
    const highlight = await read(library, `${URI}/${id}`)
    expect(highlight).toEqual({
      id,
      content: 'Salt, “as it is” 🧂',
      location: 'page 12',
      timestamp_seconds: null,
      color: 'yellow',
      state: 'unanchored',
      tags: ['food', 'Sea'],
      note_count: 1,
      created_at: expect.stringMatching(/^2026-01-01T/),
      updated_at: expect.stringMatching(/^2026-01-01T/),
      source: {
        id: sourceId,
        title: 'The Book of Salt',
        type: 'Book',
        author: 'Monique Truong, An Editor',
        cover_url: null,
        url: 'https://salt.example/book',
      },
    })
  })

  it('tells nothing of notes without the right to read them', async () => {
    const id = await mark()
    await note(id)
    const highlight = await read(library, `${URI}/${id}`, without('notes:read'))
    expect(highlight).not.toHaveProperty('note_count')
    expect(highlight).toMatchObject({ id, source: { id: sourceId } })
  })

  it('gives the seconds of what was heard', async () => {
    const id = await mark({ locator: '{"seconds":83.5}' })
    expect(await read(library, `${URI}/${id}`)).toMatchObject({ location: null, timestamp_seconds: 83.5 })
  })

  it('finds an id that was given up for another', async () => {
    const id = await mark()
    const old = await library.change(async (change) => {
      const first = await change.newId()
      const second = await change.newId()
      await change.insert('alias', { id: first, target_id: second })
      await change.insert('alias', { id: second, target_id: id })
      return first
    })
    expect(await read(library, `${URI}/${old}`)).toMatchObject({ id })
  })

  it('is gone with itself, its source or its number', async () => {
    const thrown = await mark()
    await trash('highlight', thrown)
    const other = await addTestSource(library, { title: 'Gone' })
    const ofThrown = await mark({ source: other })
    await trash('source', other)
    for (const id of [thrown, ofThrown, sourceId, 7, 'x1', '9'.repeat(40), '-1', '1.5', '%zz']) {
      expect(await failureOfReading(library, `${URI}/${id}`)).toMatchObject({ code: 'highlight-not-found' })
    }
  })

  it('cuts what no one could have marked, between characters', async () => {
    const quote = `${'🧂'.repeat(20_000)}`
    const highlight = await read(library, `${URI}/${await mark({ quote })}`)
    expect(highlight['content_truncated']).toBe(true)
    expect(quote.startsWith(String(highlight['content']))).toBe(true)
    expect(String(highlight['content'])).toMatch(/^🧂+$/u)
  })
})

describe('becoming://highlights', () => {
  it('is empty at first', async () => {
    expect(await read(library, URI)).toEqual({
      highlights: [],
      total: 0,
      next: null,
      meta: { next_cursor: null },
    })
  })

  it('gives the latest first, of one instant the one with the higher number, without what was thrown away', async () => {
    const first = await mark()
    const second = await mark({ at: '2026-02-01T00:00:00.000Z' })
    const third = await mark({ at: '2026-02-01T00:00:00.000Z' })
    await trash('highlight', await mark())
    const other = await addTestSource(library, { title: 'Gone', highlights: ['Not this'] })
    await trash('source', other)
    const page = await read(library, URI)
    expect(idsOf(page)).toEqual([third, second, first])
    expect(page).toMatchObject({ total: 3, next: null })
    expect(highlightsOf(page)[0]?.source.title).toBe('The Book of Salt')
  })

  it('goes on at the address it gives, and everything that stays appears once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.constantFrom('same', 'other', 'thrown away'), { maxLength: 12 }),
        async (limit, kinds) => {
          library = await testLibrary()
          sourceId = await addTestSource(library, { title: 'Salt' })
          const stay: number[] = []
          for (const kind of kinds) {
            const id = await mark(kind === 'same' ? { at: '2026-03-01T00:00:00.000Z' } : {})
            if (kind === 'thrown away') await trash('highlight', id)
            else stay.push(id)
          }
          const seen: number[] = []
          let uri: string | null = `${URI}?limit=${limit}`
          while (uri !== null) {
            const page: Record<string, unknown> = await read(library, uri)
            expect(page['total']).toBeLessThanOrEqual(kinds.length * 2)
            expect(idsOf(page).length).toBeLessThanOrEqual(limit)
            seen.push(...idsOf(page))
            uri = page['next'] as string | null
            // What is new belongs to the beginning, which has been read already.
            if (uri !== null) await mark({ at: '2027-01-01T00:00:00.000Z' })
          }
          expect(seen.toSorted()).toEqual(stay.toSorted())
        },
      ),
      { numRuns: 15 },
    )
  })

  it('holds less than about 10,000 tokens, whatever is in the library, and goes on', async () => {
    const long = await addTestSource(library, {
      title: '長'.repeat(5_000),
      authors: Array.from({ length: 200 }, (_, n) => `Author ${n}`),
      url: `https://salt.example/${'x'.repeat(9_000)}`,
    })
    for (let n = 0; n < 30; n++) await mark({ quote: `${n} ${'"ひ"'.repeat(3_000)}`, source: long })
    const seen = new Set<number>()
    for (let uri: string | null = URI; uri !== null;) {
      const page: Record<string, unknown> = await read(library, uri)
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(33_000)
      expect(highlightsOf(page)[0]).toMatchObject({ content_truncated: true, source: { url: null } })
      for (const id of idsOf(page)) seen.add(id)
      uri = page['next'] as string | null
    }
    expect(seen.size).toBe(30)
  })

  it('refuses what it does not take, by name', async () => {
    for (const [query, field] of [
      ['limit=0', 'limit'],
      ['limit=51', 'limit'],
      ['limit=ten', 'limit'],
      ['offset=3', 'offset'],
      ['cursor=nonsense', 'cursor'],
      ['id=3', 'id'],
    ] as const) {
      const failure = await failureOfReading(library, `${URI}?${query}`)
      expect(failure).toMatchObject({ code: 'invalid-input' })
      expect(failure.error.message).toContain(field)
    }
  })

  it('is not to be had without its scope', async () => {
    expect(await failureOfReading(library, URI, without('highlights:read'))).toMatchObject({
      code: 'insufficient-scope',
      missing: ['highlights:read'],
    })
  })
})
