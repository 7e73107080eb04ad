import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dayOf } from '../../core/days.ts'
import { readTime } from './read-time.ts'
import { instantOf } from './written-time.ts'

describe('readTime', () => {
  test.each([
    ['2026-07-17 14:00:25+00:00', '2026-07-17T14:00:25.000Z'],
    ['2024-03-02T03:04:05.123Z', '2024-03-02T03:04:05.123Z'],
    ['2024-03-02T03:04:05+02:00', '2024-03-02T01:04:05.000Z'],
    ['2024-03-02 03:04:05', '2024-03-02T03:04:05'],
    ['2024-03-02 03:04', '2024-03-02T03:04:00'],
    ['2024/03/05', '2024-03-05'],
    ['2019-07', '2019-07'],
    ['1983', '1983'],
    [1_704_164_645, '2024-01-02T03:04:05.000Z'],
    ['1704164645', '2024-01-02T03:04:05.000Z'],
    ['1704164645000', '2024-01-02T03:04:05.000Z'],
    ['1704164645000000', '2024-01-02T03:04:05.000Z'],
    ['May 1, 2024', '2024-05-01'],
    ['Mon, 30 Dec 2024 14:46:33 +0200', '2024-12-30T12:46:33.000Z'],
    ['Mon, 30 Dec 2024 14:46:33 GMT', '2024-12-30T14:46:33.000Z'],
    ['2024. december 30., hétfő 14:46:33', '2024-12-30T14:46:33'],
    ['mandag den 30. december 2024 kl. 14.46.33', '2024-12-30T14:46:33'],
    ['lúc 14:46:33 Thứ Hai, 30 tháng 12, 2024', '2024-12-30T14:46:33'],
    ['Δευτέρα 30 Δεκεμβρίου 2024 στις 2:46:33 μ.μ.', '2024-12-30T14:46:33'],
    ['الاثنين، ٣٠ ديسمبر ٢٠٢٤ في ٢:٤٦:٣٣ م', '2024-12-30T14:46:33'],
    ['सोमवार, 30 दिसंबर 2024 को 2:46:33 pm बजे', '2024-12-30T14:46:33'],
    ['יום שני, 30 בדצמבר 2024 בשעה 14:46:33', '2024-12-30T14:46:33'],
    ['måndag 30 december 2024 kl. 14:46:33', '2024-12-30T14:46:33'],
    ['2020年1月1日星期三 上午12:05:00', '2020-01-01T00:05:00'],
    ['2020年1月1日星期三 下午12:05:00', '2020-01-01T12:05:00'],
    ['2020년 1월 1일 수요일 오후 3:05:00', '2020-01-01T15:05:00'],
    ['Sunday, January 1, 2023 12:00:01 AM', '2023-01-01T00:00:01'],
    // Days and months that can be told apart, or are the same either way.
    ['5/14/2024 9:12', '2024-05-14T09:12:00'],
    ['14/5/2024', '2024-05-14'],
    ['5/5/2024', '2024-05-05'],
    ['Monday 3/4/2019', '2019-03-04'],
    ['03.05.2024', '2024-05-03'],
    ['czwartek, 14 listopada 2024 10:00:00', '2024-11-14T10:00:00'],
    ['četvrtak, 10. listopada 2024. 10:00:00', '2024-10-10T10:00:00'],
  ])('%s', (stated, time) => {
    expect(readTime(stated)).toEqual({ time })
  })

  test.each([
    ['3/5/2024', 'unread'],
    ['14 listopada 2024', 'unread'],
    ['2027-02-29', 'unread'],
    ['31 de febrero de 2024', 'unread'],
    ['Tuesday, 3 December 12 19:51:33', 'unread'],
    ['3 December 12 19:51:33', 'unread'],
    ['some day', 'unread'],
    ['22 marzobre 2020', 'unread'],
    ['3 May 12 2024', 'unread'],
    ['1.6E+09', 'unread'],
    ['99999999999999999', 'unread'],
  ])('%s stays undated', (stated, doubt) => {
    expect(readTime(stated)).toEqual({ time: null, doubt })
  })

  test('an hour that could be two keeps its day alone', () => {
    expect(readTime('Monday, March 4, 2019 8:15:00 zm')).toEqual({ time: '2019-03-04', doubt: 'day' })
    expect(readTime('Monday, March 4, 2019 18:15:00 zm')).toEqual({ time: '2019-03-04T18:15:00' })
    expect(readTime('2024-01-01 25:00:00')).toEqual({ time: '2024-01-01', doubt: 'day' })
  })

  test('a plain date with the wrong day of the week is told', () => {
    expect(readTime('Friday, 30 December 2024 14:46:33')).toEqual({
      time: '2024-12-30T14:46:33',
      doubt: 'weekday',
    })
  })

  test('nothing is nothing', () => {
    for (const stated of ['', '  ', '0', 0, null, undefined, 'null', 'None'])
      expect(readTime(stated)).toEqual({ time: null })
  })

  test('what the runtime writes in a language comes back the same', () => {
    const languages = fc.constantFrom(
      ...'en de fr es it pt nl ru ja zh ko sv da nb fi pl cs tr uk hu ro sk bg el id ca et lt'.split(' '),
    )
    const minutes = fc.integer({ min: Date.UTC(1995, 0, 1) / 60_000, max: Date.UTC(2060, 0, 1) / 60_000 })
    fc.assert(
      fc.property(languages, minutes, (language, minute) => {
        const at = new Date(minute * 60_000)
        const written = new Intl.DateTimeFormat(`${language}-u-ca-gregory-nu-latn`, {
          dateStyle: 'full',
          timeStyle: 'medium',
          timeZone: 'UTC',
        }).format(at)
        expect([written, readTime(written)]).toEqual([written, { time: at.toISOString().slice(0, 19) }])
      }),
      { numRuns: 400 },
    )
  })

  test('anything at all is read as a time that there is, or not', () => {
    const piece = fc.constantFrom(
      '1',
      '12',
      '30',
      '2024',
      '99',
      'May',
      'mai',
      'lunes',
      ' ',
      ', ',
      ':',
      '/',
      '.',
      '年',
      '月',
      '日',
      'PM',
      '下午',
      '-',
      'T',
      'Z',
      '+02:00',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 14 }).map((parts) => parts.join('')),
        ),
        (stated) => {
          const { time } = readTime(stated)
          if (time === null) return
          expect(time).toMatch(/^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{3}Z)?)?)?)?$/)
          if (time.length >= 10) expect(Number.isNaN(Date.parse(time))).toBe(false)
        },
      ),
    )
  })
})

