import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSamePlace, type MarkPlace } from './mark-place.ts'
import { PlaceIndex } from './place-index.ts'

const number = fc.integer({ min: 0, max: 700 })
const range = fc
  .tuple(number, fc.oneof(fc.nat(8), fc.nat(2_000)))
  .map(([from, more]) => `${from}-${from + more}`)
const told = fc.oneof(number.map(String), range, fc.constantFrom('xii', 'XII ', 'iv'))
const place: fc.Arbitrary<MarkPlace> = fc.oneof(
  fc.record({ location: told }),
  fc.record({ page: told }),
  fc.record({ page: told, location: told }),
)

describe('places that touch', () => {
  it('are all found, however narrow or wide they are', () => {
    fc.assert(
      fc.property(fc.array(place, { maxLength: 30 }), place, (places, asked) => {
        const index = new PlaceIndex<number>()
        places.forEach((each, row) => index.add(row, each))
        const found = index.near(asked)
        places.forEach((each, row) => {
          if (isSamePlace(each, asked)) expect(found?.has(row) ?? true).toBe(true)
        })
      }),
      { numRuns: 500 },
    )
  })

  it('are found without looking at all others', () => {
    const index = new PlaceIndex<number>()
    for (let row = 0; row < 10_000; row++) index.add(row, { location: `${row * 10}-${row * 10 + 4}` })
    expect(index.near({ location: '5000-5004' })?.size).toBeLessThan(20)
  })
})
