import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuseRanks, type RankedWords } from './fuse.ts'

const keys = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 30 })
const words = fc
  .array(fc.record({ coverage: fc.double({ min: 0, max: 1, noNaN: true }), leads: fc.boolean() }), {
    maxLength: 30,
  })
  .chain((hits) =>
    fc
      .uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: hits.length, maxLength: hits.length })
      .map((ids) => ids.map((key, i): RankedWords => ({ key, ...hits[i]! }))),
  )
const order = (hits: readonly RankedWords[], meaning: readonly number[]) =>
  fuseRanks(hits, meaning).map(({ key }) => key)

describe('fuseRanks', () => {
  it('gives every key of both lists once, best first', () => {
    fc.assert(
      fc.property(words, keys, (hits, meaning) => {
        const fused = fuseRanks(hits, meaning)
        const all = new Set([...hits.map(({ key }) => key), ...meaning])
        expect(new Set(fused.map(({ key }) => key))).toEqual(all)
        expect(fused).toHaveLength(all.size)
        for (let i = 1; i < fused.length; i++)
          expect(fused[i]!.score).toBeLessThanOrEqual(fused[i - 1]!.score)
      }),
    )
  })

  it('keeps the order by meaning where words were only met by chance, and puts those after', () => {
    fc.assert(
      fc.property(words, keys, (hits, meaning) => {
        const chance = hits.map((hit) => ({ ...hit, coverage: hit.coverage * 0.6 - 1e-9, leads: false }))
        const extra = chance.map(({ key }) => key).filter((key) => !meaning.includes(key))
        expect(order(chance, meaning)).toEqual([...meaning, ...extra])
      }),
    )
  })

  it('keeps the order by words where there is nothing by meaning', () => {
    fc.assert(
      fc.property(keys, (ids) => {
        const hits = ids.map((key) => ({ key, coverage: 1, leads: false }))
        expect(order(hits, [])).toEqual(ids)
      }),
    )
  })

  it('puts what leads first', () => {
    fc.assert(
      fc.property(words, keys, (hits, meaning) => {
        const leading = new Set(hits.filter(({ leads }) => leads).map(({ key }) => key))
        expect(new Set(order(hits, meaning).slice(0, leading.size))).toEqual(leading)
      }),
    )
  })

  it('never places a key lower for being found in earnest by words as well', () => {
    fc.assert(
      fc.property(keys, fc.nat(), (meaning, pick) => {
        if (meaning.length === 0) return
        const key = meaning[pick % meaning.length]!
        const fused = order([{ key, coverage: 1, leads: false }], meaning)
        expect(fused.indexOf(key)).toBeLessThanOrEqual(meaning.indexOf(key))
      }),
    )
  })

  it('puts the one passage with all the words before the nearest in meaning', () => {
    expect(order([{ key: 9, coverage: 1, leads: false }], [1, 2, 3])[0]).toBe(9)
  })

  it('says how each was found', () => {
    const fused = fuseRanks(
      [
        { key: 1, coverage: 1, leads: false },
        { key: 2, coverage: 1, leads: false },
      ],
      [2, 3],
    )
    expect(Object.fromEntries(fused.map(({ key, matched }) => [key, matched]))).toEqual({
      1: 'words',
      2: 'both',
      3: 'meaning',
    })
  })
})
