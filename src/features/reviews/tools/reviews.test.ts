import { describe, expect, it } from 'vitest'
import { call, failureOfCall } from '../../../../test/support/call.ts'
import { testLibrary } from '../../../../test/support/library.ts'
import { addTestSource } from '../../../../test/support/search.ts'
import type { Library } from '../../../core/library.ts'
import { deleteHighlight } from '../../highlights/tools/delete-highlight.ts'
import { mergeSource } from '../../sources/merge-source.ts'
import { findSource } from '../../sources/source-store.ts'
import { trashSource } from '../../sources/trash.ts'
import { getDailyReview } from './get-daily-review.ts'
import { reviewHighlight } from './review-highlight.ts'

/** A library whose clock the test sets, in a zone that is not that of UTC. */
async function clockedLibrary(start = '2026-03-02T09:00:00.000Z') {
  let now = new Date(start)
  const library = await testLibrary({ now: () => now })
  await library.change((change) => change.insert('setting', { key: 'timeZone', value: 'Europe/Berlin' }))
  return { library, setClock: (instant: string) => (now = new Date(instant)) }
}

const saved = '2026-01-01T00:00:00.000Z'

/** Sources with so many highlights each. */
async function addSources(library: Library, ...counts: number[]): Promise<number[]> {
  const ids: number[] = []
  for (const [at, count] of counts.entries()) {
    const highlights = Array.from({ length: count }, (_, i) => `thought ${i} of source ${at}`)
    ids.push(await addTestSource(library, { title: `Source ${at}`, highlights, saved }))
  }
  return ids
}

interface Shown {
  day: string
  highlights: {
    id: number
    content: string
    state: string
    reps: number
    due_at: string | null
    source: { id: number }
  }[]
  answered_today: number
  left_today: number
  total_due: number
}

const daily = async (library: Library, limit?: number): Promise<Shown> =>
  (await call(getDailyReview, library, limit === undefined ? {} : { limit })) as unknown as Shown

const idsOf = ({ highlights }: Shown) => highlights.map(({ id }) => id)

const answer = (library: Library, id: number, rating: string, more = {}) =>
  call(reviewHighlight, library, { id, rating, ...more })

describe('get_daily_review', () => {
  it('gives ten that were never gone over, from as many sources as can be', async () => {
    const { library } = await clockedLibrary()
    await addSources(library, 40, 1, 1, 1, 1)
    const shown = await daily(library)
    expect(shown).toMatchObject({ day: '2026-03-02', left_today: 10, answered_today: 0, total_due: 0 })
    expect(shown.highlights).toHaveLength(10)
    expect(new Set(shown.highlights.map(({ source }) => source.id)).size).toBe(5)
    expect(shown.highlights[0]).toMatchObject({ state: 'new', reps: 0, due_at: null })
  })

  it('gives the same ones all day without those that were answered, and others on another day', async () => {
    const { library, setClock } = await clockedLibrary()
    await addSources(library, 20, 20, 20)
    const morning = await daily(library)
    const [first, second] = idsOf(morning)
    await answer(library, second!, 'good')
    await answer(library, first!, 'again')
    setClock('2026-03-02T21:00:00.000Z')
    await addTestSource(library, { title: 'Of today', highlights: ['new today'] })
    const evening = await daily(library)
    expect(idsOf(evening)).toEqual(idsOf(morning).slice(2))
    expect(evening).toMatchObject({ left_today: 8, answered_today: 2 })
    setClock('2026-03-02T23:30:00.000Z')
    const night = await daily(library)
    expect(night.day).toBe('2026-03-03')
    expect(idsOf(night).slice(0, 1)).toEqual([first])
    expect(idsOf(night).slice(1)).not.toEqual(idsOf(morning).slice(1))
  })

  it('gives the longest overdue first, for how long it was to be remembered', async () => {
    const { library, setClock } = await clockedLibrary()
    await addSources(library, 1, 1, 1)
    const [easy, good, again] = idsOf(await daily(library))
    await answer(library, easy!, 'easy')
    await answer(library, good!, 'good')
    await answer(library, again!, 'again')
    setClock('2026-03-03T09:00:00.000Z')
    expect(await daily(library)).toMatchObject({ total_due: 1, highlights: [{ id: again, reps: 1 }] })
    setClock('2026-03-20T09:00:00.000Z')
    expect(idsOf(await daily(library))).toEqual([again, good, easy])
    expect(await daily(library, 2)).toMatchObject({ total_due: 3, left_today: 2 })
  })

  it('comes to the day on which it is due, at any hour', async () => {
    const { library, setClock } = await clockedLibrary('2026-03-02T20:00:00.000Z')
    await addSources(library, 1)
    const [id] = idsOf(await daily(library))
    expect(await answer(library, id!, 'good')).toMatchObject({
      due_at: '2026-03-05T20:00:00.000Z',
      due_day: '2026-03-05',
      interval_days: 3,
    })
    setClock('2026-03-04T22:59:00.000Z')
    expect((await daily(library)).left_today).toBe(0)
    setClock('2026-03-04T23:00:00.000Z')
    expect((await daily(library)).left_today).toBe(1)
  })

  it('knows the reader’s number and the hour at which the day ends', async () => {
    const { library, setClock } = await clockedLibrary('2026-03-03T00:30:00.000Z')
    await library.change((change) => change.insert('setting', { key: 'reviewsPerDay', value: '3' }))
    await library.change((change) => change.insert('setting', { key: 'dayEndHour', value: '4' }))
    await addSources(library, 10)
    const late = await daily(library)
    expect(late).toMatchObject({ day: '2026-03-02', left_today: 3 })
    setClock('2026-03-03T03:00:00.000Z')
    expect(await daily(library)).toMatchObject({ day: '2026-03-03', left_today: 3 })
  })

  it('gives nothing out of the trash', async () => {
    const { library, setClock } = await clockedLibrary()
    const [first, second] = await addSources(library, 2, 2)
    const shown = await daily(library)
    for (const id of idsOf(shown)) await answer(library, id, 'again')
    setClock('2026-03-10T09:00:00.000Z')
    await call(deleteHighlight, library, { id: idsOf(shown)[0] })
    const left = await daily(library)
    expect(left).toMatchObject({ total_due: 3, left_today: 3 })
    await library.change(async (change) => trashSource(change, (await findSource(change.db, second!))!))
    const sources = (await daily(library)).highlights.map(({ source }) => source.id)
    expect(new Set(sources)).toEqual(new Set([first]))
  })

  it('stays within 10,000 tokens with fifty long highlights, and says what is left', async () => {
    const { library } = await clockedLibrary()
    const highlights = Array.from({ length: 60 }, (_, i) => `${i} ${'長い言葉'.repeat(300)}`)
    await addTestSource(library, { title: 'Long', highlights, saved })
    const shown = await daily(library, 50)
    expect(shown.left_today).toBe(50)
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(32_000)
  })
})

