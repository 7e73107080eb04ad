import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { planBatches } from './batches.ts'

it('puts texts of like length together', () => {
  expect(planBatches([100, 3, 128, 2, 129, 121])).toEqual([
    [3, 1, 0, 5],
    [2, 4],
  ])
  expect(planBatches([])).toEqual([])
})

it('bounds every batch and leaves nothing out', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(128), { maxLength: 400 }), (lengths) => {
      const batches = planBatches(lengths)
      for (const batch of batches) {
        const width = Math.max(1, ...batch.map((i) => lengths[i]!))
        expect(width * batch.length).toBeLessThanOrEqual(512)
        expect(batch.length).toBeLessThanOrEqual(64)
      }
      expect(batches.flat().toSorted((a, b) => a - b)).toEqual(lengths.map((_, i) => i))
    }),
  )
})
