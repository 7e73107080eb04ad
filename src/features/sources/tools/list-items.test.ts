import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { onPostgres, testLibrary } from '../../../../test/support/library.ts'
import { addSource } from '../../../../test/support/sources.ts'
import type { Library } from '../../../core/library.ts'
import { addHighlight } from '../../highlights/tools/add-highlight.ts'
import { markReading } from '../../reads/mark-reading.ts'
import type { Item } from '../item.ts'
import { findSource } from '../source-store.ts'
import { trashSource } from '../trash.ts'
import { listItems } from './list-items.ts'

const titles = (output: Record<string, unknown>) => (output['items'] as Item[]).map(({ title }) => title)

async function libraryOf(count: number): Promise<{ library: Library; ids: number[] }> {
  let at = Date.parse('2026-01-01T00:00:00Z')
  const library = await testLibrary({ now: () => new Date((at += 1000)) })
  const ids: number[] = []
  for (let n = 0; n < count; n++)
    ids.push(await addSource(library, { title: `Item ${n}`, text: 'Some words.' }))
  return { library, ids }
}

describe('list_items', () => {
  it('lists what has a text, last saved first', async () => {
    const { library } = await libraryOf(2)
    await addSource(library, { title: 'Without a text' })
    expect(titles(await call(listItems, library))).toEqual(['Item 1', 'Item 0'])
  })

  it('narrows by reading state', async () => {
    const { library, ids } = await libraryOf(4)
    const marks = ['want', 'reading', 'read', 'paused'] as const
    for (const [n, mark] of marks.entries())
      await library.change((change) => markReading(change, { id: ids[n]! }, mark))
    await library.change((change) => markReading(change, { id: ids[3]! }, 'dropped'))
    expect(titles(await call(listItems, library, { reading: 'unread' }))).toEqual(['Item 0'])
    expect(titles(await call(listItems, library, { reading: 'reading' }))).toEqual(['Item 1'])
    expect(titles(await call(listItems, library, { reading: 'read' }))).toEqual(['Item 3', 'Item 2'])
  })

  it('takes the read that began last for where the reader stands, whatever its id', async () => {
    const { library, ids } = await libraryOf(1)
    await library.change((change) => markReading(change, { id: ids[0]! }, 'read'))
    // As in a library that was restored and gives out ids under a lower replica number now.
    await sql`update read set id = 8191 * 1099511627776 + id % 1099511627776`.execute(library.db)
    await library.change((change) => markReading(change, { id: ids[0]! }, 'reading'))
    expect(await call(listItems, library)).toMatchObject({ items: [{ reading: 'reading' }] })
    expect(await call(listItems, library, { reading: 'read' })).toMatchObject({ total: 0 })
  })

  it('counts highlights and notes for those only who may read them', async () => {
    const { library, ids } = await libraryOf(1)
    await call(addHighlight, library, { id: ids[0]!, quote: 'Some words', comment: 'Mine.' })
    const [all] = (await call(listItems, library))['items'] as Item[]
    expect(all).toMatchObject({ highlights: 1, notes: 1 })
    const [bare] = (await call(listItems, library, {}, { scopes: ['sources:read'] }))['items'] as Item[]
    expect(bare).not.toHaveProperty('highlights')
    expect(bare).not.toHaveProperty('notes')
  })

  it('narrows by kind, where media is video and audio', async () => {
    const library = await testLibrary()
    for (const kind of ['article', 'pdf', 'video', 'podcast', 'book'] as const) {
      await addSource(library, { title: kind, kind, text: 'Some words.' })
    }
    expect(titles(await call(listItems, library, { kind: 'media' })).toSorted()).toEqual(['podcast', 'video'])
    expect(titles(await call(listItems, library, { kind: 'pdf' }))).toEqual(['pdf'])
    expect(titles(await call(listItems, library))).toContain('book')
  })

  it('pages by offset to the end', async () => {
    const { library } = await libraryOf(5)
    const first = await call(listItems, library, { limit: 2 })
    expect(first).toMatchObject({ total: 5, nextOffset: 2 })
    const last = await call(listItems, library, { limit: '2', offset: 4 })
    expect(titles(last)).toEqual(['Item 0'])
    expect(last).toMatchObject({ nextOffset: null, nextCursor: null, meta: { next_cursor: null } })
  })

  it('shows each row that stays exactly once, whatever comes and goes between the pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.record({ add: fc.boolean(), trash: fc.nat(11) }), { maxLength: 6 }),
        async (limit, between) => {
          const { library, ids } = await libraryOf(12)
          const gone = new Set<number>()
          const seen: string[] = []
          let cursor: unknown
          for (let page = 0; page === 0 || cursor; page++) {
            const output = await call(listItems, library, { limit, ...(cursor ? { cursor } : {}) })
            seen.push(...(output['items'] as Item[]).map(({ id }) => id))
            cursor = output['nextCursor']
            const step = between[page]
            if (step?.add) await addSource(library, { title: 'New', text: 'Some words.' })
            if (step) {
              gone.add(ids[step.trash]!)
              await library.change(async (change) =>
                trashSource(change, (await findSource(change.db, ids[step.trash]!))!),
              )
            }
          }
          expect(new Set(seen).size).toBe(seen.length)
          for (const id of ids) if (!gone.has(id)) expect(seen).toContain(String(id))
        },
      ),
      { numRuns: onPostgres ? 8 : 25 },
    )
  })

  it('refuses a cursor that was changed or belongs to another list', async () => {
    const { library } = await libraryOf(3)
    const { nextCursor } = await call(listItems, library, { limit: 1 })
    for (const args of [
      { cursor: 'nonsense' },
      { cursor: `${String(nextCursor).slice(0, -2)}xx` },
      { cursor: nextCursor, kind: 'pdf' },
    ]) {
      expect((await failureOfCall(listItems, library, args)).error.code).toBe('invalid_input')
    }
  })
})
