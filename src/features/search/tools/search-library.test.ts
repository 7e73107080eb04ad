import { beforeEach, describe, expect, it } from 'vitest'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import { SCOPES } from '../../../core/define-tool.ts'
import type { Library } from '../../../core/library.ts'
import { callTool } from '../../../tools/call-tool.ts'
import { indexSource } from '../index-source.ts'
import { searchLibrary } from './search-library.ts'

let library: Library
let now: Date
beforeEach(async () => {
  now = new Date('2026-03-01T10:00:00.000Z')
  library = await testLibrary({ now: () => now })
})

const call = {
  connection: 'test',
  scopes: new Set(SCOPES),
  signal: new AbortController().signal,
  progress: () => {},
}
const search = async (args: Record<string, unknown>, on = library) => {
  const { output } = await callTool(searchLibrary, on, args, call)
  return output as {
    results: { id: string; title: string }[]
    meta: { mode: string; total: number; next_cursor: string | null }
    nextCursor: string | null
  }
}
const addMany = async (count: number) => {
  const ids: number[] = []
  for (let i = 0; i < count; i++) {
    ids.push(await addTestSource(library, { title: `No. ${i}`, text: `Bees ${'hum '.repeat(i % 7)}` }))
  }
  return ids
}

describe('search_library', () => {
  it('gives an item with its best passage', async () => {
    const id = await addTestSource(library, {
      title: 'On bees',
      kind: 'pdf',
      authors: ['Ada Roe'],
      url: 'https://hive.test/a',
      text: 'They dance to tell where flowers are.',
      saved: '2026-02-01T00:00:00.000Z',
    })
    expect(await search({ query: 'dance' })).toEqual({
      results: [
        {
          id: String(id),
          title: 'On bees',
          kind: 'pdf',
          authors: ['Ada Roe'],
          url: 'https://hive.test/a',
          saved: '2026-02-01T00:00:00.000Z',
          published: null,
          snippet: 'They dance to tell where flowers are.',
          marks: [[5, 10]],
          matched: 'words',
          score: expect.any(Number),
        },
      ],
      meta: { mode: 'words', note: expect.any(String), total: 1, next_cursor: null },
      nextCursor: null,
    })
  })

  it('names the highlight that was found, and shows the text under a found title', async () => {
    await addTestSource(library, { title: 'Bees', text: 'They dance.', highlights: ['Quoted wisdom'] })
    const highlight = await library.db.selectFrom('highlight').select('id').executeTakeFirstOrThrow()
    expect((await search({ query: 'wisdom' })).results[0]).toMatchObject({
      highlightId: String(highlight.id),
      snippet: 'Quoted wisdom',
    })
    expect((await search({ query: 'bees' })).results[0]).toMatchObject({ snippet: 'They dance.' })
  })

  it('gives an empty list for blanks, and refuses no words at all', async () => {
    await addMany(1)
    expect(await search({ query: '  \n ' })).toMatchObject({ results: [], nextCursor: null })
    await expect(search({ query: '' })).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(search({ query: 'a', limit: 51 })).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

describe('its pages', () => {
  const readAll = async (
    limit: number,
    between: (page: number) => Promise<void> = async () => {},
    on = library,
  ) => {
    const seen: string[] = []
    let cursor: string | null = null
    for (let page = 0; ; page++) {
      const answer = await search({ query: 'bees', limit, ...(cursor !== null && { cursor }) }, on)
      seen.push(...answer.results.map(({ id }) => id))
      cursor = answer.nextCursor
      if (cursor === null) return seen
      await between(page)
    }
  }

  it('hold each item once', async () => {
    const ids = await addMany(23)
    const seen = await readAll(5)
    expect(seen.toSorted()).toEqual(ids.map(String).toSorted())
  })

  it('hold each item once that is there all the time, while others come and go', async () => {
    const ids = await addMany(20)
    const first = (await search({ query: 'bees', limit: 20 })).results.map(({ id }) => Number(id))
    const gone = first.slice(12, 15)
    const seen = await readAll(5, async (page) => {
      if (page > 0) return
      await addMany(3)
      await library.change(async (change) => {
        for (const id of gone) {
          await change.update('source', id, { trashed_at: change.at })
          await indexSource(change, id)
        }
      })
    })
    expect(seen.toSorted()).toEqual(
      ids
        .filter((id) => !gone.includes(id))
        .map(String)
        .toSorted(),
    )
  })

  it('go on after the list has been forgotten', async () => {
    const ids = await addMany(12)
    const seen = await readAll(5, async () => void (now = new Date(now.getTime() + 16 * 60_000)))
    expect(seen.toSorted()).toEqual(ids.map(String).toSorted())
    await readAll(50)
    expect(await library.db.selectFrom('ranking').select('id').execute()).toHaveLength(1)
  })

  it('fit together in a library that cannot be written', async () => {
    const ids = await addMany(12)
    const seen = await readAll(5, undefined, { ...library, readOnly: true })
    expect(seen.toSorted()).toEqual(ids.map(String).toSorted())
    expect(await library.db.selectFrom('ranking').select('id').execute()).toEqual([])
  })

  it('fit together while the library is locked', async () => {
    const ids = await addMany(12)
    const locked = { ...library, change: () => Promise.reject(new Error('database is locked')) }
    const seen = await readAll(5, undefined, locked)
    expect(seen.toSorted()).toEqual(ids.map(String).toSorted())
  })

  it('belong to their question', async () => {
    await addMany(12)
    const { nextCursor } = await search({ query: 'bees', limit: 5 })
    await expect(search({ query: 'hum', limit: 5, cursor: nextCursor })).rejects.toMatchObject({
      code: 'invalid_input',
    })
    await expect(search({ query: 'bees', cursor: `${nextCursor}x` })).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })
})
