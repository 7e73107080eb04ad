import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { testLibrary } from '../../../test/support/library.ts'
import { addSource } from '../../../test/support/sources.ts'
import type { Library } from '../../core/library.ts'
import { markReading, type Mark } from './mark-reading.ts'

const setUp = async (now: () => Date) => {
  const library = await testLibrary({ now })
  await library.change((change) =>
    change.insert('setting', { key: 'timeZone', value: 'America/Los_Angeles' }),
  )
  const id = await addSource(library, { title: 'Middlemarch', kind: 'book' })
  return { library, mark: (mark: Mark) => library.change((change) => markReading(change, { id }, mark)) }
}

const reads = (library: Library) =>
  library.db
    .selectFrom('read')
    .select(['status', 'started_on', 'finished_on'])
    .where('trashed_at', 'is', null)
    .orderBy('id')
    .execute()

describe('marking where a reader stands', () => {
  it('dates it by the day in the reader’s zone', async () => {
    const { library, mark } = await setUp(() => new Date('2027-01-01T05:30:00Z'))
    await mark('read')
    expect(await reads(library)).toEqual([
      { status: 'finished', started_on: null, finished_on: '2026-12-31' },
    ])
  })

  it('goes from wanting to reading to having read, in one read', async () => {
    let now = new Date('2026-03-01T20:00:00Z')
    const { library, mark } = await setUp(() => now)
    await mark('want')
    await mark('reading')
    now = new Date('2026-03-09T20:00:00Z')
    await mark('read')
    expect(await reads(library)).toEqual([
      { status: 'finished', started_on: '2026-03-01', finished_on: '2026-03-09' },
    ])
  })

  it('starting again what was finished opens a new read and keeps the old one', async () => {
    let now = new Date('2024-05-05T20:00:00Z')
    const { library, mark } = await setUp(() => now)
    await mark('read')
    now = new Date('2026-02-02T20:00:00Z')
    await mark('reading')
    expect(await reads(library)).toEqual([
      { status: 'finished', started_on: null, finished_on: '2024-05-05' },
      { status: 'reading', started_on: '2026-02-02', finished_on: null },
    ])
  })

  it('goes by when a read began where a restored library gives out lower ids than before', async () => {
    let now = new Date('2024-05-05T20:00:00Z')
    const { library, mark } = await setUp(() => now)
    await mark('read')
    // Replica numbers are drawn at random: the next one may lie below.
    await sql`update read set id = 8191 * 1099511627776 + id % 1099511627776`.execute(library.db)
    now = new Date('2026-02-02T20:00:00Z')
    await mark('reading')
    now = new Date('2026-02-09T20:00:00Z')
    await mark('read')
    expect((await reads(library)).toReversed()).toEqual([
      { status: 'finished', started_on: null, finished_on: '2024-05-05' },
      { status: 'finished', started_on: '2026-02-02', finished_on: '2026-02-09' },
    ])
  })

  it('twice the same is once', async () => {
    const { library, mark } = await setUp(() => new Date('2026-03-01T20:00:00Z'))
    await mark('read')
    await mark('read')
    expect(await reads(library)).toHaveLength(1)
  })

  it('unread takes the latest read back, into the trash', async () => {
    const { library, mark } = await setUp(() => new Date('2026-03-01T20:00:00Z'))
    await mark('read')
    await mark('unread')
    expect(await reads(library)).toEqual([])
    expect(await library.db.selectFrom('read').select('id').execute()).toHaveLength(1)
  })

  it('unread does not lose a rating', async () => {
    const { library, mark } = await setUp(() => new Date('2026-03-01T20:00:00Z'))
    const read = await mark('read')
    await library.change((change) => change.update('read', read!.id, { rating: 17 }))
    await expect(mark('unread')).rejects.toMatchObject({ code: 'has_reading_history' })
    expect(await reads(library)).toHaveLength(1)
  })
})
