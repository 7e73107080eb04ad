import { beforeEach, describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import type { Library } from '../../../core/library.ts'
import { searchHighlights } from '../../search/tools/search-highlights.ts'
import { listTags } from '../../tags/tools/list-tags.ts'
import { tag } from '../../tags/tools/tag.ts'
import { restoreHighlight } from '../change-highlight.ts'
import { deleteHighlight } from './delete-highlight.ts'
import { getHighlight } from './get-highlight.ts'
import { updateHighlight } from './update-highlight.ts'

let library: Library
let id: number
let source: number
let now: Date
beforeEach(async () => {
  now = new Date('2026-03-01T10:00:00.000Z')
  library = await testLibrary({ now: () => now })
  source = await addTestSource(library, { title: 'Salt', highlights: ['Salt keeps.'] })
  id = (await library.db.selectFrom('highlight').select('id').executeTakeFirstOrThrow()).id
  now = new Date('2026-03-01T11:00:00.000Z')
})
const get = () => call(getHighlight, library, { id })

describe('update_highlight', () => {
  it('changes what is given and leaves the rest', async () => {
    await call(updateHighlight, library, { id, color: 'yellow', location: 'page 3', timestamp_seconds: 5 })
    await call(updateHighlight, library, { id, location: 'page 4', tags: ['b', 'a'] })
    expect(await get()).toMatchObject({
      content: 'Salt keeps.',
      color: 'yellow',
      location: 'page 4',
      timestamp_seconds: 5,
      tags: ['a', 'b'],
    })
    await call(updateHighlight, library, {
      id,
      color: null,
      location: null,
      timestamp_seconds: null,
      tags: ['A'],
    })
    expect(await get()).toMatchObject({ color: null, location: null, timestamp_seconds: null, tags: ['a'] })
  })

  it('adds a note once, which is found by search', async () => {
    const { note_id } = await call(updateHighlight, library, { id, note: 'On preservation.' })
    expect(await call(updateHighlight, library, { id, note: 'On preservation.' })).toMatchObject({ note_id })
    expect(await call(searchHighlights, library, { query: 'preservation' })).toMatchObject({
      highlights: [{ id, note_count: 1 }],
    })
    const scopes = ['highlights:write'] as const
    expect(
      (await failureOfCall(updateHighlight, library, { id, note: 'x' }, { scopes })).error,
    ).toMatchObject({
      details: { missing: ['notes:write'] },
    })
  })

  it('changes nothing where somebody else did since it was read', async () => {
    const { updated_at } = await get()
    await call(updateHighlight, library, { id, color: 'blue' })
    const late = { id, color: 'red', ifUnchangedSince: updated_at }
    expect((await failureOfCall(updateHighlight, library, late)).error.code).toBe('changed_recently')
    expect(
      (await failureOfCall(deleteHighlight, library, { id, ifUnchangedSince: updated_at })).error,
    ).toMatchObject({ code: 'changed_recently', number: -32011 })
    const fresh = await get()
    expect(fresh).toMatchObject({ color: 'blue' })
    await call(updateHighlight, library, { id, color: 'red', ifUnchangedSince: fresh['updated_at'] })
    expect(
      (await failureOfCall(updateHighlight, library, { ...late, ifUnchangedSince: 'noon' })).error.message,
    ).toContain('ifUnchangedSince')
  })
})

describe('delete_highlight', () => {
  it('takes the highlight and its notes out of sight, until it is restored', async () => {
    await call(updateHighlight, library, { id, note: 'On preservation.' })
    expect(await call(deleteHighlight, library, { id })).toEqual({
      id,
      source_id: source,
      restorable_until: '2026-03-31T11:00:00.000Z',
    })
    expect((await failureOfCall(getHighlight, library, { id })).error.code).toBe('highlight_not_found')
    for (const query of ['keeps', 'preservation'])
      expect(await call(searchHighlights, library, { query })).toMatchObject({ meta: { total: 0 } })
    expect((await failureOfCall(deleteHighlight, library, { id })).hint).toContain('trash')
    await library.change((change) => restoreHighlight(change, { id }))
    expect(await call(searchHighlights, library, { query: 'preservation' })).toMatchObject({
      meta: { total: 1 },
    })
  })
})

describe('tag and list_tags', () => {
  it('take names that differ in case, width, spacing or encoding for one', async () => {
    await call(tag, library, { ids: [source, String(id)], add: ['Sci-Fi', 'Café'] })
    const again = await call(tag, library, { ids: [id], add: [' sci-fi ', 'Ｓｃｉ-Ｆｉ', 'Cafe\u0301'] })
    expect(again).toEqual({ tagged: [{ id, kind: 'highlight', tags: ['Café', 'Sci-Fi'] }] })
    expect(await call(listTags, library)).toMatchObject({
      tags: [
        { name: 'Café', sources: 1, highlights: 1 },
        { name: 'Sci-Fi', sources: 1, highlights: 1 },
      ],
      total: 2,
    })
    await call(tag, library, { ids: [source, id], remove: ['SCI-FI', 'nowhere'] })
    expect(await call(listTags, library)).toMatchObject({ tags: [{ name: 'Café' }], total: 1 })
  })

  it('tag all that is asked or nothing', async () => {
    expect((await failureOfCall(tag, library, { ids: [id, 5], add: ['x'] })).error.code).toBe(
      'item_not_found',
    )
    expect((await failureOfCall(tag, library, { ids: [id], add: ['  '] })).error.code).toBe('invalid_input')
    expect((await failureOfCall(tag, library, { ids: [id] })).error.code).toBe('invalid_input')
    expect(await call(listTags, library)).toMatchObject({ tags: [], total: 0 })
  })

  it('count nothing of the trash, and no highlights for who may not read them', async () => {
    await call(tag, library, { ids: [source], add: ['both'] })
    await call(tag, library, { ids: [id], add: ['both', 'quotes'] })
    const scopes = ['sources:read'] as const
    expect(await call(listTags, library, {}, { scopes })).toMatchObject({
      tags: [{ name: 'both', sources: 1 }],
      total: 1,
    })
    await call(deleteHighlight, library, { id })
    expect(await call(listTags, library)).toMatchObject({ tags: [{ name: 'both', highlights: 0 }], total: 1 })
  })
})
