import { describe, expect, it } from 'vitest'
import { placeInSource } from './place-in-source.ts'
import { changedPlace, writtenPlace } from './written-place.ts'

describe('a place as it is written', () => {
  it.each([
    ['page 12', { page: '12' }, 'page 12'],
    ['P. xii', { page: 'xii' }, 'page xii'],
    ['pp. 12 – 13', { page: '12-13' }, 'page 12-13'],
    ['Location 145-146', { location: '145-146' }, 'location 145-146'],
    ['loc. 7', { location: '7' }, 'location 7'],
    ['45 %', { percent: 45 }, '45 %'],
    ['450 %', { label: '450 %' }, '450 %'],
    ['epubcfi(/6/4!/2)', { cfi: 'epubcfi(/6/4!/2)' }, 'epubcfi(/6/4!/2)'],
    ['Chapter 3', { label: 'Chapter 3' }, 'Chapter 3'],
  ])('%s', (written, locator, shown) => {
    const kept = writtenPlace(written, undefined)
    expect(JSON.parse(kept!)).toEqual(locator)
    expect(placeInSource(kept)).toEqual({ location: shown, seconds: null })
    // What is shown can be given again.
    expect(writtenPlace(shown, undefined)).toBe(kept)
  })

  it('is none where nothing is said', () => {
    expect(writtenPlace(undefined, undefined)).toBeNull()
    expect(writtenPlace('  ', undefined)).toBeNull()
    expect(writtenPlace(undefined, 0)).toBe('{"seconds":0}')
  })

  it('changes by its parts', () => {
    const kept = writtenPlace('page 3', 10)
    expect(placeInSource(changedPlace(kept, { location: 'page 4' }))).toEqual({
      location: 'page 4',
      seconds: 10,
    })
    expect(placeInSource(changedPlace(kept, { seconds: null }))).toEqual({
      location: 'page 3',
      seconds: null,
    })
    expect(changedPlace(kept, { location: null, seconds: null })).toBeNull()
    expect(changedPlace(kept, {})).toBe(kept)
    expect(changedPlace('{"chapter":"x","page":"3"}', { seconds: 5 })).toBe(
      '{"chapter":"x","page":"3","seconds":5}',
    )
  })
})
