import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isbn13Of } from './isbn.ts'

describe('an ISBN', () => {
  it.each([
    ['0-9999-9901-x', '9780999999011'],
    ['099999901X ', '9780999999011'],
    ['9780999999011', '9780999999011'],
    ['="099999901X"', '9780999999011'],
    ['ISBN-13: 978-0-9999-9902-8', '9780999999028'],
    ['0999999028', '9780999999028'],
    ['9798500000002', '9798500000002'],
  ])('%j is %s', (given, isbn) => expect(isbn13Of(given)).toBe(isbn))

  it.each(['09999X9901', '099999901', '0999999010', '9780999999012', '9770999999014', '=""', '', 'X'])(
    '%j is none',
    (given) => expect(isbn13Of(given)).toBeUndefined(),
  )

  it('is refused when any one digit is wrong', () => {
    fc.assert(
      fc.property(fc.nat(12), fc.integer({ min: 1, max: 9 }), (at, by) => {
        const right = '9780999999011'
        const wrong = right.slice(0, at) + ((Number(right[at]) + by) % 10) + right.slice(at + 1)
        expect(isbn13Of(wrong)).toBeUndefined()
      }),
    )
  })
})
