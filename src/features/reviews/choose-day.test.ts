import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byUrgency, dealOut, mixSources, takeSpread, type Candidate } from './choose-day.ts'

/** Highlights of a few sources, ids all different. */
const candidates = fc
  .uniqueArray(fc.record({ id: fc.nat(1_000), sourceId: fc.integer({ min: 1, max: 6 }) }), {
    selector: ({ id }) => id,
    maxLength: 60,
  })
  .map((given): Candidate[] => given)

const countsOf = (some: readonly Candidate[]): number[] => {
  const counts = new Map<number, number>()
  for (const { sourceId } of some) counts.set(sourceId, (counts.get(sourceId) ?? 0) + 1)
  return [...counts.values()]
}

const inRow = (some: readonly Candidate[]): number =>
  some.filter(({ sourceId }, at) => at > 0 && some[at - 1]!.sourceId === sourceId).length

describe('the highlights of a day', () => {
  it('are never of one source in a row where that can be', () => {
    fc.assert(
      fc.property(candidates, (given) => {
        const mixed = mixSources(given)
        expect(mixed.toSorted((a, b) => a.id - b.id)).toEqual(given.toSorted((a, b) => a.id - b.id))
        const most = Math.max(0, ...countsOf(given))
        expect(inRow(mixed)).toBe(Math.max(0, most - (given.length - most) - 1))
      }),
    )
  })

  it('are dealt one of each source before a second of any', () => {
    fc.assert(
      fc.property(candidates, fc.integer({ min: 0, max: 60 }), (given, most) => {
        const dealt = dealOut(given, '2026-03-02', most)
        expect(dealt).toHaveLength(Math.min(most, given.length))
        const left = new Set(given.filter((one) => !dealt.includes(one)).map(({ sourceId }) => sourceId))
        const counts = new Map<number, number>()
        for (const { sourceId } of dealt) counts.set(sourceId, (counts.get(sourceId) ?? 0) + 1)
        const highest = Math.max(0, ...counts.values())
        for (const sourceId of left) expect(counts.get(sourceId) ?? 0).toBeGreaterThanOrEqual(highest - 1)
      }),
    )
  })

  it('are the same in whatever order they were found, and others on another day', () => {
    fc.assert(
      fc.property(
        candidates.chain((given) =>
          fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
        ),
        ([given, shuffled]) => {
          expect(dealOut(shuffled, '2026-03-02', 10)).toEqual(dealOut(given, '2026-03-02', 10))
        },
      ),
    )
    const many = Array.from({ length: 50 }, (_, id) => ({ id, sourceId: id }))
    expect(dealOut(many, '2026-03-02', 10)).not.toEqual(dealOut(many, '2026-03-03', 10))
  })

  it('that are due come in the order of how long overdue they are for their span', () => {
    const at = (day: number) => new Date(Date.UTC(2026, 2, day)).toISOString()
    const due = fc.uniqueArray(
      fc.record({
        id: fc.nat(1_000),
        sourceId: fc.integer({ min: 1, max: 6 }),
        asked: fc.integer({ min: -300, max: 0 }),
        span: fc.integer({ min: 1, max: 300 }),
      }),
      { selector: ({ id }) => id, maxLength: 40 },
    )
    fc.assert(
      fc.property(due, (given) => {
        const rows = given.map((one) => ({
          ...one,
          reviewedAt: at(one.asked),
          dueAt: at(one.asked + one.span),
        }))
        const order = byUrgency(rows, at(1))
        for (const [i, one] of order.slice(1).entries()) {
          const before = order[i]!
          // Of two fractions the greater, without dividing.
          expect((1 - before.asked) * one.span).toBeGreaterThanOrEqual((1 - one.asked) * before.span)
        }
        expect(byUrgency(rows.toReversed(), at(1))).toEqual(order)
      }),
    )
  })

  it('that are due are at most a third of one source, unless there are no others', () => {
    fc.assert(
      fc.property(candidates, fc.integer({ min: 1, max: 20 }), (given, most) => {
        const taken = takeSpread(given, most)
        expect(taken).toHaveLength(Math.min(most, given.length))
        const share = Math.ceil(most / 3)
        const reachable = countsOf(given).reduce((sum, count) => sum + Math.min(count, share), 0)
        if (reachable >= most) for (const count of countsOf(taken)) expect(count).toBeLessThanOrEqual(share)
      }),
    )
  })
})
