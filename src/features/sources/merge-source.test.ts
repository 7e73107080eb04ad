import { describe, expect, it } from 'vitest'
import { call } from '../../../test/support/call.ts'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import type { Library } from '../../core/library.ts'
import { addHighlight } from '../highlights/tools/add-highlight.ts'
import { addComment } from '../notes/tools/add-comment.ts'
import { addTags } from '../tags/tag-store.ts'
import { findMatch } from './match.ts'
import { mergeSource } from './merge-source.ts'
import { findSource, isbnsOf, tagsOf } from './source-store.ts'
import { trashSource } from './trash.ts'

const merge = (library: Library, from: number, into: number) =>
  library.change(async (change) =>
    mergeSource(change, (await findSource(change.db, from))!, (await findSource(change.db, into))!),
  )

describe('joining two sources', () => {
  it('moves everything over, and the id that went resolves to the other for ever', async () => {
    const library = await testLibrary()
    const into = await addSource(library, { title: 'Kept', url: 'https://example.test/a' })
    const from = await addSource(library, {
      title: 'Joined',
      url: 'https://m.example.test/a',
      text: 'Words.',
    })
    await call(addHighlight, library, { id: from, quote: 'Words' })
    await call(addComment, library, { id: from, body: 'Mine.' })
    await library.change(async (change) => {
      await addTags(change, from, ['both', 'only here'])
      await addTags(change, into, ['Both'])
    })
    const joined = await merge(library, from, into)
    expect(joined).toMatchObject({ id: into, title: 'Kept', url: 'https://example.test/a', words: 1 })
    expect(await findSource(library.db, from)).toMatchObject({ id: into })
    for (const table of ['highlight', 'note', 'text'] as const) {
      const rows = await library.db.selectFrom(table).select('source_id').execute()
      expect(rows, table).toEqual([{ source_id: into }])
    }
    expect((await tagsOf(library.db, [into])).get(into)).toEqual(['both', 'only here'])
    expect(await findMatch(library.db, { urls: ['https://m.example.test/a'] })).toMatchObject({ id: into })
  })

  it('keeps what either knew, and where both know something that of the one that stays', async () => {
    const library = await testLibrary()
    const into = await addSource(library, { title: 'A book', kind: 'book', isbn13: '9780999999011' })
    const from = await addSource(library, {
      title: 'a book',
      authors: ['Ann Author'],
      isbn13: '9780999999028',
    })
    await library.change(async (change) => {
      await change.update('source', into, { language: 'de' })
      const told = { language: 'en', site: 'example.test', published: '2024-05', cover: 'c0ffee' }
      await change.update('source', from, told)
    })
    const joined = await merge(library, from, into)
    expect(joined).toMatchObject({
      language: 'de',
      site: 'example.test',
      published: '2024-05',
      cover: 'c0ffee',
    })
    expect(isbnsOf(joined)).toEqual(['9780999999011', '9780999999028'])
    for (const isbn of isbnsOf(joined)) {
      expect(await findMatch(library.db, { isbns: [isbn] })).toMatchObject({ id: into })
    }
    expect(await findMatch(library.db, { title: 'A Book', authors: ['ann author'] })).toMatchObject({
      id: into,
    })
  })

  it('takes the one that stays out of the trash, and says all of it to sync', async () => {
    const library = await testLibrary()
    const into = await addSource(library, { title: 'Kept' })
    const from = await addSource(library, { title: 'Joined', text: 'Words.' })
    await library.change(async (change) => trashSource(change, (await findSource(change.db, into))!))
    expect(await merge(library, from, into)).toMatchObject({ trashed_at: null })
    const tombstones = await library.db.selectFrom('tombstone').select(['id', 'table_name']).execute()
    expect(tombstones).toEqual([{ id: from, table_name: 'source' }])
  })
})
