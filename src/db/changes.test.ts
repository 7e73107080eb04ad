import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testLibrary } from '../../test/support/library.ts'
import type { Library } from '../core/library.ts'
import { tick } from './clock.ts'

const source = (title: string) => ({
  kind: 'article' as const,
  title,
  match_key: '',
  authors: '[]',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
})

const log = (library: Library) =>
  library.db
    .selectFrom('change_log')
    .select(['table_name', 'row_id', 'fields', 'deleted'])
    .orderBy('seq')
    .execute()

describe('a change', () => {
  it('notes every row it writes, with the fields that differ', async () => {
    const library = await testLibrary()
    const id = await library.change((change) => change.insert('source', source('One')))
    await library.change((change) => change.update('source', id, { title: 'Two', site: null }))
    await library.change((change) => change.erase('source', id))
    expect(await log(library)).toEqual([
      { table_name: 'source', row_id: id, fields: null, deleted: 0 },
      { table_name: 'source', row_id: id, fields: '["title"]', deleted: 0 },
      { table_name: 'source', row_id: id, fields: null, deleted: 1 },
    ])
    expect(await library.db.selectFrom('tombstone').select(['id', 'table_name']).execute()).toEqual([
      { id, table_name: 'source' },
    ])
  })

  it('notes nothing where nothing differs', async () => {
    const library = await testLibrary()
    const id = await library.change((change) => change.insert('source', source('One')))
    await library.change((change) =>
      change.update('source', id, { title: 'One', updated_at: '2027-01-01T00:00:00.000Z' }),
    )
    expect(await log(library)).toHaveLength(1)
  })

  it('stamps each field with a clock that grows', async () => {
    const library = await testLibrary()
    const id = await library.change((change) => change.insert('source', source('One')))
    await library.change((change) => change.update('source', id, { title: 'Two' }))
    await library.change((change) => change.update('source', id, { site: 'here' }))
    const row = await library.db.selectFrom('source').select(['clock', 'clocks']).executeTakeFirstOrThrow()
    const clocks = JSON.parse(row.clocks) as Record<string, string>
    expect(Object.keys(clocks).toSorted()).toEqual(['site', 'title'])
    expect([row.clock, clocks['title'], clocks['site']]).toEqual(
      [row.clock, clocks['title'], clocks['site']].toSorted(),
    )
  })

  it('is undone whole where it fails, its ids and jobs included', async () => {
    const library = await testLibrary()
    await expect(
      library.change(async (change) => {
        await change.insert('source', source('One'))
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(await log(library)).toEqual([])
    expect(await library.db.selectFrom('source').selectAll().execute()).toEqual([])
  })

  it('draws ids that no two rows share, many rows at once included', async () => {
    const library = await testLibrary()
    const many = await library.change((change) =>
      change.insertMany(
        'source',
        Array.from({ length: 1_000 }, (_, i) => source(`Source ${i}`)),
      ),
    )
    const one = await library.change((change) => change.insert('source', source('Last')))
    expect(new Set([...many, one]).size).toBe(1_001)
    expect(Math.max(...many)).toBeLessThan(one)
    expect(Number.isSafeInteger(one)).toBe(true)
    const { number } = await library.db.selectFrom('replica').select('number').executeTakeFirstOrThrow()
    expect(Math.floor(one / 2 ** 40)).toBe(number)
    expect(await log(library)).toHaveLength(1_001)
  })

  it('stands in the audit log with what it takes to undo it', async () => {
    const library = await testLibrary()
    const id = await library.change((change) => change.insert('source', source('One')))
    const call = { connection: 'assistant', tool: 'rename', intent: 'tidy up' }
    await library.on(call).change((change) => change.update('source', id, { title: 'Two' }))
    const [entry] = await library.db.selectFrom('audit').selectAll().execute()
    expect(entry).toMatchObject({
      connection: 'assistant',
      tool: 'rename',
      intent: 'tidy up',
      undone_at: null,
    })
    expect(JSON.parse(entry!.changes)).toEqual([
      { table: 'source', id, op: 'update', before: { title: 'One' } },
    ])
  })
})

describe('the clock', () => {
  it('never goes back, whatever the wall clock does, and sorts as text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 ** 45 }), { minLength: 2, maxLength: 50 }),
        (times) => {
          let last: string | undefined
          for (const time of times) {
            const next = tick(last, time, 7)
            if (last !== undefined) expect(next > last).toBe(true)
            last = next
          }
        },
      ),
    )
  })

  it('goes on in the next millisecond when one has no numbers left', () => {
    expect(tick('000000000001ffff0007', 1, 7)).toBe('00000000000200000007')
  })
})
