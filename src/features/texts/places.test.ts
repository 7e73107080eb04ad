import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { placeAt, readPlaces, secondsOf, type Place } from './places.ts'

const BOOK = readPlaces('[{"title":"One","start":0},{"title":"Two","start":900}]')
const PAPER = readPlaces('[{"page":1,"label":"xii","start":10},{"page":2,"label":null,"start":50}]')
const TALK = readPlaces(
  '[{"seconds":0,"start":0,"title":"Opening"},{"seconds":12,"start":40},{"seconds":60,"start":90,"title":"Rest"},{"seconds":75,"start":200}]',
)

describe('placeAt', () => {
  it.each([
    ['a chapter', BOOK, 899, { label: 'One' }],
    ['the next', BOOK, 900, { label: 'Two' }],
    ['a page by its printed number', PAPER, 49, { page: 'xii' }],
    ['a page without one', PAPER, 1e9, { page: 2 }],
    ['a moment and its chapter', TALK, 45, { seconds: 12, label: 'Opening' }],
    ['a moment of the next chapter', TALK, 199, { seconds: 60, label: 'Rest' }],
  ])('names %s', (_what, places, offset, locator) => {
    expect(JSON.parse(placeAt(places, offset) ?? 'null')).toEqual(locator)
  })

  it('names nothing before the first place nor in a text without places', () => {
    expect(placeAt(PAPER, 9)).toBeNull()
    expect(placeAt([], 0)).toBeNull()
  })

  it('is the last place that begins before', () => {
    const starts = fc.uniqueArray(fc.nat(500), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(starts, fc.nat(600), (list, offset) => {
        const places: Place[] = list.toSorted((a, b) => a - b).map((start) => ({ start, seconds: start }))
        const before = places.filter(({ start }) => start <= offset).at(-1)
        expect(placeAt(places, offset)).toBe(before ? JSON.stringify({ seconds: before.start }) : null)
      }),
    )
  })
})

describe('readPlaces', () => {
  it('leaves out what is no place, and puts the rest in order', () => {
    expect(readPlaces('[{"start":9,"page":2},{"start":3,"page":1},{"page":7},null,4,{"start":-1}]')).toEqual([
      { start: 3, page: 1 },
      { start: 9, page: 2 },
    ])
    for (const wrong of [null, '', '{', '{}', '"x"', 'null']) expect(readPlaces(wrong)).toEqual([])
  })
})

describe('secondsOf', () => {
  it('is the length of a recording, or of what was said up to a place', () => {
    expect(secondsOf(TALK)).toBe(75)
    expect(secondsOf(TALK, 100)).toBe(60)
    expect(secondsOf(BOOK)).toBe(0)
  })
})