describe('review_highlight', () => {
  it('lengthens what is known and shortens what was forgotten', async () => {
    const { library, setClock } = await clockedLibrary()
    await addSources(library, 1)
    const [id] = idsOf(await daily(library))
    const intervals: unknown[] = []
    for (const rating of ['good', 'good', 'again', 'good', 'hard', 'easy']) {
      const { due_at, interval_days } = await answer(library, id!, rating)
      intervals.push(interval_days)
      setClock(String(due_at))
    }
    expect(intervals).toEqual([3, 14, 2, 5, 10, 28])
  })

  it('counts once under one requestId', async () => {
    const { library } = await clockedLibrary()
    await addSources(library, 1)
    const [id] = idsOf(await daily(library))
    const once = await answer(library, id!, 'good', { requestId: 'one' })
    expect(await answer(library, id!, 'good', { requestId: 'one' })).toEqual(once)
    expect(await answer(library, id!, 'good', { requestId: 'two' })).toMatchObject({ reps: 2 })
  })

  it('takes the later of two answers of one instant, and one after the clock was set back', async () => {
    const { library, setClock } = await clockedLibrary()
    await addSources(library, 1)
    const [id] = idsOf(await daily(library))
    await answer(library, id!, 'easy')
    expect(await answer(library, id!, 'again')).toMatchObject({ reps: 2 })
    setClock('2026-02-01T09:00:00.000Z')
    const back = await answer(library, id!, 'good')
    expect(back).toMatchObject({ reps: 3 })
    expect(String(back['due_at']) < '2026-03-02').toBe(true)
    setClock('2026-03-02T09:00:00.000Z')
    expect(await answer(library, id!, 'good')).toMatchObject({ reps: 4 })
  })

  it.each(['trashed', 'of a trashed source', 'unknown'])('does not find one that is %s', async (kind) => {
    const { library } = await clockedLibrary()
    const [source] = await addSources(library, 1)
    const [id] = idsOf(await daily(library))
    if (kind === 'trashed') await call(deleteHighlight, library, { id })
    if (kind === 'of a trashed source')
      await library.change(async (change) => trashSource(change, (await findSource(change.db, source!))!))
    const given = kind === 'unknown' ? 4711 : id
    expect(await failureOfCall(reviewHighlight, library, { id: given, rating: 'good' })).toMatchObject({
      code: 'highlight-not-found',
    })
    expect(await library.db.selectFrom('review').selectAll().execute()).toEqual([])
  })

  it.each(['Good', 'manual', '', 3, null])('refuses %j as an answer', async (rating) => {
    const { library } = await clockedLibrary()
    await addSources(library, 1)
    const [id] = idsOf(await daily(library))
    expect(await failureOfCall(reviewHighlight, library, { id, rating })).toMatchObject({
      code: 'invalid-input',
    })
  })

  it('keeps what is known of highlights whose source is joined into another', async () => {
    const { library, setClock } = await clockedLibrary()
    const [from, into] = await addSources(library, 1, 1)
    for (const id of idsOf(await daily(library))) await answer(library, id, 'good')
    await library.change(async (change) => {
      await mergeSource(change, (await findSource(change.db, from!))!, (await findSource(change.db, into!))!)
    })
    setClock('2026-03-06T09:00:00.000Z')
    const shown = await daily(library)
    expect(shown.total_due).toBe(2)
    expect(shown.highlights.map(({ source }) => source.id)).toEqual([into, into])
  })

  it('goes by the newest answer where two devices gave one each, whichever came here first', async () => {
    const { library, setClock } = await clockedLibrary()
    await addSources(library, 1)
    const [id] = idsOf(await daily(library))
    await answer(library, id!, 'again')
    const [mine] = await library.db.selectFrom('review').selectAll().execute()
    const { id: _id, clock: _clock, clocks: _clocks, ...row } = mine!
    const earlier = { ...row, reviewed_at: '2026-03-02T08:00:00.000Z', due_at: '2026-09-01T00:00:00.000Z' }
    await library.change((change) => change.insert('review', { ...earlier, reps: 9 }))
    setClock('2026-03-04T09:00:00.000Z')
    expect(await daily(library)).toMatchObject({ total_due: 1, highlights: [{ id, reps: 1 }] })
    const later = { ...row, reviewed_at: '2026-03-02T10:00:00.000Z', due_at: '2026-09-01T00:00:00.000Z' }
    await library.change((change) => change.insert('review', { ...later, reps: 2 }))
    expect(await daily(library)).toMatchObject({ total_due: 0, left_today: 0 })
  })
})
