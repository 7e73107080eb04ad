import { describe, expect, test } from 'vitest'
import { csvRows, findCsvHeader } from './csv-table.ts'
import { ImportReport } from './import-report.ts'

function read(text: string) {
  const report = new ImportReport()
  const header = findCsvHeader(text)!
  const rows = [...csvRows(text, header, report)].map(({ row, line, get }) => [
    row,
    line,
    get('url'),
    get('title'),
  ])
  return { rows, outcomes: report.outcomes.map(({ row, line, reason }) => [row, line, reason]) }
}

describe('the header', () => {
  test.each([
    ['comma', 'URL,Time_Added\n', ',', ['url', 'time added']],
    ['semicolon, where the comma is the decimal point', 'URL;"Time, added"\n', ';', ['url', 'time, added']],
    ['tabs', 'URL\tTitle\tTags\n', '\t', ['url', 'title', 'tags']],
    ['Excel’s own line', 'sep=;\r\nURL;Title\r\n', ';', ['url', 'title']],
    ['quoted as a whole', '"URL,Title"\n', ',', ['url', 'title']],
  ])('%s', (_name, text, delimiter, columns) => {
    expect(findCsvHeader(text)).toMatchObject({ delimiter, columns })
  })

  test('one column is no table', () => {
    expect(findCsvHeader('Just a sentence.\nAnd another.\n')).toBeUndefined()
  })
})

describe('rows', () => {
  test('are numbered as a spreadsheet does, with the line at which they begin', () => {
    const { rows } = read('url,title\na,"two\nlines"\n\nb,B\n')
    expect(rows).toEqual([
      [2, 2, 'a', 'two\nlines'],
      [3, 5, 'b', 'B'],
    ])
  })

  test('short ones lack their last cells, long ones are refused unless nothing is in them', () => {
    const { rows, outcomes } = read('url,title\na\nb,B,,\nc,C,more\n')
    expect(rows).toEqual([
      [2, 2, 'a', ''],
      [3, 3, 'b', 'B'],
    ])
    expect(outcomes).toEqual([[4, 4, 'too_many_columns']])
  })

  test('that a spreadsheet has quoted as a whole are unwrapped', () => {
    const { rows } = read('url,title\n"a,""A, and more"""\nb,B\n')
    expect(rows).toEqual([
      [2, 2, 'a', 'A, and more'],
      [3, 3, 'b', 'B'],
    ])
  })

  test('after an open quotation mark are all there', () => {
    const { rows, outcomes } = read('url,title\na,"A\nb,B\nc,C\n')
    expect(rows).toEqual([
      [2, 2, 'a', 'A'],
      [3, 3, 'b', 'B'],
      [4, 4, 'c', 'C'],
    ])
    expect(outcomes).toEqual([[2, 2, 'stray_quote']])
  })

  test('of a megabyte behind an open quotation mark are refused, and the others read', () => {
    const { rows, outcomes } = read(`url,title\na,"${'A '.repeat(600_000)}\nb,B\n`)
    expect(rows).toEqual([[3, 3, 'b', 'B']])
    expect(outcomes).toEqual([[2, 2, 'open_quote']])
  })

  test('that an open quotation mark swallowed up to the next one are found again', () => {
    const { rows, outcomes } = read('url,title\na,"A\nb,B\nc,"C, too"\nd,D\n')
    expect(rows.map(([row, line, url]) => [row, line, url])).toEqual([
      [2, 2, 'a'],
      [3, 3, 'b'],
      [4, 4, 'c'],
      [5, 5, 'd'],
    ])
    expect(outcomes).toEqual([[2, 2, 'stray_quote']])
  })
})
