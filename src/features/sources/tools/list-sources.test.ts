import { beforeEach, describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import { SCOPES } from '../../../core/define-tool.ts'
import type { Library } from '../../../core/library.ts'
import { findSource } from '../source-store.ts'
import { trashSource } from '../trash.ts'
import { getSource } from './get-source.ts'
import { listSources } from './list-sources.ts'

let library: Library
let at: number
beforeEach(async () => {
  at = Date.parse('2026-01-01T00:00:00Z')
  library = await testLibrary({ now: () => new Date((at += 1_000)) })
})

const titles = async (args: Record<string, unknown> = {}) =>
  ((await call(listSources, library, args))['sources'] as { title: string }[]).map(({ title }) => title)

describe('list_sources', () => {
  it('lists everything but the trash, the last added first, with type, author and highlights', async () => {
    await addTestSource(library, { title: 'A paper', kind: 'pdf', text: 'Words.' })
    await addTestSource(library, {
      title: 'Middlemarch',
      kind: 'book',
      authors: ['George Eliot', 'Ann Other'],
      highlights: ['one', 'two'],
      comments: ['a note'],
      tags: ['novels'],
    })
    const gone = await addTestSource(library, { title: 'Gone' })
    await library.change(async (change) => trashSource(change, (await findSource(change.db, gone))!))
    expect(await call(listSources, library)).toMatchObject({
      sources: [
        {
          title: 'Middlemarch',
          type: 'Book',
          author: 'George Eliot, Ann Other',
          cover_url: null,
          highlights_count: 2,
          note_count: 1,
          tags: ['novels'],
        },
        { title: 'A paper', type: 'Article', author: null, highlights_count: 0 },
      ],
      total: 2,
      meta: { next_cursor: null },
      nextCursor: null,
    })
  })

  it('finds by words of title and author, or their beginnings, whatever the case and accents', async () => {
    await addTestSource(library, {
      title: 'Étude in Scarlet',
      authors: ['José Müller'],
      url: 'https://novel.test/',
    })
    await addTestSource(library, { title: '雪国', authors: ['川端康成'] })
    await addTestSource(library, { title: 'Scarlet fever', text: 'An étude of José.' })
    expect(await titles({ q: 'etude SCAR' })).toEqual(['Étude in Scarlet'])
    expect(await titles({ q: 'jose muller' })).toEqual(['Étude in Scarlet'])
    expect(await titles({ q: 'scarlet' })).toEqual(['Scarlet fever', 'Étude in Scarlet'])
    expect(await titles({ q: '雪国' })).toEqual(['雪国'])
    expect(await titles({ q: 'novel' })).toEqual([])
    expect(await titles({ q: '  ' })).toHaveLength(3)
    for (const q of ['???', '"', 'type:pdf', '-scarlet*', 'AND', '*'])
      expect(await titles({ q })).toBeInstanceOf(Array)
  })

  it('narrows by type', async () => {
    for (const kind of ['book', 'article', 'pdf', 'video', 'podcast'] as const)
      await addTestSource(library, { title: kind, kind })
    expect(await titles({ type: 'Article' })).toEqual(['pdf', 'article'])
    expect(await titles({ type: 'Podcast' })).toEqual(['podcast'])
    expect(await titles({ type: 'Book', q: 'pod' })).toEqual([])
    expect((await failureOfCall(listSources, library, { type: 'book' })).error.message).toContain('type')
  })
})

describe('get_source', () => {
  it('gives the source with its highlights in the order of the text', async () => {
    const id = await addTestSource(library, { title: 'Salt', kind: 'book', highlights: ['one', 'two'] })
    expect(await call(getSource, library, { id: String(id) })).toMatchObject({
      id,
      title: 'Salt',
      highlights_count: 2,
      highlights: [{ content: 'one' }, { content: 'two' }],
      meta: { next_cursor: null },
    })
  })

  it('says how to go on where there are more', async () => {
    const highlights = Array.from({ length: 70 }, (_, n) => `mark ${n}`)
    const id = await addTestSource(library, { title: 'Salt', highlights })
    const first = await call(getSource, library, { id })
    expect(first['highlights']).toHaveLength(50)
    expect(first['remark']).toContain('cursor')
    const rest = await call(getSource, library, { id, cursor: first['nextCursor'] })
    expect(rest['highlights']).toHaveLength(20)
    expect(rest).not.toHaveProperty('remark')
  })

  it('keeps highlights to itself without the right to read them, and tells their number', async () => {
    const id = await addTestSource(library, { title: 'Salt', highlights: ['SECRET'] })
    const scopes = SCOPES.filter((scope) => scope !== 'highlights:read')
    const told = await call(getSource, library, { id }, { scopes })
    expect(told).toMatchObject({ highlights_count: 1, remark: expect.stringContaining('highlights:read') })
    expect(JSON.stringify(told)).not.toContain('SECRET')
  })

  it('follows an id that was given up, and says where a thrown away one is', async () => {
    const id = await addTestSource(library, { title: 'Salt' })
    await library.change((change) => change.insert('alias', { id: 99, target_id: id }))
    expect(await call(getSource, library, { id: 99 })).toMatchObject({ id, title: 'Salt' })
    await library.change(async (change) => trashSource(change, (await findSource(change.db, id))!))
    expect(await failureOfCall(getSource, library, { id })).toMatchObject({
      code: 'source-not-found',
      hint: expect.stringContaining('trash'),
      error: { number: -32003 },
    })
  })
})
