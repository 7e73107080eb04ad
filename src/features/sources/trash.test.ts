import { describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../test/support/call.ts'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import { listItems } from './tools/list-items.ts'
import { readItem } from '../texts/tools/read-item.ts'
import { addHighlight } from '../highlights/tools/add-highlight.ts'
import { addTags } from '../tags/tag-store.ts'
import { findSource } from './source-store.ts'
import { purgeTrash, restoreSource, trashSource } from './trash.ts'

async function withTrashed(now: () => Date) {
  const library = await testLibrary({ now })
  const id = await addSource(library, { title: 'Thrown away', text: 'Words that were worth keeping.' })
  await library.change(async (change) => trashSource(change, (await findSource(change.db, id))!))
  return { library, id }
}

describe('the trash', () => {
  it('hides a source from every list and gives it back as it was', async () => {
    const { library, id } = await withTrashed(() => new Date())
    expect(await call(listItems, library)).toMatchObject({ items: [], total: 0 })
    expect((await failureOfCall(readItem, library, { id: String(id) })).error.code).toBe('item_not_found')
    expect(await library.db.selectFrom('passage').select('id').execute()).toEqual([])
    await library.change(async (change) => restoreSource(change, (await findSource(change.db, id))!))
    expect(await call(listItems, library)).toMatchObject({
      total: 1,
      items: [{ id: String(id), title: 'Thrown away' }],
    })
    expect(await call(readItem, library, { id: String(id) })).toMatchObject({
      markdown: 'Words that were worth keeping.',
    })
    expect(await library.db.selectFrom('passage').select('id').execute()).not.toEqual([])
  })

  it('keeps for thirty days, then erases with a tombstone for each row', async () => {
    let now = new Date('2026-03-01T12:00:00Z')
    const { library, id } = await withTrashed(() => now)
    now = new Date('2026-03-31T11:00:00Z')
    expect(await purgeTrash(library)).toBe(0)
    now = new Date('2026-03-31T13:00:00Z')
    expect(await purgeTrash(library)).toBe(1)
    expect(await findSource(library.db, id)).toBeUndefined()
    const tombstones = await library.db.selectFrom('tombstone').select('table_name').execute()
    expect(tombstones.map(({ table_name }) => table_name).toSorted()).toEqual(['source', 'text'])
  })

  it('keeps what another process took out again at the last moment', async () => {
    let now = new Date('2026-03-01T12:00:00Z')
    const { library, id } = await withTrashed(() => now)
    now = new Date('2026-04-30T12:00:00Z')
    const other = await addSource(library, { title: 'Also thrown away' })
    await library.change((change) =>
      change.update('source', other, { trashed_at: '2026-03-02T12:00:00.000Z' }),
    )
    // Both are found expired; the second is restored while the first is erased.
    let changes = 0
    const purged = await purgeTrash({
      ...library,
      change: async (work) => {
        const result = await library.change(work)
        if (++changes === 1) {
          await library.change(async (change) => restoreSource(change, (await findSource(change.db, other))!))
        }
        return result
      },
    })
    expect(purged).toBe(1)
    expect(await findSource(library.db, id)).toBeUndefined()
    expect(await findSource(library.db, other)).toMatchObject({ trashed_at: null })
  })

  it('erases a highlight with its notes and tags, each with its tombstone', async () => {
    let now = new Date('2026-03-01T12:00:00Z')
    const library = await testLibrary({ now: () => now })
    const id = await addSource(library, { text: 'Words that were worth keeping.' })
    const { highlight } = await call(addHighlight, library, { id, quote: 'worth keeping', comment: 'Zebra.' })
    const highlightId = Number((highlight as { id: string }).id)
    await library.change(async (change) => {
      await addTags(change, highlightId, ['fine'])
      await change.update('highlight', highlightId, { trashed_at: change.at })
    })
    now = new Date('2026-04-30T12:00:00Z')
    expect(await purgeTrash(library)).toBe(1)
    const tombstones = await library.db.selectFrom('tombstone').select('table_name').execute()
    expect(tombstones.map(({ table_name }) => table_name).toSorted()).toEqual([
      'highlight',
      'note',
      'tagging',
    ])
    for (const table of ['highlight', 'note', 'tagging'] as const)
      expect(await library.db.selectFrom(table).select('id').execute(), table).toEqual([])
    const found = await library.db.selectFrom('passage').select('kind').distinct().execute()
    expect(found.map(({ kind }) => kind).toSorted()).toEqual(['head', 'text'])
  })

  it('lets go of the files of what it erases, but for those that something else names', async () => {
    let now = new Date('2026-03-01T12:00:00Z')
    const { library, id } = await withTrashed(() => now)
    const { media } = library.outside
    const [cover, own] = [await media.put(Buffer.from('a cover')), await media.put(Buffer.from('a page'))]
    const other = await addSource(library, { title: 'Another of the series' })
    await library.change(async (change) => {
      for (const source of [id, other]) await change.update('source', source, { cover })
      const text = await change.db
        .selectFrom('text')
        .select('id')
        .where('source_id', '=', id)
        .executeTakeFirst()
      await change.update('text', text!.id, { raw: own })
    })
    now = new Date('2026-04-30T12:00:00Z')
    await purgeTrash(library)
    expect(await media.get(own)).toBeUndefined()
    expect(await media.get(cover)).toBeDefined()
  })
})
