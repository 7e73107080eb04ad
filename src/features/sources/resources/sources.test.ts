import { beforeEach, describe, expect, it } from 'vitest'
import { failureOfReading, read } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import { SCOPES } from '../../../core/define-tool.ts'
import type { Library } from '../../../core/library.ts'
import type { HighlightEntry } from '../../highlights/describe-highlights.ts'
import { findSource } from '../source-store.ts'
import { mergeSource } from '../merge-source.ts'
import type { SourceEntry } from '../describe-sources.ts'

const URI = 'becoming://sources'

let library: Library
beforeEach(async () => {
  library = await testLibrary()
})

const without = (...scopes: string[]) => ({ scopes: SCOPES.filter((scope) => !scopes.includes(scope)) })

const sourcesOf = (page: Record<string, unknown>) => page['sources'] as SourceEntry[]
const highlightsOf = (page: Record<string, unknown>) => page['highlights'] as HighlightEntry[]

function mark(source_id: number, quote: string, start?: number): Promise<number> {
  return library.change((change) =>
    change.insert('highlight', {
      source_id,
      quote,
      start_offset: start,
      state: start === undefined ? 'unanchored' : 'anchored',
      origin: 'reader',
      created_at: change.at,
      updated_at: change.at,
    }),
  )
}

const trash = (table: 'source' | 'highlight', id: number) =>
  library.change((change) => change.update(table, id, { trashed_at: change.at }))

describe('becoming://sources', () => {
  it('gives every kind of source, the last added first, with a text and without', async () => {
    for (const [day, kind] of (['book', 'article', 'pdf', 'video', 'podcast'] as const).entries()) {
      await addTestSource(library, { title: `A ${kind}`, kind, saved: `2026-01-0${day + 1}T00:00:00.000Z` })
    }
    const thrown = await addTestSource(library, { title: 'Gone' })
    await trash('source', thrown)
    const page = await read(library, URI)
    expect(sourcesOf(page).map(({ title, type }) => [title, type])).toEqual([
      ['A podcast', 'Podcast'],
      ['A video', 'Video'],
      ['A pdf', 'Article'],
      ['A article', 'Article'],
      ['A book', 'Book'],
    ])
    expect(page).toMatchObject({ total: 5, next: null, meta: { next_cursor: null } })
  })

  it('says what there is to know of each', async () => {
    const id = await addTestSource(library, {
      title: 'Salt',
      kind: 'book',
      authors: ['Monique Truong'],
      site: 'salt.example',
      url: 'https://salt.example/',
      highlights: ['One', 'Two', 'Three'],
      comments: ['A comment'],
      bookNotes: ['Private'],
      tags: ['sea'],
      saved: '2026-01-01T00:00:00.000Z',
    })
    const [first] = await library.db.selectFrom('highlight').select('id').orderBy('id').execute()
    await trash('highlight', first!.id)
    const [source] = sourcesOf(await read(library, URI))
    expect(source).toEqual({
      id,
      title: 'Salt',
      type: 'Book',
      author: 'Monique Truong',
      cover_url: null,
      url: 'https://salt.example/',
      site: 'salt.example',
      language: null,
      published: null,
      highlights_count: 2,
      note_count: 1,
      tags: ['sea'],
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-01T00:00:00.000Z',
    })
    const [plain] = sourcesOf(await read(library, URI, without('notes:read')))
    expect(plain).not.toHaveProperty('note_count')
  })

  it('goes on at the address it gives', async () => {
    const ids: number[] = []
    for (let n = 0; n < 7; n++) ids.unshift(await addTestSource(library, { title: `Source ${n}` }))
    const seen: number[] = []
    for (let uri: string | null = `${URI}?limit=3`; uri !== null;) {
      const page: Record<string, unknown> = await read(library, uri)
      seen.push(...sourcesOf(page).map(({ id }) => id))
      uri = page['next'] as string | null
      expect(uri === null || uri.startsWith(`${URI}?limit=3&cursor=`)).toBe(true)
    }
    expect(seen).toEqual(ids)
  })
})