describe('instantOf', () => {
  const rules = { timeZone: 'America/Los_Angeles', dayEndHour: 3 }

  test('a clock without a zone is the reader’s', () => {
    expect(instantOf('2023-01-01T12:34:56', rules)).toBe('2023-01-01T20:34:56.000Z')
    expect(instantOf('2023-01-01T12:34:56.000Z', rules)).toBe('2023-01-01T12:34:56.000Z')
  })

  test('an hour that was skipped is the one after, and one that came twice the first', () => {
    expect(instantOf('2024-03-10T02:30:00', rules)).toBe('2024-03-10T10:30:00.000Z')
    expect(instantOf('2024-11-03T01:30:00', rules)).toBe('2024-11-03T08:30:00.000Z')
  })

  test('a month or a year has no instant', () => {
    expect(instantOf('2019-07', rules)).toBe(null)
    expect(instantOf('2019', rules)).toBe(null)
  })

  test('a day stays that day, wherever the reader is and whenever their day ends', () => {
    const zones = fc.constantFrom(
      'America/Los_Angeles',
      'Pacific/Kiritimati',
      'Pacific/Pago_Pago',
      'Europe/Berlin',
      'UTC',
      'Asia/Kathmandu',
    )
    fc.assert(
      fc.property(
        zones,
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 20_000 }),
        (timeZone, dayEndHour, day) => {
          const date = new Date(day * 86_400_000).toISOString().slice(0, 10)
          const at = instantOf(date, { timeZone, dayEndHour })!
          // Samoa left out the day of 30 December 2011, Kiribati the last of 1994.
          if (['2011-12-30', '1994-12-31'].includes(date)) return
          expect(dayOf(new Date(at), { timeZone, dayEndHour })).toBe(date)
        },
      ),
    )
  })
})
