import { describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../test/support/call.ts'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import { listItems } from './tools/list-items.ts'
import { readItem } from '../texts/tools/read-item.ts'
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
})