describe('becoming://sources/{id}', () => {
  it('gives a source with its highlights in the order of the text, those without a place last', async () => {
    const id = await addTestSource(library, { title: 'Salt', text: 'Some words to mark.' })
    const last = await mark(id, 'nowhere')
    const second = await mark(id, 'words', 5)
    const first = await mark(id, 'Some', 0)
    await trash('highlight', await mark(id, 'thrown away', 3))
    const source = await read(library, `${URI}/${id}`)
    expect(source).toMatchObject({ id, title: 'Salt', highlights_count: 3, next: null })
    expect(highlightsOf(source).map((highlight) => highlight.id)).toEqual([first, second, last])
    expect(highlightsOf(source)[0]).toMatchObject({ content: 'Some', state: 'anchored', note_count: 0 })
    expect(highlightsOf(source)[0]).not.toHaveProperty('source')
  })

  it('goes on through many highlights, those without a place too, and stays small', async () => {
    const id = await addTestSource(library, { title: 'Salt' })
    const placed: number[] = []
    // Some have one place: their order is that in which they were made.
    for (let n = 0; n < 20; n++)
      placed.push(await mark(id, `${n} ${'words '.repeat(400)}`, Math.floor(n / 3)))
    for (let n = 0; n < 45; n++) placed.push(await mark(id, 'x'.repeat(1_500)))
    const seen: number[] = []
    let pages = 0
    for (let uri: string | null = `commonplace://sources/${id}`; uri !== null; pages++) {
      const page: Record<string, unknown> = await read(library, uri)
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(33_000)
      expect(page).toMatchObject({ id, highlights_count: 65 })
      seen.push(...highlightsOf(page).map((highlight) => highlight.id))
      uri = page['next'] as string | null
    }
    expect(seen).toEqual(placed)
    expect(pages).toBeGreaterThan(2)
  })

  it('gives the number of highlights alone without the right to read them', async () => {
    const id = await addTestSource(library, { title: 'Salt', highlights: ['SECRET words'] })
    const source = await read(library, `${URI}/${id}`, without('highlights:read'))
    expect(source).toMatchObject({ highlights_count: 1, next: null })
    expect(source).not.toHaveProperty('highlights')
    expect(JSON.stringify(source)).not.toContain('SECRET')
  })

  it('finds a source by the id of one that was joined into it', async () => {
    const from = await addTestSource(library, { title: 'Salt', highlights: ['One'] })
    const into = await addTestSource(library, { title: 'Salt!' })
    await library.change(async (change) =>
      mergeSource(change, (await findSource(change.db, from))!, (await findSource(change.db, into))!),
    )
    const source = await read(library, `${URI}/${from}`)
    expect(source).toMatchObject({ id: into, highlights: [{ content: 'One' }] })
  })

  it('is gone in the trash, and says so', async () => {
    const id = await addTestSource(library, { title: 'Salt' })
    await trash('source', id)
    expect(await failureOfReading(library, `${URI}/${id}`)).toMatchObject({
      code: 'source-not-found',
      hint: expect.stringContaining('trash'),
    })
    expect(await failureOfReading(library, `${URI}/12`)).toMatchObject({ code: 'source-not-found' })
  })

  it('takes no cursor of another source', async () => {
    const [one, other] = [
      await addTestSource(library, { title: 'A' }),
      await addTestSource(library, { title: 'B' }),
    ]
    for (let n = 0; n < 3; n++) await mark(one, `words ${n}`, n)
    const { next } = await read(library, `${URI}/${one}?limit=1`)
    const cursor = String(next).split('cursor=')[1]
    expect(await failureOfReading(library, `${URI}/${other}?cursor=${cursor}`)).toMatchObject({
      code: 'invalid-input',
    })
  })
})
