import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { civilDate } from './civil-date.ts'

describe('civilDate', () => {
  it.each([
    ['D:2019', '2019'],
    ['D:201903', '2019-03'],
    ['D:20190304', '2019-03-04'],
    ["D:20190304233000-08'00'", '2019-03-04'],
    ['20190304', '2019-03-04'],
    ['2019-03-04T10:00:00Z', '2019-03-04'],
    ['2019-03', '2019-03'],
    ['2019', '2019'],
    ['D:20190230', '2019-02'],
    ['D:20191300', '2019'],
    ['March', null],
    ['D:00000000', null],
    ['', null],
  ])('%j is %j', (stated, date) => {
    expect(civilDate(stated)).toBe(date)
  })

  it('invents no precision', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1500-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        (date) => {
          const iso = date.toISOString().slice(0, 10)
          expect(civilDate(iso)).toBe(iso)
          expect(civilDate(iso.slice(0, 7))).toBe(iso.slice(0, 7))
          expect(civilDate(`D:${iso.replaceAll('-', '')}`)).toBe(iso)
        },
      ),
    )
  })
})
