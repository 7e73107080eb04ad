import { expect, it } from 'vitest'
import { testLibrary } from '../../test/support/library.ts'
import { keepSchedule } from './schedule.ts'

const PATIENT = { timeout: 20_000 }

it('empties the trash once a day, in a process that lives for weeks as well', async () => {
  let now = new Date('2026-03-01T12:00:00Z')
  const library = await testLibrary({ now: () => now })
  const days = async () =>
    (await library.db.selectFrom('job').select('created_at').orderBy('created_at').execute()).map(
      ({ created_at }) => created_at.slice(0, 10),
    )
  const done = () => library.db.updateTable('job').set({ state: 'completed' }).execute()
  const errors: unknown[] = []
  const first = keepSchedule(library, { lookMs: 20, onError: (error) => void errors.push(error) })
  // Another process on the same library adds nothing.
  const second = keepSchedule(library, { lookMs: 20, onError: (error) => void errors.push(error) })
  await expect.poll(days, PATIENT).toEqual(['2026-03-01'])
  await done()
  now = new Date('2026-03-02T13:00:00Z')
  await expect.poll(days, PATIENT).toEqual(['2026-03-01', '2026-03-02'])
  first()
  second()
  expect(errors).toEqual([])
})
