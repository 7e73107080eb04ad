import { describe, expect, it } from 'vitest'
import { readCivilDate } from './metadata-date.ts'

describe('readCivilDate', () => {
  it.each([
    ['2019-11-18T23:30:00-05:00', '2019-11-18'],
    ['2019-11-18T23:30:00Z', '2019-11-18'],
    ['2019-11-18 10:00', '2019-11-18'],
    ['2019/1/8', '2019-01-08'],
    ['20191118', '2019-11-18'],
    ['2019-11', '2019-11'],
    ['1983', '1983'],
    ['1574035200', '2019-11-18'],
    ['1574035200000', '2019-11-18'],
    ['Mon, 18 Nov 2019 10:00:00 GMT', '2019-11-18'],
    ['Monday, November 18th, 2019 at 11:08 a.m.', '2019-11-18'],
    ['Nov. 18, 2019', '2019-11-18'],
    ['November 2019', '2019-11'],
    ['18. März 2020', '2020-03-18'],
    ['1er août 2020', '2020-08-01'],
    ['22 de outubro de 2010', '2010-10-22'],
    ['22 de marzo de 2020', '2020-03-22'],
    ['5 мая 2021 г.', '2021-05-05'],
    ['2016年12月1日', '2016-12-01'],
    ['2024년 3월 5일', '2024-03-05'],
    ['18.11.2019', '2019-11-18'],
    ['11/18/2019', '2019-11-18'],
    ['29 February 2028', '2028-02-29'],
  ])('reads %s as %s', (written, date) => {
    expect(readCivilDate(written)).toBe(date)
  })

  it('keeps only the year of a date that could be two', () => {
    expect(readCivilDate('03/04/2020')).toBe('2020')
    expect(readCivilDate('04/04/2020')).toBe('2020-04-04')
  })

  it.each([
    '',
    'yesterday',
    '2019-13-01',
    '2027-02-29',
    '31 April 2020',
    '0000-00-00',
    '99999',
    'May the 4th',
  ])('finds none in "%s"', (written) => {
    expect(readCivilDate(written)).toBeNull()
  })
})
