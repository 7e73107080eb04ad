import { describe, expect, it } from 'vitest'
import { foldStored } from './folded-cache.ts'

describe('foldStored', () => {
  it('folds a text once', () => {
    expect(foldStored({ id: 1, plain: 'ONE' })).toBe(foldStored({ id: 1, plain: 'ONE' }))
  })

  it('is not fooled by another library that uses the same id', () => {
    foldStored({ id: 2, plain: 'ONE' })
    expect(foldStored({ id: 2, plain: 'TWO' }).text).toBe('two')
  })

  it('lets go of what was used least lately', () => {
    const long = 'x'.repeat(700_000)
    const first = foldStored({ id: 10, plain: `${long}0` })
    for (const id of [11, 12]) foldStored({ id, plain: `${long}${id}` })
    expect(foldStored({ id: 10, plain: `${long}0` }) === first).toBe(false)
    const kept = foldStored({ id: 12, plain: `${long}12` })
    expect(foldStored({ id: 12, plain: `${long}12` }) === kept).toBe(true)
  })
})
