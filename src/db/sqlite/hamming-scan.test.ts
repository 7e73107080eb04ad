import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BLOCK, hasSimd } from './hamming-kernel.ts'
import { CodeIndex, type CodeHit } from './hamming-scan.ts'

const codeOf = (...bits: number[]): Uint8Array => {
  const code = new Uint8Array(64)
  for (const bit of bits) code[bit >> 3]! |= 1 << (bit & 7)
  return code
}

/** Repeatable noise: xorshift32. */
function noise(bytes: number, seed: number): Uint8Array {
  const out = new Uint8Array(bytes)
  let state = seed
  for (let i = 0; i < bytes; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    out[i] = state
  }
  return out
}

function distanceOf(a: Uint8Array, b: Uint8Array): number {
  let distance = 0
  for (let i = 0; i < a.length; i++) {
    for (let bits = a[i]! ^ b[i]!; bits > 0; bits >>= 1) distance += bits & 1
  }
  return distance
}

const nearest = (
  codes: Map<number, Uint8Array>,
  query: Uint8Array,
  count: number,
  accept: (id: number) => boolean = () => true,
): CodeHit[] =>
  [...codes]
    .map(([id, code]) => ({ id, distance: distanceOf(code, query) }))
    .filter(({ id }) => accept(id))
    .toSorted((a, b) => a.distance - b.distance || a.id - b.id)
    .slice(0, count)

it('has the SIMD kernel on every machine that runs the tests', () => {
  expect(hasSimd()).toBe(true)
})

describe.each([
  ['WebAssembly', true],
  ['JavaScript', false],
])('CodeIndex in %s', (_, simd) => {
  it('finds the nearest codes, equal distances by id', () => {
    const index = new CodeIndex(16, { simd })
    index.add(9, codeOf(1, 2))
    index.add(7, codeOf(1, 3))
    index.add(2 ** 52 + 1, codeOf(1))
    index.add(3, codeOf(200, 300, 400, 511))
    expect(index.search(codeOf(1), 3)).toEqual([
      { id: 2 ** 52 + 1, distance: 0 },
      { id: 7, distance: 1 },
      { id: 9, distance: 1 },
    ])
    expect(index.search(codeOf(), 9).map(({ distance }) => distance)).toEqual([1, 2, 2, 4])
  })

  it('counts every bit of the longest distance', () => {
    const index = new CodeIndex(16, { simd })
    index.add(1, new Uint8Array(64).fill(255))
    expect(index.search(new Uint8Array(64), 1)).toEqual([{ id: 1, distance: 512 }])
    const long = new CodeIndex(256, { simd }) // 8192 bits: more than 8-bit sums hold
    long.add(1, new Uint8Array(1024).fill(255))
    expect(long.search(new Uint8Array(1024), 1)).toEqual([{ id: 1, distance: 8192 }])
  })

  it('replaces the code of a known id and forgets a removed one', () => {
    const index = new CodeIndex(16, { simd })
    index.add(1, codeOf(1))
    index.add(2, codeOf(2))
    index.add(1, codeOf(3))
    expect(index.size).toBe(2)
    expect(index.search(codeOf(3), 1)).toEqual([{ id: 1, distance: 0 }])
    expect(index.remove(1)).toBe(true)
    expect(index.remove(1)).toBe(false)
    expect([index.has(1), index.has(2), index.size]).toEqual([false, true, 1])
    expect(index.search(codeOf(3), 5)).toEqual([{ id: 2, distance: 2 }])
  })

  it('asks the filter in the order of the hits until there are enough', () => {
    const index = new CodeIndex(16, { simd })
    for (let id = 0; id < 100; id++) index.add(id, codeOf(...Array(id).keys()))
    const asked: number[] = []
    const odd = (id: number): boolean => {
      asked.push(id)
      return id % 2 === 1
    }
    expect(index.search(codeOf(), 2, odd).map(({ id }) => id)).toEqual([1, 3])
    expect(asked).toEqual([0, 1, 2, 3])
    expect(index.search(codeOf(), 5, () => false)).toEqual([])
  })

  it('agrees with comparing everything, over several blocks', () => {
    const index = new CodeIndex(16, { simd })
    const ids = Array.from({ length: 2 * BLOCK + 10 }, (_, i) => i * 3)
    const codes = noise(ids.length * 64, 7)
    index.addMany(ids.slice(0, 100), codes.subarray(0, 6400))
    index.addMany(ids.slice(100), codes.subarray(6400))
    const known = new Map(ids.map((id, i) => [id, codes.subarray(i * 64, (i + 1) * 64)]))
    for (const id of ids.filter((id) => id % 7 === 0)) {
      index.remove(id)
      known.delete(id)
    }
    for (const [seed, count] of [
      [1, 1],
      [2, 400],
      [3, ids.length],
    ] as const) {
      const query = noise(64, seed)
      expect(index.search(query, count)).toEqual(nearest(known, query, count))
    }
  })

  it('keeps to a plain map under any changes', () => {
    const words = 4
    const code = fc.uint8Array({ minLength: 16, maxLength: 16 })
    const id = fc.oneof(fc.nat(20), fc.constantFrom(2 ** 32, 2 ** 33 + 5, 2 ** 53 - 1))
    const change = fc.oneof(
      { arbitrary: fc.record({ id, code }), weight: 3 },
      { arbitrary: fc.record({ id }), weight: 2 },
    )
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), code, fc.nat(12), (changes, query, count) => {
        const index = new CodeIndex(words, { simd })
        const known = new Map<number, Uint8Array>()
        for (const change of changes) {
          if ('code' in change) {
            index.add(change.id, change.code)
            known.set(change.id, change.code)
          } else expect(index.remove(change.id)).toBe(known.delete(change.id))
        }
        expect(index.size).toBe(known.size)
        const third = (id: number): boolean => id % 3 !== 0
        expect(index.search(query, count)).toEqual(nearest(known, query, count))
        expect(index.search(query, count, third)).toEqual(nearest(known, query, count, third))
        const some = [...Array(21).keys()].filter(third)
        expect(index.searchAmong(query, some, count)).toEqual(
          nearest(known, query, count, (id) => some.includes(id)),
        )
      }),
    )
  })

  it('adds all or nothing', () => {
    const index = new CodeIndex(16, { simd })
    expect(() => index.addMany([1, 0.5], new Uint8Array(128))).toThrow(RangeError)
    expect(() => index.addMany([1, 2], new Uint8Array(100))).toThrow(RangeError)
    expect(() => index.search(new Uint8Array(32), 1)).toThrow(RangeError)
    expect(index.size).toBe(0)
    expect(index.search(codeOf(), 3)).toEqual([])
  })
})
